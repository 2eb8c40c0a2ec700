'use client';
import type { ConnectionApp, IntegrationConnection, IntegrationProvider } from '@slipway/contracts/integrations';
import { Badge, Button, Notice, Section } from '@slipway/ui';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useTranslations } from 'next-intl';
import { useState } from 'react';
import { toast } from 'sonner';
import { api } from '../../api/client.ts';
import { Ago, asAgo } from '../../browser/ago.tsx';
import { ErrorNotice } from '../form/form-failure.tsx';
import { useSession } from '../session/me.ts';
import { AppSecretsDialog, ReleaseDialog } from './app-dialogs.tsx';
import { APP_STATES_SHOWN, reachOf } from './app-words.ts';
import { goTo } from './go-to.ts';

/** The app that a connection is by: where it is installed, what is missing, and the next step. */
export function AppSection({
  connection,
  app,
  provider,
}: {
  connection: IntegrationConnection;
  app: ConnectionApp;
  provider: IntegrationProvider | undefined;
}) {
  const t = useTranslations();
  const { org } = useSession();
  const queries = useQueryClient();
  const [doing, setDoing] = useState<'secrets' | 'release' | null>(null);
  const where = { org: org.id, connection: connection.id };
  const begin = useMutation({
    mutationFn: (installed: boolean) => api.installIntegrationApp({ ...where, body: { installed } }),
    onSuccess: ({ url }) => goTo(url),
  });
  const refresh = useMutation({
    mutationFn: () => api.refreshIntegrationApp(where),
    onSuccess: () => toast(t('adminIntegrations.checkedWithTheProvider')),
    onSettled: () => changed(),
  });
  const changed = () => void queries.invalidateQueries({ queryKey: ['integrations', org.id] });
  const { next } = APP_STATES_SHOWN[app.state];
  const name = provider?.name ?? connection.provider;
  const isBound = app.state === 'installed' || app.state === 'suspended';
  const mayWrite = org.permissions.includes('integration:write');
  return (
    <Section
      title={t('adminIntegrations.app', { name })}
      description={t('adminIntegrations.slipwayCallsAsThisApp', { name })}
    >
      <div className="flex flex-col gap-4 rounded-lg border border-line bg-surface p-4">
        <AppFacts app={app} />
        {next === null ? null : <p className="text-sm">{t(next)}</p>}
        {app.missingPermissions.length === 0 ? null : (
          <Notice tone="warn" title={t('adminIntegrations.permissionsAreMissing')}>
            {t('adminIntegrations.theInstallationIsMissingAn', {
              missingPermissions: app.missingPermissions.join(', '),
              login: app.account?.login ?? t('adminIntegrations.theAccount'),
            })}
          </Notice>
        )}
        <ErrorNotice error={begin.error ?? refresh.error} />
        {mayWrite ? (
          <div className="flex flex-wrap gap-2">
            {isBound || app.state === 'approved' ? null : (
              <Button tone="primary" busy={begin.isPending} onClick={() => begin.mutate(false)}>
                {t('adminIntegrations.install')}
              </Button>
            )}
            {isBound ? (
              <Button busy={refresh.isPending} onClick={() => refresh.mutate()}>
                {t('adminIntegrations.checkNow')}
              </Button>
            ) : (
              <Button
                tone={app.state === 'approved' ? 'primary' : 'plain'}
                busy={begin.isPending}
                onClick={() => begin.mutate(true)}
              >
                {t('adminIntegrations.confirmInstallation')}
              </Button>
            )}
            {app.url === null ? null : (
              <Button onClick={() => setDoing('secrets')}>{t('adminIntegrations.replaceSecrets')}</Button>
            )}
            {isBound ? (
              <Button onClick={() => setDoing('release')}>{t('adminIntegrations.releaseAccount')}</Button>
            ) : null}
          </div>
        ) : null}
      </div>
      {doing === 'secrets' ? (
        <AppSecretsDialog connection={connection} name={name} onClose={() => setDoing(null)} onDone={changed} />
      ) : null}
      {doing === 'release' ? (
        <ReleaseDialog connection={connection} app={app} name={name} onClose={() => setDoing(null)} onDone={changed} />
      ) : null}
    </Section>
  );
}

function AppFacts({ app }: { app: ConnectionApp }) {
  const t = useTranslations();
  const { label, tone } = APP_STATES_SHOWN[app.state];
  return (
    <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-6 gap-y-2 text-sm">
      <dt className="text-ink-muted">{t('adminIntegrations.app2')}</dt>
      <dd className="min-w-0 break-words">
        {app.url === null ? (
          app.slug
        ) : (
          <a className="text-accent underline underline-offset-2" href={app.url} target="_blank" rel="noreferrer">
            {app.slug}
          </a>
        )}
        {app.url === null ? (
          <span className="text-ink-muted"> {t('adminIntegrations.providedByThisInstallation')}</span>
        ) : null}
      </dd>
      <dt className="text-ink-muted">{t('adminIntegrations.installation')}</dt>
      <dd className="flex min-w-0 flex-wrap items-center gap-2 break-words">
        <Badge tone={tone}>{t(label)}</Badge>
        {reachOf(t, app)}
      </dd>
      {app.checkedAt === null ? null : (
        <>
          <dt className="text-ink-muted">{t('adminIntegrations.checked')}</dt>
          <dd>
            <Ago at={app.checkedAt} />
          </dd>
        </>
      )}
      {app.recoveredAt === null ? null : (
        <>
          <dt className="text-ink-muted">{t('adminIntegrations.missedDeliveries')}</dt>
          <dd>{t.rich('adminIntegrations.checked2', { recoveredAt: app.recoveredAt, ago: asAgo })}</dd>
        </>
      )}
    </dl>
  );
}
