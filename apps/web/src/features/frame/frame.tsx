'use client';
import { Button, EmptyState } from '@slipway/ui';
import Link from 'next/link';
import { useParams } from 'next/navigation';
import { type ReactNode, useMemo } from 'react';
import { failureOf } from '../../api/failure.ts';
import { SessionContext, useMe } from '../session/me.ts';
import { Failed } from './failed.tsx';
import { FrameSkeleton } from './frame-skeleton.tsx';
import { CompactHeader, Rail } from './navigation.tsx';
import { OfflineNote } from './offline-note.tsx';

/** The rail and the organization of the address. Pages under it may take the session for granted. */
export function Frame({ children }: { children: ReactNode }) {
  const { org: slug } = useParams<{ org: string }>();
  const { data: me, error, refetch } = useMe();
  const org = me?.orgs.find((candidate) => candidate.slug === slug || candidate.id === slug);
  const session = useMemo(() => (me !== undefined && org !== undefined ? { me, org } : null), [me, org]);
  if (me === undefined && error && failureOf(error).code !== 'auth.missing') return <Failed error={error} retry={() => refetch()} className="m-6 max-w-xl" />;
  if (me === undefined) return <FrameSkeleton />;
  if (session === null)
    return (
      <main className="grid h-dvh place-items-center">
        <EmptyState
          page
          title="There is no such organization"
          action={
            <Button asChild>
              <Link href="/">Go to your own</Link>
            </Button>
          }
        >
          Check the address; you may not be a member of it.
        </EmptyState>
      </main>
    );
  return (
    <SessionContext value={session}>
      <a
        href="#content"
        className="sr-only focus:not-sr-only focus:fixed focus:top-2 focus:left-2 focus:z-50 focus:rounded-md focus:bg-accent focus:px-3 focus:py-1 focus:text-on-accent"
      >
        Skip to content
      </a>
      <div className="flex h-dvh flex-col md:flex-row">
        <CompactHeader />
        <Rail />
        <main id="content" tabIndex={-1} className="flex min-h-0 min-w-0 flex-1 flex-col outline-none">
          <OfflineNote />
          <div className="min-h-0 flex-1">{children}</div>
        </main>
      </div>
    </SessionContext>
  );
}
