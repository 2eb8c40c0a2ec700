'use client';
import type { Me } from '@slipway/contracts/organizations';
import type { ReactNode } from 'react';
import { failureOf } from '../../api/failure.ts';
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
  if (me === undefined && error !== null && failureOf(error).code !== 'auth.missing')
    return (
      <main className="p-6">
        <Failed error={error} retry={() => refetch()} className="max-w-xl" />
      </main>
    );
  if (me === undefined) return <FrameSkeleton />;
  return me.gates.length > 0 ? <Gates me={me} /> : children(me);
}
