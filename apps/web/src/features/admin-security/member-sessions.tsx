'use client';
import type { MemberSession } from '@slipway/contracts/organizations';
import { Badge, Button, type Column, ConfirmDialog, EmptyState, Section, Table } from '@slipway/ui';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useTranslations } from 'next-intl';
import { useState } from 'react';
import { toast } from 'sonner';
import { api } from '../../api/client.ts';
import { useAddressValue } from '../../browser/address.ts';
import { Ago } from '../../browser/ago.tsx';
import { isAbove } from '../admin/roles.ts';
import { ErrorNotice } from '../form/form-failure.tsx';
import { ListPanel } from '../list/list-panel.tsx';
import { usePages } from '../list/use-pages.ts';
import { useSession } from '../session/me.ts';

interface Ending {
  readonly session: MemberSession;
  readonly all: boolean;
}

/** Browsers that are signed in as members, and the end of one or of all that somebody has. */
export function MemberSessions() {
  const t = useTranslations();
  const { org } = useSession();
  const [user, setUser] = useAddressValue('user');
  const list = usePages({
    key: ['member-sessions', org.id, user ?? ''],
    read: (cursor, signal) =>
      api.listMemberSessions({
        org: org.id,
        query: { limit: 50, ...(user === null ? {} : { user }), ...cursor },
        signal,
      }),
  });
  const [ending, setEnding] = useState<Ending | null>(null);
  return (
    <Section
      title={t('common.sessions')}
      description={t('adminSecurity.browsersWhereMembersAreSigned')}
      action={
        user === null ? undefined : <Button onClick={() => setUser(null)}>{t('adminSecurity.showAllMembers')}</Button>
      }
    >
      <ListPanel
        list={list}
        noun={t('adminSecurity.sessions')}
        empty={
          <EmptyState title={t('adminSecurity.noOneIsSignedIn')}>{t('adminSecurity.membersWhoSignInWith')}</EmptyState>
        }
        filtered={user === null ? null : () => setUser(null)}
      >
        {(rows) => <SessionTable rows={rows} only={setUser} end={setEnding} filtered={user !== null} />}
      </ListPanel>
      {ending === null ? null : <EndDialog ending={ending} onClose={() => setEnding(null)} />}
    </Section>
  );
}

function SessionTable({
  rows,
  only,
  end,
  filtered,
}: {
  rows: readonly MemberSession[];
  only: (user: string, how: 'push') => void;
  end: (ending: Ending) => void;
  filtered: boolean;
}) {
  const t = useTranslations();
  const { org } = useSession();
  const mayEnd = (session: MemberSession) =>
    org.permissions.includes('security:write') && !session.current && !isAbove(session.role, org.role);
  const columns: Column<MemberSession>[] = [
    {
      label: t('common.user'),
      phone: 'title',
      cell: (session) => (
        <SessionUser session={session} onOnly={filtered ? null : () => only(session.userId, 'push')} />
      ),
    },
    {
      label: t('common.browser'),
      cell: (session) => (
        <span className="flex flex-wrap items-center gap-2">
          {session.device}
          {session.current ? <Badge tone="accent">{t('adminSecurity.thisBrowser')}</Badge> : null}
          {session.secondFactor ? <Badge tone="ok">{t('adminSecurity.secondFactor')}</Badge> : null}
          {session.refused ? <Badge tone="warn">{t('adminSecurity.mustSignInAgain')}</Badge> : null}
        </span>
      ),
    },
    {
      label: t('common.address'),
      cell: (session) => (
        <span className="font-mono text-xs break-all text-ink-muted">
          {session.address ?? t('adminSecurity.unknown')}
        </span>
      ),
    },
    {
      label: t('adminSecurity.signedIn'),
      phone: 'hidden',
      cell: (session) => <Ago at={session.createdAt} className="whitespace-nowrap text-ink-muted" />,
    },
    {
      label: t('adminSecurity.lastSeen'),
      cell: (session) => <Ago at={session.lastSeenAt} className="whitespace-nowrap text-ink-muted" />,
    },
    {
      label: t('common.actions'),
      unnamed: true,
      align: 'end',
      phone: 'actions',
      cell: (session) => (mayEnd(session) ? <SessionActions session={session} end={end} /> : null),
    },
  ];
  return (
    <Table
      label={t('adminSecurity.sessionsOfMembers')}
      columns={columns}
      rows={rows}
      rowKey={(session) => session.id}
    />
  );
}

/** @param onOnly shows the sessions of this user alone; `null`: it is so. */
function SessionUser({ session, onOnly }: { session: MemberSession; onOnly: (() => void) | null }) {
  const t = useTranslations();
  return (
    <span className="block min-w-0">
      {onOnly === null ? (
        <span className="font-medium break-words">{session.userName}</span>
      ) : (
        <button
          type="button"
          className="min-h-6 text-left font-medium break-words underline-offset-2 hover:underline touch:min-h-11"
          aria-label={t('adminSecurity.onlySessionsOf', { userName: session.userName })}
          onClick={onOnly}
        >
          {session.userName}
        </button>
      )}
      <span className="block text-xs break-all text-ink-muted">
        {session.email ?? t('adminSecurity.noEmailAddress')}
      </span>
    </span>
  );
}

function SessionActions({ session, end }: { session: MemberSession; end: (ending: Ending) => void }) {
  const t = useTranslations();
  return (
    <span className="flex flex-wrap justify-end gap-2">
      <Button
        size="small"
        tone="danger"
        aria-label={t('adminSecurity.signOutOf', { device: session.device, userName: session.userName })}
        onClick={() => end({ session, all: false })}
      >
        {t('common.signOut')}
      </Button>
      <Button
        size="small"
        tone="danger"
        aria-label={t('adminSecurity.signOutAllBrowsersOf', { userName: session.userName })}
        onClick={() => end({ session, all: true })}
      >
        {t('adminSecurity.signOutAll')}
      </Button>
    </span>
  );
}

function EndDialog({ ending: { session, all }, onClose }: { ending: Ending; onClose: () => void }) {
  const t = useTranslations();
  const { org } = useSession();
  const queries = useQueryClient();
  const end = useMutation({
    mutationFn: async () => {
      if (all) return (await api.endMemberSessions({ org: org.id, user: session.userId })).ended;
      await api.endMemberSession({ org: org.id, session: session.id });
      return 1;
    },
    onSuccess: async (ended) => {
      await queries.invalidateQueries({ queryKey: ['member-sessions', org.id] });
      toast.success(
        ended === 1
          ? t('adminSecurity.oneBrowserOfWasSigned', { userName: session.userName })
          : t('adminSecurity.browsersOfWereSignedOut', { ended, userName: session.userName }),
      );
      onClose();
    },
  });
  return (
    <ConfirmDialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={
        all
          ? t('adminSecurity.signOutAllBrowsersOf2', { userName: session.userName })
          : t('adminSecurity.signOutOf2', { device: session.device, userName: session.userName })
      }
      confirmLabel={t('common.signOut')}
      busy={end.isPending}
      onConfirm={() => end.mutate()}
    >
      <p>{t('adminSecurity.thisTakesUpToTwo', { userName: session.userName })}</p>
      <ErrorNotice error={end.error} />
    </ConfirmDialog>
  );
}
