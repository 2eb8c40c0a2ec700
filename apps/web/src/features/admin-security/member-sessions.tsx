'use client';
import type { MemberSession } from '@slipway/contracts';
import { Badge, Button, type Column, ConfirmDialog, EmptyState, Section, Table } from '@slipway/ui';
import { useMutation, useQueryClient } from '@tanstack/react-query';
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
  const { org } = useSession();
  const [user, setUser] = useAddressValue('user');
  const list = usePages({
    key: ['member-sessions', org.id, user ?? ''],
    read: (cursor, signal) => api.listMemberSessions({ org: org.id, query: { limit: 50, ...(user === null ? {} : { user }), ...cursor }, signal }),
  });
  const [ending, setEnding] = useState<Ending | null>(null);
  return (
    <Section
      title="Sessions"
      description="Browsers that are signed in as members, last signed in first. One that is signed out has to sign in again, for all of its organizations."
      action={user === null ? undefined : <Button onClick={() => setUser(null)}>Show everybody’s</Button>}
    >
      <ListPanel
        list={list}
        noun="sessions"
        empty={<EmptyState title="Nobody is signed in">Members who sign in with a browser appear here.</EmptyState>}
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
  const { org } = useSession();
  const mayEnd = (session: MemberSession) => org.permissions.includes('security:write') && !session.current && !isAbove(session.role, org.role);
  const columns: Column<MemberSession>[] = [
    {
      label: 'Person',
      phone: 'title',
      cell: (session) => (
        <span className="block min-w-0">
          {filtered ? (
            <span className="font-medium break-words">{session.userName}</span>
          ) : (
            <button
              type="button"
              className="min-h-6 text-left font-medium break-words underline-offset-2 hover:underline touch:min-h-11"
              aria-label={`Only sessions of ${session.userName}`}
              onClick={() => only(session.userId, 'push')}
            >
              {session.userName}
            </button>
          )}
          <span className="block text-xs break-all text-ink-muted">{session.email ?? 'No e-mail address'}</span>
        </span>
      ),
    },
    {
      label: 'Browser',
      cell: (session) => (
        <span className="flex flex-wrap items-center gap-2">
          {session.device}
          {session.current ? <Badge tone="accent">This one</Badge> : null}
          {session.secondFactor ? <Badge tone="ok">Second factor</Badge> : null}
          {session.refused ? <Badge tone="warn">Has to sign in again</Badge> : null}
        </span>
      ),
    },
    { label: 'Address', cell: (session) => <span className="font-mono text-xs break-all text-ink-muted">{session.address ?? 'not known'}</span> },
    { label: 'Signed in', phone: 'hidden', cell: (session) => <Ago at={session.createdAt} className="whitespace-nowrap text-ink-muted" /> },
    { label: 'Last seen', cell: (session) => <Ago at={session.lastSeenAt} className="whitespace-nowrap text-ink-muted" /> },
    {
      label: 'Actions',
      unnamed: true,
      align: 'end',
      phone: 'actions',
      cell: (session) =>
        mayEnd(session) ? (
          <span className="flex flex-wrap justify-end gap-2">
            <Button size="small" tone="danger" aria-label={`Sign out ${session.device} of ${session.userName}`} onClick={() => end({ session, all: false })}>
              Sign out
            </Button>
            <Button
              size="small"
              tone="danger"
              aria-label={`All of theirs: sign out every browser of ${session.userName}`}
              onClick={() => end({ session, all: true })}
            >
              All of theirs
            </Button>
          </span>
        ) : null,
    },
  ];
  return <Table label="Sessions of members" columns={columns} rows={rows} rowKey={(session) => session.id} />;
}

function EndDialog({ ending: { session, all }, onClose }: { ending: Ending; onClose: () => void }) {
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
      toast.success(ended === 1 ? `One browser of ${session.userName} is signed out.` : `${ended} browsers of ${session.userName} are signed out.`);
      onClose();
    },
  });
  return (
    <ConfirmDialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={all ? `Sign out every browser of ${session.userName}?` : `Sign out ${session.device} of ${session.userName}?`}
      confirmLabel="Sign out"
      busy={end.isPending}
      onConfirm={() => end.mutate()}
    >
      <p>
        It takes two seconds, and is in the audit. {session.userName} can sign in again: to keep somebody out, remove them. Agents go on with their work, and
        API keys stay as they are.
      </p>
      <ErrorNotice error={end.error} />
    </ConfirmDialog>
  );
}
