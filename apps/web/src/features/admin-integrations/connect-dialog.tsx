'use client';
import {
  type ConnectionWithSecret,
  CreateIntegrationConnection,
  type IntegrationProvider,
  type IntegrationProviderList,
} from '@slipway/contracts/integrations';
import { Button, Dialog, Field, Input, Select } from '@slipway/ui';
import type { UseQueryResult } from '@tanstack/react-query';
import { useTranslations } from 'next-intl';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import type { Translate } from '../../messages/translate.ts';
import { FormFailure } from '../form/form-failure.tsx';
import { useForm } from '../form/use-form.ts';
import { QueryPanel } from '../list/query-panel.tsx';
import { useSession } from '../session/me.ts';
import { ConnectionFields } from './connection-fields.tsx';
import { creationOf, type NewConnectionValues, valuesOf } from './connection-values.ts';
import { LimitsNotice } from './limits-notice.tsx';
import { MadeConnection } from './made-connection.tsx';
import { PlatformAppForm } from './platform-app-form.tsx';
import { RegisterAppForm } from './register-app-form.tsx';
import { guideOf, secretOf } from './setup-steps.ts';

/** Connects a provider; then the same dialog shows the address and, once, the secret, with what to do with them. */
export function ConnectDialog({
  providers,
  onClose,
  onMade,
}: {
  providers: UseQueryResult<IntegrationProviderList>;
  onClose: () => void;
  onMade: () => void;
}) {
  const t = useTranslations();
  const [chosen, setChosen] = useState<string | null>(null);
  const [made, setMade] = useState<{
    readonly provider: IntegrationProvider;
    readonly result: ConnectionWithSecret;
  } | null>(null);
  return (
    <Dialog
      open
      onOpenChange={(open) => open || onClose()}
      title={
        made === null
          ? t('adminIntegrations.connectAProvider')
          : t('adminIntegrations.setUp', { name: made.result.connection.name })
      }
      className="w-[min(640px,calc(100vw-32px))]"
    >
      {made !== null ? (
        <MadeConnection provider={made.provider} made={made.result} onClose={onClose} />
      ) : (
        <div className="p-4">
          <QueryPanel query={providers} label={t('adminIntegrations.theProviders')}>
            {({ data }) => {
              const provider = data.find(({ id }) => id === chosen) ?? data[0];
              if (provider === undefined)
                return <p className="text-sm">{t('adminIntegrations.thisInstallationSupportsNoProviders')}</p>;
              return (
                <div className="flex flex-col gap-4">
                  <Field label={t('adminIntegrations.provider')}>
                    {(control) => (
                      <Select
                        {...control}
                        data-autofocus
                        value={provider.id}
                        options={data.map(({ id, name }) => ({ value: id, label: name }))}
                        onChange={setChosen}
                      />
                    )}
                  </Field>
                  <LimitsNotice provider={provider} />
                  <Ways
                    key={provider.id}
                    provider={provider}
                    onClose={onClose}
                    onMade={(result) => {
                      setMade({ provider, result });
                      onMade();
                    }}
                  />
                </div>
              );
            }}
          </QueryPanel>
        </div>
      )}
    </Dialog>
  );
}

interface FormProps {
  provider: IntegrationProvider;
  onClose: () => void;
  onMade: (made: ConnectionWithSecret) => void;
}

/** By an app, where there is one: it needs no token and no webhook of an admin's. */
function Ways({ provider, onClose, onMade }: FormProps) {
  const t = useTranslations();
  const ways = waysOf(t, provider);
  const [chosen, setChosen] = useState(ways[0]?.value ?? 'manual');
  return (
    <>
      {ways.length > 1 ? (
        <Field label={t('adminIntegrations.connectWith')}>
          {(control) => <Select {...control} value={chosen} options={ways} onChange={(value) => setChosen(value)} />}
        </Field>
      ) : null}
      {chosen === 'own' ? (
        <RegisterAppForm provider={provider} onClose={onClose} />
      ) : chosen === 'platform' ? (
        <PlatformAppForm provider={provider} onClose={onClose} />
      ) : (
        <ConnectForm provider={provider} onClose={onClose} onMade={onMade} />
      )}
    </>
  );
}

function waysOf(t: Translate, { name, apps }: IntegrationProvider): { value: string; label: string }[] {
  return [
    ...(apps.includes('platform')
      ? [{ value: 'platform', label: t('adminIntegrations.appOfThisInstallation', { name }) }]
      : []),
    ...(apps.includes('own') ? [{ value: 'own', label: t('adminIntegrations.yourOwnApp', { name }) }] : []),
    { value: 'manual', label: t('adminIntegrations.webhookAndAccessToken') },
  ];
}

function ConnectForm({ provider, onClose, onMade }: FormProps) {
  const t = useTranslations();
  const { org } = useSession();
  const guide = guideOf(t, provider);
  const form = useForm({
    initial: {
      ...valuesOf(null),
      name: provider.name,
      kind: guide.kinds[0]?.kind ?? '',
      host: '',
      webhookSecret: '',
    } as NewConnectionValues,
    schema: CreateIntegrationConnection,
    requestOf: (values) => ({
      ...creationOf(provider.id, values),
      // Empty where one is needed: the schema says so beside the field.
      ...(provider.host === null && values.host.trim() === '' ? { host: '' } : {}),
      ...(guide.secret === 'theirs-first' ? { webhookSecret: values.webhookSecret.trim() } : {}),
    }),
    send: (body) => api.createIntegrationConnection({ org: org.id, body }),
    onDone: onMade,
  });
  const { values } = form;
  const secret = secretOf(guide, values.kind);
  return (
    <form {...form.props} className="flex flex-col gap-4">
      {guide.kinds.length > 1 ? (
        <Field label={t('common.kind')} error={form.error('kind')}>
          {(control) => (
            <Select
              {...control}
              value={values.kind}
              options={guide.kinds.map(({ kind, label }) => ({ value: kind, label }))}
              onChange={(kind) => form.set('kind', kind)}
            />
          )}
        </Field>
      ) : null}
      {provider.host === null || provider.does.includes('code') ? (
        <Field
          label={t('adminIntegrations.host')}
          hint={
            provider.host === null
              ? t('adminIntegrations.theHostOfYour', { name: provider.name })
              : t('adminIntegrations.leaveEmptyForForA', { host: provider.host })
          }
          error={form.error('host')}
        >
          {(control) => (
            <Input
              {...control}
              value={values.host}
              placeholder={provider.host ?? `${provider.id}.example.com`}
              autoComplete="off"
              autoCapitalize="none"
              spellCheck={false}
              onChange={(event) => form.set('host', event.target.value)}
            />
          )}
        </Field>
      ) : null}
      {guide.app === undefined ? null : (
        <p className="text-sm">
          <a className="text-accent underline" href={guide.app.href} target="_blank" rel="noreferrer">
            {guide.app.label}
          </a>{' '}
          <span className="text-muted">{guide.app.hint}</span>
        </p>
      )}
      {guide.secret === 'theirs-first' ? (
        <Field label={secret.name} hint={secret.hint} error={form.error('webhookSecret')}>
          {(control) => (
            <Input
              {...control}
              type="password"
              value={values.webhookSecret}
              autoComplete="off"
              spellCheck={false}
              onChange={(event) => form.set('webhookSecret', event.target.value)}
            />
          )}
        </Field>
      ) : null}
      <ConnectionFields form={form} provider={provider} tokenHint={guide.tokenHint} tokenIsSet={false} />
      <FormFailure failure={form.failure} />
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>{t('common.cancel')}</Button>
        <Button type="submit" tone="primary" busy={form.busy}>
          {t('adminIntegrations.connect')}
        </Button>
      </div>
    </form>
  );
}
