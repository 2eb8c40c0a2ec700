'use client';
import type { MySession } from '@slipway/contracts';
import { Badge, Button, type Column, ConfirmDialog, Table } from '@slipway/ui';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { toast } from 'sonner';
import { api } from '../../api/client.ts';
import { Ago, Ahead } from '../../browser/ago.tsx';
import { ErrorNotice } from '../form/form-failure.tsx';
import { Page } from '../frame/page.tsx';
import { QueryPanel } from '../list/query-panel.tsx';
import { signOut } from '../session/sign-out.ts';

const KEY = ['my-sessions'];

/** Browsers that are signed in as this person, and the end of any of them. */
export function Sessions() {
  const sessions = useQuery<readonly MySession[]>({ queryKey: KEY, queryFn: async ({ signal }) => (await api.listMySessions({ signal })).data });
  const [ending, setEnding] = useState<'others' | 'all' | null>(null);
  const others = sessions.data?.filter((session) => !session.current).length ?? 0;
  return (
    <Page
      title="Sessions"
      description="Browsers that are signed in as you. One that you do not know: sign it out, and change your password where you sign in."
      action={
        <div className="flex flex-wrap gap-2">
          <Button disabled={others === 0} onClick={() => setEnding('others')}>
            Sign out the others
          </Button>
          <Button tone="danger" onClick={() => setEnding('all')}>
            Sign out everywhere
          </Button>
        </div>
      }
    >
      <QueryPanel query={sessions} label="Your sessions">
        {(rows) => <SessionTable rows={rows} />}
      </QueryPanel>
      {ending === null ? null : <EndDialog which={ending} onClose={() => setEnding(null)} />}
    </Page>
  );
}

function SessionTable({ rows }: { rows: readonly MySession[] }) {
  const queries = useQueryClient();
  const end = useMutation({
    // The one that asks leaves as by "Sign out": at the sign-in service too, or the next click would let it in again.
    mutationFn: (session: MySession) => (session.current ? signOut() : api.endMySession({ session: session.id })),
    onSuccess: async (_answer, session) => {
      if (session.current) return;
      await queries.invalidateQueries({ queryKey: KEY });
      toast.success(`${session.device} is signed out.`);
    },
    onError: (_error, session) => void toast.error(`${session.device} is still signed in: the server did not do it. Try again.`),
  });
  const columns: Column<MySession>[] = [
    {
      label: 'Browser',
      phone: 'title',
      cell: (session) => (
        <span className="flex flex-wrap items-center gap-2 font-medium">
          {session.device} {session.current ? <Badge tone="accent">This one</Badge> : null}
        </span>
      ),
    },
    { label: 'Address', cell: (session) => <span className="font-mono text-xs break-all text-ink-muted">{session.address ?? 'not known'}</span> },
    { label: 'Signed in', cell: (session) => <Ago at={session.createdAt} className="whitespace-nowrap text-ink-muted" /> },
    { label: 'Last seen', cell: (session) => <Ago at={session.lastSeenAt} className="whitespace-nowrap text-ink-muted" /> },
    { label: 'Ends', cell: (session) => <Ahead at={session.expiresAt} className="whitespace-nowrap text-ink-muted" /> },
    {
      label: 'Actions',
      unnamed: true,
      align: 'end',
      phone: 'actions',
      cell: (session) => (
        <Button
          size="small"
          tone="danger"
          aria-label={`Sign out ${session.current ? 'this browser' : session.device}`}
          busy={end.isPending && end.variables.id === session.id}
          onClick={() => end.mutate(session)}
        >
          Sign out
        </Button>
      ),
    },
  ];
  return <Table label="Sessions" columns={columns} rows={rows} rowKey={(session) => session.id} />;
}

function EndDialog({ which, onClose }: { which: 'others' | 'all'; onClose: () => void }) {
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
      toast.success(ended === 1 ? 'One browser is signed out.' : `${ended} browsers are signed out.`);
      onClose();
    },
  });
  return (
    <ConfirmDialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={which === 'all' ? 'Sign out everywhere?' : 'Sign out the others?'}
      confirmLabel="Sign out"
      busy={end.isPending}
      onConfirm={() => end.mutate()}
    >
      <p>
        {which === 'all' ? 'Every browser, this one too, has to sign in again.' : 'Every browser but this one has to sign in again.'} It takes two seconds.
        Agents go on with their work, and API keys stay as they are.
      </p>
      <ErrorNotice error={end.error} />
    </ConfirmDialog>
  );
}
