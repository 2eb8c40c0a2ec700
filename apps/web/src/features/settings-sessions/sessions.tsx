'use client';
import type { MySession } from '@slipway/contracts/identity';
import { Badge, Button, type Column, ConfirmDialog, Table } from '@slipway/ui';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useTranslations } from 'next-intl';
import { useState } from 'react';
import { toast } from 'sonner';
import { api } from '../../api/client.ts';
import { Ago, Ahead } from '../../browser/ago.tsx';
import { ErrorNotice } from '../form/form-failure.tsx';
import { Page } from '../frame/page.tsx';
import { QueryPanel } from '../list/query-panel.tsx';
import { signOut } from '../session/sign-out.ts';

const KEY = ['my-sessions'];

/** Browsers that are signed in as this user, and the end of any of them. */
export function Sessions() {
  const t = useTranslations();
  const sessions = useQuery<readonly MySession[]>({
    queryKey: KEY,
    queryFn: async ({ signal }) => (await api.listMySessions({ signal })).data,
  });
  const [ending, setEnding] = useState<'others' | 'all' | null>(null);
  const others = sessions.data?.filter((session) => !session.current).length ?? 0;
  return (
    <Page
      title={t('common.sessions')}
      description={t('settingsSessions.browsersSignedInAsYou')}
      action={
        <div className="flex flex-wrap gap-2">
          <Button disabled={others === 0} onClick={() => setEnding('others')}>
            {t('settingsSessions.signOutAllOthers')}
          </Button>
          <Button tone="danger" onClick={() => setEnding('all')}>
            {t('settingsSessions.signOutEverywhere')}
          </Button>
        </div>
      }
    >
      <QueryPanel query={sessions} label={t('settingsSessions.yourSessions')}>
        {(rows) => <SessionTable rows={rows} />}
      </QueryPanel>
      {ending === null ? null : <EndDialog which={ending} onClose={() => setEnding(null)} />}
    </Page>
  );
}

function SessionTable({ rows }: { rows: readonly MySession[] }) {
  const t = useTranslations();
  const queries = useQueryClient();
  const end = useMutation({
    // The one that asks leaves as by "Sign out": at the sign-in service too, or the next click would let it in again.
    mutationFn: (session: MySession) => (session.current ? signOut() : api.endMySession({ session: session.id })),
    onSuccess: async (_answer, session) => {
      if (session.current) return;
      await queries.invalidateQueries({ queryKey: KEY });
      toast.success(t('settingsSessions.wasSignedOut', { device: session.device }));
    },
    onError: (_error, session) =>
      void toast.error(t('settingsSessions.signingOutFailedTryAgain', { device: session.device })),
  });
  const columns: Column<MySession>[] = [
    {
      label: t('common.browser'),
      phone: 'title',
      cell: (session) => (
        <span className="flex flex-wrap items-center gap-2 font-medium">
          {session.device} {session.current ? <Badge tone="accent">{t('settingsSessions.thisBrowser2')}</Badge> : null}
        </span>
      ),
    },
    {
      label: t('common.address'),
      cell: (session) => (
        <span className="font-mono text-xs break-all text-ink-muted">
          {session.address ?? t('settingsSessions.unknown')}
        </span>
      ),
    },
    {
      label: t('settingsSessions.signedIn'),
      cell: (session) => <Ago at={session.createdAt} className="whitespace-nowrap text-ink-muted" />,
    },
    {
      label: t('settingsSessions.lastSeen'),
      cell: (session) => <Ago at={session.lastSeenAt} className="whitespace-nowrap text-ink-muted" />,
    },
    {
      label: t('settingsSessions.expires'),
      cell: (session) => <Ahead at={session.expiresAt} className="whitespace-nowrap text-ink-muted" />,
    },
    {
      label: t('common.actions'),
      unnamed: true,
      align: 'end',
      phone: 'actions',
      cell: (session) => (
        <Button
          size="small"
          tone="danger"
          aria-label={t('settingsSessions.signOut', {
            device: session.current ? t('settingsSessions.thisBrowser') : session.device,
          })}
          busy={end.isPending && end.variables.id === session.id}
          onClick={() => end.mutate(session)}
        >
          {t('common.signOut')}
        </Button>
      ),
    },
  ];
  return <Table label={t('common.sessions')} columns={columns} rows={rows} rowKey={(session) => session.id} />;
}

function EndDialog({ which, onClose }: { which: 'others' | 'all'; onClose: () => void }) {
  const t = useTranslations();
  const queries = useQueryClient();
  const end = useMutation({
    mutationFn: async () => {
      const { ended } = await api.endMySessions({ body: { which: 'others' } });
      if (which === 'all') await signOut();
      return ended;
    },
    onSuccess: async (ended) => {
      if (which === 'all') return;
      await queries.invalidateQueries({ queryKey: KEY });
      toast.success(t('settingsSessions.browsersAreSignedOut', { ended }));
      onClose();
    },
  });
  return (
    <ConfirmDialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={which === 'all' ? t('settingsSessions.signOutEverywhere2') : t('settingsSessions.signOutAllOthers2')}
      confirmLabel={t('common.signOut')}
      busy={end.isPending}
      onConfirm={() => end.mutate()}
    >
      <p>
        {t('settingsSessions.thisTakesUpToTwo', {
          which:
            which === 'all'
              ? t('settingsSessions.everyBrowserIncludingThisOne')
              : t('settingsSessions.everyBrowserExceptThisOne'),
        })}
      </p>
      <ErrorNotice error={end.error} />
    </ConfirmDialog>
  );
}
