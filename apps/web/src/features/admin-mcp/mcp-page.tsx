'use client';
import type { McpServer } from '@slipway/contracts';
import { Badge, Button, type Column, EmptyState, Table } from '@slipway/ui';
import { useQuery, useQueryClient } from '@tanstack/react-query';
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
  const { org } = useSession();
  const queries = useQueryClient();
  const [adding, setAdding] = useState<'form' | 'paste' | null>(null);
  const mayChange = org.permissions.includes('setting:write');
  const servers = useQuery({ queryKey: ['mcp-servers', org.id], queryFn: ({ signal }) => api.listMcpServers({ org: org.id, signal }) });
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
      title="MCP servers"
      description="Tools beyond those that agents have anyway. Each new conversation connects, from its sandbox, to the servers that are switched on here."
      action={
        mayChange ? (
          <span className="flex flex-wrap gap-2">
            <Button onClick={() => setAdding('paste')}>Paste a file</Button>
            <Button tone="primary" onClick={() => setAdding('form')}>
              New server
            </Button>
          </span>
        ) : null
      }
    >
      <QueryPanel query={servers} label="The MCP servers">
        {({ data }) =>
          data.length === 0 ? (
            <EmptyState title="The organization has no MCP servers" className="rounded-lg border border-line">
              {mayChange
                ? 'Connect your issue tracker, your documentation or a database. Paste the mcpServers file that you have from another agent, or add one by hand.'
                : 'An admin can add some here.'}
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
          onDone={({ name, enabled }) => added(enabled ? `${name} is there for new conversations. Test it now.` : `${name} is kept, and is off.`)}
        />
      ) : null}
      {adding === 'paste' ? (
        <PasteDialog
          servers={servers.data?.data ?? []}
          onClose={() => setAdding(null)}
          onAdded={(count) => added(count === 1 ? 'One server is added.' : `${count} servers are added.`)}
        />
      ) : null}
    </Page>
  );
}

function Servers({ servers, mayChange, onChanged }: { servers: readonly McpServer[]; mayChange: boolean; onChanged: () => void }) {
  const columns: Column<McpServer>[] = [
    { label: 'Name', phone: 'title', className: 'max-w-60', cell: (server) => <span className="font-medium break-words">{server.name}</span> },
    { label: 'Kind', className: 'md:whitespace-nowrap', cell: (server) => KINDS[server.transport] },
    { label: 'Where', className: 'max-w-80', cell: (server) => <code className="line-clamp-2 min-w-0 font-mono text-xs break-all">{placeOf(server)}</code> },
    { label: 'State', cell: (server) => <State server={server} /> },
    { label: 'Changed', className: 'md:whitespace-nowrap', cell: (server) => <Ago at={server.updatedAt} /> },
    {
      label: 'Actions',
      unnamed: true,
      align: 'end',
      phone: 'actions',
      cell: (server) => (mayChange ? <ServerActions server={server} onChanged={onChanged} /> : null),
    },
  ];
  return <Table label="MCP servers" columns={columns} rows={servers} rowKey={(server) => server.id} />;
}

/** A server whose secret there is not stays off in every sandbox, whatever the switch says. */
function State({ server: { enabled, missingSecrets } }: { server: McpServer }) {
  return (
    <span className="flex min-w-0 flex-wrap items-center gap-x-2 gap-y-1 max-md:justify-end">
      {enabled ? <Badge tone={missingSecrets.length > 0 ? 'warn' : 'ok'}>{missingSecrets.length > 0 ? 'Lacks a secret' : 'On'}</Badge> : <Badge>Off</Badge>}
      {missingSecrets.length === 0 ? null : <span className="text-xs break-all text-ink-muted">{missingSecrets.join(', ')}</span>}
    </span>
  );
}
