'use client';
import type { IntegrationConnection, IntegrationProvider } from '@slipway/contracts/integrations';
import { Badge, Button, type Column, EmptyState, Table } from '@slipway/ui';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Plug } from 'lucide-react';
import Link from 'next/link';
import { useTranslations } from 'next-intl';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { Ago } from '../../browser/ago.tsx';
import { Page } from '../frame/page.tsx';
import { QueryPanel } from '../list/query-panel.tsx';
import { useSession } from '../session/me.ts';
import { APP_STATES_SHOWN } from './app-words.ts';
import { ComeBackProblem } from './come-back-problem.tsx';
import { ConnectDialog } from './connect-dialog.tsx';
import { CONNECTION_STATES_SHOWN } from './connection-words.ts';
import { useProviders } from './use-providers.ts';

/** How often states and last deliveries are read again while the page is looked at. Milliseconds. */
const REFRESH_MS = 15_000;

export function IntegrationsPage() {
  const t = useTranslations();
  const { org } = useSession();
  const queries = useQueryClient();
  const [connecting, setConnecting] = useState(false);
  const mayChange = org.permissions.includes('integration:write');
  const providers = useProviders();
  const connections = useQuery({
    queryKey: ['integrations', org.id],
    queryFn: ({ signal }) => api.listIntegrationConnections({ org: org.id, signal }),
    refetchInterval: REFRESH_MS,
  });
  const connect = mayChange ? (
    <Button tone="primary" onClick={() => setConnecting(true)}>
      <Plug aria-hidden /> {t('adminIntegrations.connect')}
    </Button>
  ) : null;
  return (
    <Page
      title={t('common.integrations')}
      description={t('adminIntegrations.connectionsToGithubGitlabGitea')}
      action={connect}
    >
      <ComeBackProblem />
      <QueryPanel query={connections} label={t('adminIntegrations.theConnections')}>
        {({ data }) =>
          data.length === 0 ? (
            <EmptyState title={t('adminIntegrations.noConnections')} className="rounded-lg border border-line">
              {mayChange
                ? t('adminIntegrations.connectYourIssueTrackerOr')
                : t('adminIntegrations.anAdminCanConnectYour')}
            </EmptyState>
          ) : (
            <Connections connections={data} providers={providers.data?.data ?? []} />
          )
        }
      </QueryPanel>
      {connecting ? (
        <ConnectDialog
          providers={providers}
          onClose={() => setConnecting(false)}
          onMade={() => void queries.invalidateQueries({ queryKey: ['integrations', org.id] })}
        />
      ) : null}
    </Page>
  );
}

function Connections({
  connections,
  providers,
}: {
  connections: readonly IntegrationConnection[];
  providers: readonly IntegrationProvider[];
}) {
  const t = useTranslations();
  const { org } = useSession();
  const providerName = (id: string): string => providers.find((provider) => provider.id === id)?.name ?? id;
  const columns: Column<IntegrationConnection>[] = [
    {
      label: t('common.name'),
      phone: 'title',
      className: 'md:max-w-72',
      cell: (connection) => (
        <span className="block min-w-0">
          <Link
            href={`/${org.slug}/admin/integrations/${connection.id}`}
            className="inline-block max-w-full py-0.5 font-medium break-words text-accent hover:underline touch:py-2"
          >
            {connection.name}
          </Link>
          <span className="block text-xs break-words text-ink-muted">
            {t('adminIntegrations.at3', { provider: providerName(connection.provider), host: connection.host })}
          </span>
        </span>
      ),
    },
    { label: t('common.state'), cell: (connection) => <State connection={connection} /> },
    {
      label: t('adminIntegrations.lastDelivery'),
      className: 'md:whitespace-nowrap',
      cell: (connection) =>
        connection.lastDeliveryAt === null ? (
          <span className="text-ink-muted">{t('common.never')}</span>
        ) : (
          <Ago at={connection.lastDeliveryAt} />
        ),
    },
    {
      label: t('adminIntegrations.verified'),
      className: 'md:whitespace-nowrap',
      cell: (connection) =>
        connection.verifiedAt === null ? (
          <span className="text-ink-muted">{t('adminIntegrations.notYet')}</span>
        ) : (
          <Ago at={connection.verifiedAt} />
        ),
    },
    {
      label: t('adminIntegrations.connectedBy'),
      cell: (connection) => <span className="break-words">{connection.createdBy.label}</span>,
    },
  ];
  return (
    <Table
      label={t('common.connections')}
      columns={columns}
      rows={connections}
      rowKey={(connection) => connection.id}
    />
  );
}

function State({ connection: { state, stateReason, app } }: { connection: IntegrationConnection }) {
  const t = useTranslations();
  const { label, tone } =
    app === null || app.state === 'installed' || state === 'disabled'
      ? CONNECTION_STATES_SHOWN[state]
      : APP_STATES_SHOWN[app.state];
  return (
    <span className="flex min-w-0 flex-col items-start gap-1 max-md:items-end">
      <Badge tone={tone}>{t(label)}</Badge>
      {stateReason === null ? null : <span className="max-w-72 text-xs break-words text-ink-muted">{stateReason}</span>}
    </span>
  );
}
