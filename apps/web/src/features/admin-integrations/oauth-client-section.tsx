'use client';
import { type OAuthClient, SetOAuthClient } from '@slipway/contracts/identity';
import { type IntegrationConnection, type IntegrationProvider } from '@slipway/contracts/integrations';
import { Button, ConfirmDialog, Dialog, Field, Input, Section } from '@slipway/ui';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useTranslations } from 'next-intl';
import { useState } from 'react';
import { toast } from 'sonner';
import { api } from '../../api/client.ts';
import { asAgo } from '../../browser/ago.tsx';
import { ErrorNotice, FormFailure } from '../form/form-failure.tsx';
import { CopyLine } from '../form/secret-box.tsx';
import { useForm } from '../form/use-form.ts';
import { QueryPanel } from '../list/query-panel.tsx';
import { useSession } from '../session/me.ts';
import { guideOf } from './setup-steps.ts';

/** The OAuth application at the provider by which users of the organization link their accounts. */
export function OAuthClientSection({
  connection,
  provider,
}: {
  connection: IntegrationConnection;
  provider: IntegrationProvider;
}) {
  const t = useTranslations();
  const { org } = useSession();
  const queries = useQueryClient();
  const [doing, setDoing] = useState<'set' | 'delete' | null>(null);
  const key = ['integrations', org.id, connection.id, 'oauth-client'];
  const where = { org: org.id, connection: connection.id };
  const client = useQuery({ queryKey: key, queryFn: ({ signal }) => api.getOAuthClient({ ...where, signal }) });
  const remove = useMutation({
    mutationFn: () => api.deleteOAuthClient(where),
    onSuccess: () => done(t('adminIntegrations.oauthClientRemoved')),
  });
  const done = (said: string) => {
    toast(said);
    setDoing(null);
    void queries.invalidateQueries({ queryKey: ['integrations', org.id] });
  };
  return (
    <Section
      title={t('adminIntegrations.oauthClient')}
      description={t('adminIntegrations.yourOauthApplicationAtUsers', {
        host: connection.host,
        authorizes: connection.authorizes ? t('adminIntegrations.andAnAdminConnectsThe') : '',
      })}
    >
      <QueryPanel query={client} label={t('adminIntegrations.theOauthClient')}>
        {(data) => (
          <div className="flex flex-wrap items-center justify-between gap-x-6 gap-y-2 rounded-lg border border-line bg-surface px-4 py-3">
            {data.clientId === null ? (
              <p className="text-sm">{t('adminIntegrations.noOauthClientUsersCannot')}</p>
            ) : (
              <p className="min-w-0 text-sm">
                {t.rich('adminIntegrations.clientId', {
                  clientId: data.clientId,
                  code: (chunks) => <code className="font-mono text-xs break-all">{chunks}</code>,
                })}
                {data.setAt === null ? null : (
                  <span className="text-ink-muted">
                    {t.rich('adminIntegrations.entered2', { setAt: data.setAt, ago: asAgo })}
                  </span>
                )}
              </p>
            )}
            {org.permissions.includes('integration:write') ? (
              <span className="flex gap-2">
                <Button onClick={() => setDoing('set')}>
                  {data.clientId === null ? t('adminIntegrations.addOauthClient') : t('adminIntegrations.replace')}
                </Button>
                {data.clientId === null ? null : (
                  <Button
                    tone="danger"
                    aria-label={t('adminIntegrations.removeOauthClient')}
                    onClick={() => setDoing('delete')}
                  >
                    {t('adminIntegrations.remove')}
                  </Button>
                )}
              </span>
            ) : null}
            {doing === 'set' ? (
              <ClientDialog
                client={data}
                where={where}
                provider={provider}
                onClose={() => setDoing(null)}
                onDone={() => done(t('adminIntegrations.oauthClientSavedUsersCan'))}
              />
            ) : null}
          </div>
        )}
      </QueryPanel>
      <ConfirmDialog
        open={doing === 'delete'}
        onOpenChange={(open) => open || setDoing(null)}
        title={t('adminIntegrations.removeOauthClient2')}
        confirmLabel={t('adminIntegrations.remove')}
        busy={remove.isPending}
        onConfirm={() => remove.mutate()}
      >
        <p>{t('adminIntegrations.usersCanNoLongerLink')}</p>
        <ErrorNotice error={remove.error} />
      </ConfirmDialog>
    </Section>
  );
}

/** For linking and for connecting. */
function scopesOf({ scopes, connectionScopes }: OAuthClient): readonly string[] {
  return [...new Set([...connectionScopes, ...scopes])];
}

function ClientDialog({
  client,
  where,
  provider,
  onClose,
  onDone,
}: {
  client: OAuthClient;
  where: { org: string; connection: string };
  provider: IntegrationProvider;
  onClose: () => void;
  onDone: () => void;
}) {
  const t = useTranslations();
  const form = useForm({
    initial: { clientId: client.clientId ?? '', clientSecret: '' },
    schema: SetOAuthClient,
    requestOf: (values) => values,
    send: (body) => api.setOAuthClient({ ...where, body }),
    onDone,
  });
  const text = { autoComplete: 'off', spellCheck: false } as const;
  return (
    <Dialog
      open
      onOpenChange={(open) => open || onClose()}
      title={t('adminIntegrations.oauthClientAt', { name: provider.name })}
      className="w-[min(560px,calc(100vw-32px))]"
    >
      <form {...form.props} className="flex flex-col gap-4 p-4">
        <p className="text-sm">
          {guideOf(t, provider).oauthHint ??
            t('adminIntegrations.registerAnOauthApplicationAt', { name: provider.name })}{' '}
          {t('adminIntegrations.enterThisCallbackAddressThere', {
            client:
              scopesOf(client).length === 0
                ? '.'
                : t('adminIntegrations.withTheScopes', { client: scopesOf(client).join(', ') }),
          })}
        </p>
        <CopyLine label={t('adminIntegrations.callbackAddress')} text={client.callbackUrl} />
        <Field label={t('adminIntegrations.clientId2')} error={form.error('clientId')}>
          {(control) => (
            <Input
              {...control}
              {...text}
              data-autofocus
              value={form.values.clientId}
              onChange={(event) => form.set('clientId', event.target.value)}
            />
          )}
        </Field>
        <Field
          label={t('adminIntegrations.clientSecret')}
          hint={t('adminIntegrations.itIsNeverShownAgain')}
          error={form.error('clientSecret')}
        >
          {(control) => (
            <Input
              {...control}
              {...text}
              type="password"
              value={form.values.clientSecret}
              onChange={(event) => form.set('clientSecret', event.target.value)}
            />
          )}
        </Field>
        <FormFailure failure={form.failure} />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>{t('common.cancel')}</Button>
          <Button type="submit" tone="primary" busy={form.busy}>
            {t('common.save')}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
