'use client';
import type { Connection } from '@slipway/contracts';
import { Button, type Column, ConfirmDialog, EmptyState, Table } from '@slipway/ui';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { Ago, Ahead } from '../../browser/ago.tsx';
import { ErrorNotice } from '../form/form-failure.tsx';
import { Page } from '../frame/page.tsx';
import { QueryPanel } from '../list/query-panel.tsx';

const KEY = ['my-connections'];
const NAMES: Readonly<Record<string, string>> = { github: 'GitHub', gitlab: 'GitLab', bitbucket: 'Bitbucket', google: 'Google' };

function nameOf(provider: string): string {
  return NAMES[provider] ?? provider;
}

/** Accounts at git hosts whose token Slipway holds for this person. */
export function Connections() {
  const connections = useQuery<readonly Connection[]>({ queryKey: KEY, queryFn: async ({ signal }) => (await api.listMyConnections({ signal })).data });
  const [leaving, setLeaving] = useState<Connection | null>(null);
  return (
    <Page
      title="Connections"
      description="Accounts at git hosts by which you have signed in. Agents use their tokens for your repositories, and never see them."
    >
      <QueryPanel query={connections} label="Your connections">
        {(rows) =>
          rows.length === 0 ? (
            <EmptyState title="No account is connected" className="rounded-lg border border-line">
              Sign in through a git host, such as GitHub or GitLab, where the sign-in page offers it: its account then stands here.
            </EmptyState>
          ) : (
            <Table label="Connections" columns={columns(setLeaving)} rows={rows} rowKey={(connection) => connection.provider} />
          )
        }
      </QueryPanel>
      {leaving === null ? null : <ForgetDialog connection={leaving} onClose={() => setLeaving(null)} />}
    </Page>
  );
}

function columns(forget: (connection: Connection) => void): Column<Connection>[] {
  return [
    { label: 'Provider', phone: 'title', cell: (connection) => <span className="font-medium">{nameOf(connection.provider)}</span> },
    {
      label: 'May',
      cell: (connection) => <span className="font-mono text-xs break-words text-ink-muted">{connection.scopes.join(', ') || 'not said'}</span>,
    },
    { label: 'Connected', cell: (connection) => <Ago at={connection.connectedAt} className="whitespace-nowrap text-ink-muted" /> },
    { label: 'Token renewed', cell: (connection) => <Ago at={connection.refreshedAt} className="whitespace-nowrap text-ink-muted" /> },
    {
      label: 'Token ends',
      cell: (connection) =>
        connection.expiresAt === null ? (
          <span className="text-ink-muted">Never by itself</span>
        ) : (
          <Ahead at={connection.expiresAt} className="whitespace-nowrap text-ink-muted" />
        ),
    },
    {
      label: 'Actions',
      unnamed: true,
      align: 'end',
      phone: 'actions',
      cell: (connection) => (
        <Button size="small" tone="danger" aria-label={`Forget ${nameOf(connection.provider)}`} onClick={() => forget(connection)}>
          Forget
        </Button>
      ),
    },
  ];
}

function ForgetDialog({ connection, onClose }: { connection: Connection; onClose: () => void }) {
  const queries = useQueryClient();
  const forget = useMutation({
    mutationFn: () => api.deleteMyConnection({ provider: connection.provider }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: KEY });
      onClose();
    },
  });
  const name = nameOf(connection.provider);
  return (
    <ConfirmDialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={`Forget the token of ${name}?`}
      confirmLabel="Forget"
      busy={forget.isPending}
      onConfirm={() => forget.mutate()}
    >
      <p>
        Agents cannot reach your repositories there any more. It comes back when you sign in through {name} again. To take the permission away for good, do so
        at {name} too.
      </p>
      <ErrorNotice error={forget.error} />
    </ConfirmDialog>
  );
}
