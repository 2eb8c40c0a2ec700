'use client';
import type { ConnectionApp, IntegrationConnection, IntegrationProvider } from '@slipway/contracts';
import { Badge, Button, Notice, Section } from '@slipway/ui';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { toast } from 'sonner';
import { api } from '../../api/client.ts';
import { Ago } from '../../browser/ago.tsx';
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
    onSuccess: () => toast('The provider was asked.'),
    onSettled: () => changed(),
  });
  const changed = () => void queries.invalidateQueries({ queryKey: ['integrations', org.id] });
  const { label, tone, next } = APP_STATES_SHOWN[app.state];
  const reach = reachOf(app);
  const name = provider?.name ?? connection.provider;
  const isBound = app.state === 'installed' || app.state === 'suspended';
  const mayWrite = org.permissions.includes('integration:write');
  return (
    <Section
      title={`${name} App`}
      description={`Slipway calls ${name} as this app, with tokens that hold for an hour, for one repository and for what the step needs.`}
    >
      <div className="flex flex-col gap-4 rounded-lg border border-line bg-surface p-4">
        <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-6 gap-y-2 text-sm">
          <dt className="text-ink-muted">App</dt>
          <dd className="min-w-0 break-words">
            {app.url === null ? (
              app.slug
            ) : (
              <a className="text-accent underline underline-offset-2" href={app.url} target="_blank" rel="noreferrer">
                {app.slug}
              </a>
            )}
            {app.url === null ? <span className="text-ink-muted"> of this platform</span> : null}
          </dd>
          <dt className="text-ink-muted">Installation</dt>
          <dd className="flex min-w-0 flex-wrap items-center gap-2 break-words">
            <Badge tone={tone}>{label}</Badge>
            {reach}
          </dd>
          {app.checkedAt === null ? null : (
            <>
              <dt className="text-ink-muted">Checked</dt>
              <dd>
                <Ago at={app.checkedAt} />
              </dd>
            </>
          )}
          {app.recoveredAt === null ? null : (
            <>
              <dt className="text-ink-muted">Missed deliveries</dt>
              <dd>
                looked for <Ago at={app.recoveredAt} />
              </dd>
            </>
          )}
        </dl>
        {next === null ? null : <p className="text-sm">{next}</p>}
        {app.missingPermissions.length === 0 ? null : (
          <Notice tone="warn" title="Permissions are missing">
            The installation lacks {app.missingPermissions.join(', ')}. Whoever administers {app.account?.login ?? 'the account'} grants them in the settings of
            the installation; until then what needs them fails.
          </Notice>
        )}
        <ErrorNotice error={begin.error ?? refresh.error} />
        {mayWrite ? (
          <div className="flex flex-wrap gap-2">
            {isBound || app.state === 'approved' ? null : (
              <Button tone="primary" busy={begin.isPending} onClick={() => begin.mutate(false)}>
                Install
              </Button>
            )}
            {isBound ? (
              <Button busy={refresh.isPending} onClick={() => refresh.mutate()}>
                Check now
              </Button>
            ) : (
              <Button tone={app.state === 'approved' ? 'primary' : 'plain'} busy={begin.isPending} onClick={() => begin.mutate(true)}>
                Confirm the installation
              </Button>
            )}
            {app.url === null ? null : <Button onClick={() => setDoing('secrets')}>Replace secrets</Button>}
            {isBound ? <Button onClick={() => setDoing('release')}>Give up the account</Button> : null}
          </div>
        ) : null}
      </div>
      {doing === 'secrets' ? <AppSecretsDialog connection={connection} name={name} onClose={() => setDoing(null)} onDone={changed} /> : null}
      {doing === 'release' ? <ReleaseDialog connection={connection} app={app} name={name} onClose={() => setDoing(null)} onDone={changed} /> : null}
    </Section>
  );
}
