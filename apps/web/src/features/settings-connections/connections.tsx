'use client';
import type { Connection } from '@slipway/contracts/identity';
import { Button, type Column, ConfirmDialog, EmptyState, Table } from '@slipway/ui';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useTranslations } from 'next-intl';
import { useState } from 'react';
import { api } from '../../api/client.ts';
import { Ago, Ahead } from '../../browser/ago.tsx';
import type { Translate } from '../../messages/translate.ts';
import { ErrorNotice } from '../form/form-failure.tsx';
import { Page } from '../frame/page.tsx';
import { QueryPanel } from '../list/query-panel.tsx';

const KEY = ['my-connections'];
const NAMES: Readonly<Record<string, string>> = {
  github: 'GitHub',
  gitlab: 'GitLab',
  bitbucket: 'Bitbucket',
  google: 'Google',
};

function nameOf(provider: string): string {
  return NAMES[provider] ?? provider;
}

/** Accounts at git hosts whose token Slipway holds for this person. */
export function Connections() {
  const t = useTranslations();
  const connections = useQuery<readonly Connection[]>({
    queryKey: KEY,
    queryFn: async ({ signal }) => (await api.listMyConnections({ signal })).data,
  });
  const [leaving, setLeaving] = useState<Connection | null>(null);
  return (
    <Page title={t('common.connections')} description={t('settingsConnections.gitHostAccountsYouSigned')}>
      <QueryPanel query={connections} label={t('settingsConnections.yourConnections')}>
        {(rows) =>
          rows.length === 0 ? (
            <EmptyState title={t('settingsConnections.noConnectedAccounts')} className="rounded-lg border border-line">
              {t('settingsConnections.signInThroughAGit')}
            </EmptyState>
          ) : (
            <Table
              label={t('common.connections')}
              columns={columns(t, setLeaving)}
              rows={rows}
              rowKey={(connection) => connection.provider}
            />
          )
        }
      </QueryPanel>
      {leaving === null ? null : <ForgetDialog connection={leaving} onClose={() => setLeaving(null)} />}
    </Page>
  );
}

function columns(t: Translate, forget: (connection: Connection) => void): Column<Connection>[] {
  return [
    {
      label: t('settingsConnections.provider'),
      phone: 'title',
      cell: (connection) => <span className="font-medium">{nameOf(connection.provider)}</span>,
    },
    {
      label: t('settingsConnections.permissions'),
      cell: (connection) => (
        <span className="font-mono text-xs break-words text-ink-muted">
          {connection.scopes.join(', ') || t('settingsConnections.unknown')}
        </span>
      ),
    },
    {
      label: t('settingsConnections.connected'),
      cell: (connection) => <Ago at={connection.connectedAt} className="whitespace-nowrap text-ink-muted" />,
    },
    {
      label: t('settingsConnections.tokenRenewed'),
      cell: (connection) => <Ago at={connection.refreshedAt} className="whitespace-nowrap text-ink-muted" />,
    },
    {
      label: t('settingsConnections.tokenExpires'),
      cell: (connection) =>
        connection.expiresAt === null ? (
          <span className="text-ink-muted">{t('settingsConnections.doesNotExpire')}</span>
        ) : (
          <Ahead at={connection.expiresAt} className="whitespace-nowrap text-ink-muted" />
        ),
    },
    {
      label: t('common.actions'),
      unnamed: true,
      align: 'end',
      phone: 'actions',
      cell: (connection) => (
        <Button
          size="small"
          tone="danger"
          aria-label={t('settingsConnections.disconnect', { provider: nameOf(connection.provider) })}
          onClick={() => forget(connection)}
        >
          {t('settingsConnections.disconnect2')}
        </Button>
      ),
    },
  ];
}

function ForgetDialog({ connection, onClose }: { connection: Connection; onClose: () => void }) {
  const t = useTranslations();
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
      title={t('settingsConnections.disconnect3', { name })}
      confirmLabel={t('settingsConnections.disconnect2')}
      busy={forget.isPending}
      onConfirm={() => forget.mutate()}
    >
      <p>{t('settingsConnections.agentsCanNoLongerAccess', { name })}</p>
      <ErrorNotice error={forget.error} />
    </ConfirmDialog>
  );
}
