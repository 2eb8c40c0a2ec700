'use client';
import type { McpServer } from '@slipway/contracts/secrets';
import { Badge, Button, type Column, EmptyState, Table } from '@slipway/ui';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useTranslations } from 'next-intl';
import { useState } from 'react';
import { toast } from 'sonner';
import { api } from '../../api/client.ts';
import { Ago } from '../../browser/ago.tsx';
import { Page } from '../frame/page.tsx';
import { QueryPanel } from '../list/query-panel.tsx';
import { useSession } from '../session/me.ts';
import { PasteDialog } from './paste-dialog.tsx';
import { ServerActions } from './server-actions.tsx';
import { ServerDialog } from './server-form.tsx';
import { KINDS, placeOf } from './server-words.ts';

export function McpPage() {
  const t = useTranslations();
  const { org } = useSession();
  const queries = useQueryClient();
  const [adding, setAdding] = useState<'form' | 'paste' | null>(null);
  const mayChange = org.permissions.includes('setting:write');
  const servers = useQuery({
    queryKey: ['mcp-servers', org.id],
    queryFn: ({ signal }) => api.listMcpServers({ org: org.id, signal }),
  });
  const changed = () => {
    void queries.invalidateQueries({ queryKey: ['mcp-servers', org.id] });
    void queries.invalidateQueries({ queryKey: ['secrets', org.id] });
  };
  const added = (said: string) => {
    toast(said);
    setAdding(null);
    changed();
  };
  return (
    <Page
      title={t('common.mcpServers')}
      description={t('adminMcp.additionalToolsForAgentsEach')}
      action={
        mayChange ? (
          <span className="flex flex-wrap gap-2">
            <Button onClick={() => setAdding('paste')}>{t('adminMcp.pasteConfiguration')}</Button>
            <Button tone="primary" onClick={() => setAdding('form')}>
              {t('adminMcp.newServer')}
            </Button>
          </span>
        ) : null
      }
    >
      <QueryPanel query={servers} label={t('adminMcp.theMcpServers')}>
        {({ data }) =>
          data.length === 0 ? (
            <EmptyState title={t('adminMcp.noMcpServers')} className="rounded-lg border border-line">
              {mayChange ? t('adminMcp.connectYourIssueTrackerDocumentation') : t('adminMcp.anAdminCanAddMcp')}
            </EmptyState>
          ) : (
            <Servers servers={data} mayChange={mayChange} onChanged={changed} />
          )
        }
      </QueryPanel>
      {adding === 'form' ? (
        <ServerDialog
          server={null}
          onClose={() => setAdding(null)}
          onDone={({ name, enabled }) =>
            added(
              enabled
                ? t('adminMcp.isAvailableToNewConversations', { name })
                : t('adminMcp.isSavedButDisabled', { name }),
            )
          }
        />
      ) : null}
      {adding === 'paste' ? (
        <PasteDialog
          servers={servers.data?.data ?? []}
          onClose={() => setAdding(null)}
          onAdded={(count) => added(t('adminMcp.serversAreAdded', { count }))}
        />
      ) : null}
    </Page>
  );
}

function Servers({
  servers,
  mayChange,
  onChanged,
}: {
  servers: readonly McpServer[];
  mayChange: boolean;
  onChanged: () => void;
}) {
  const t = useTranslations();
  const columns: Column<McpServer>[] = [
    {
      label: t('common.name'),
      phone: 'title',
      className: 'max-w-60',
      cell: (server) => <span className="font-medium break-words">{server.name}</span>,
    },
    { label: t('common.kind'), className: 'md:whitespace-nowrap', cell: (server) => t(KINDS[server.transport]) },
    {
      label: t('adminMcp.location'),
      className: 'max-w-80',
      cell: (server) => <code className="line-clamp-2 min-w-0 font-mono text-xs break-all">{placeOf(server)}</code>,
    },
    { label: t('common.state'), cell: (server) => <State server={server} /> },
    { label: t('common.changed'), className: 'md:whitespace-nowrap', cell: (server) => <Ago at={server.updatedAt} /> },
    {
      label: t('common.actions'),
      unnamed: true,
      align: 'end',
      phone: 'actions',
      cell: (server) => (mayChange ? <ServerActions server={server} onChanged={onChanged} /> : null),
    },
  ];
  return <Table label={t('common.mcpServers')} columns={columns} rows={servers} rowKey={(server) => server.id} />;
}

/** A server whose secret there is not stays off in every sandbox, whatever the switch says. */
function State({ server: { enabled, missingSecrets } }: { server: McpServer }) {
  const t = useTranslations();
  return (
    <span className="flex min-w-0 flex-wrap items-center gap-x-2 gap-y-1 max-md:justify-end">
      {enabled ? (
        <Badge tone={missingSecrets.length > 0 ? 'warn' : 'ok'}>
          {missingSecrets.length > 0 ? t('adminMcp.secretMissing') : t('adminMcp.on')}
        </Badge>
      ) : (
        <Badge>{t('adminMcp.off')}</Badge>
      )}
      {missingSecrets.length === 0 ? null : (
        <span className="text-xs break-all text-ink-muted">{missingSecrets.join(', ')}</span>
      )}
    </span>
  );
}
