'use client';
import {
  type ConnectionWithSecret,
  type IntegrationProvider,
  RotateWebhookSecret,
} from '@slipway/contracts/integrations';
import { Button, Field, Input, Notice } from '@slipway/ui';
import Link from 'next/link';
import { useTranslations } from 'next-intl';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { FormFailure } from '../form/form-failure.tsx';
import { CopyLine, SecretBox } from '../form/secret-box.tsx';
import { useForm } from '../form/use-form.ts';
import { useSession } from '../session/me.ts';
import { guideOf, setupOf } from './setup-steps.ts';
import { Steps } from './steps.tsx';

/** A connection that was just made: what to enter at the provider. The only place where a made secret ever is. */
export function MadeConnection({
  provider,
  made,
  onClose,
}: {
  provider: IntegrationProvider;
  made: ConnectionWithSecret;
  onClose: () => void;
}) {
  const t = useTranslations();
  const { org } = useSession();
  const { connection, webhookSecret } = made;
  const guide = guideOf(t, provider);
  const setup = setupOf(guide, connection.kind);
  const [entered, setEntered] = useState(false);
  return (
    <div className="flex flex-col gap-4 p-4">
      {connection.address === null ? null : <CopyLine label={t('common.address')} text={connection.address} />}
      {guide.secret === 'ours' && webhookSecret !== null ? (
        <SecretBox label={guide.secretName} secret={webhookSecret} />
      ) : null}
      {setup === undefined ? null : (
        <div className="flex flex-col gap-1">
          <h3 className="text-sm font-semibold">{t('adminIntegrations.at4', { name: provider.name })}</h3>
          <Steps label={t('adminIntegrations.stepsAt', { name: provider.name })} setup={setup} />
        </div>
      )}
      {guide.secret !== 'theirs-after' ? null : entered ? (
        <Notice tone="ok" title={t('adminIntegrations.secretOfSet', { name: provider.name })} />
      ) : (
        <EnterSecret
          connectionId={connection.id}
          label={guide.secretName}
          hint={guide.secretHint}
          onDone={() => setEntered(true)}
        />
      )}
      <div className="flex flex-wrap justify-end gap-2">
        <Button asChild>
          <Link href={`/${org.slug}/admin/integrations/${connection.id}`}>{t('adminIntegrations.openConnection')}</Link>
        </Button>
        <Button tone="primary" onClick={onClose}>
          {t('common.done')}
        </Button>
      </div>
    </div>
  );
}

/** Takes the secret that the provider made. */
export function EnterSecret({
  connectionId,
  label,
  hint,
  onDone,
}: {
  connectionId: string;
  label: string;
  hint: string | undefined;
  onDone: () => void;
}) {
  const t = useTranslations();
  const { org } = useSession();
  const form = useForm({
    initial: { webhookSecret: '' },
    schema: RotateWebhookSecret,
    requestOf: ({ webhookSecret }) => ({ webhookSecret: webhookSecret.trim() }),
    send: (body) => api.rotateWebhookSecret({ org: org.id, connection: connectionId, body }),
    onDone,
  });
  return (
    <form {...form.props} className="flex flex-col gap-3">
      <div className="flex items-start gap-2">
        <Field label={label} hint={hint} error={form.error('webhookSecret')} className="flex-1">
          {(control) => (
            <Input
              {...control}
              type="password"
              autoComplete="off"
              spellCheck={false}
              value={form.values.webhookSecret}
              onChange={(event) => form.set('webhookSecret', event.target.value)}
            />
          )}
        </Field>
        <Button type="submit" busy={form.busy} className="mt-[22px]">
          {t('adminIntegrations.setSecret')}
        </Button>
      </div>
      <FormFailure failure={form.failure} />
    </form>
  );
}
