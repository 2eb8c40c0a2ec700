'use client';
import type { Me } from '@slipway/contracts/organizations';
import type { ReactNode } from 'react';
import { failureOf } from '../../api/failure.ts';
import { useHydrated } from '../../browser/hydrated.ts';
import { Failed } from '../frame/failed.tsx';
import { FrameSkeleton } from '../frame/frame-skeleton.tsx';
import { Gates } from './gates.tsx';
import { useMe } from './me.ts';

/**
 * What is for a signed-in user who has nothing to do first. Without a session the page leads to sign-in; a gate takes
 * the page's place, and its address stays.
 */
export function SignedIn({ children }: { children: (me: Me) => ReactNode }) {
  const { data: me, error, refetch } = useMe();
  const hydrated = useHydrated();
  if (me === undefined && error !== null && failureOf(error).code !== 'auth.missing')
    return (
      <main className="p-6">
        <Failed error={error} retry={() => refetch()} className="max-w-xl" />
      </main>
    );
  if (me === undefined) return <FrameSkeleton />;
  return (
    // What the server drew can be read; its buttons and fields wait for their scripts.
    <fieldset role="presentation" disabled={!hydrated} className="contents">
      {me.gates.length > 0 ? <Gates me={me} /> : children(me)}
    </fieldset>
  );
}
