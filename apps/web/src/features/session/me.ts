'use client';
import { ApiError } from '@slipway/api-client';
import type { Me, Org } from '@slipway/contracts';
import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { createContext, use, useEffect } from 'react';
import { api } from '../../api/client.ts';

/** Who is signed in. Without a session it leaves for the sign-in page and comes back here afterwards. */
export function useMe(): UseQueryResult<Me> {
  const me = useQuery({ queryKey: ['me'], queryFn: ({ signal }) => api.me({ signal }), staleTime: 60_000 });
  useEffect(() => {
    if (me.error instanceof ApiError && me.error.code === 'auth.missing') goToSignIn();
  }, [me.error]);
  return me;
}

/** A full load on purpose: what the page holds belongs to a session that is over. */
export function goToSignIn(): void {
  window.location.replace(`/login?redirect=${encodeURIComponent(window.location.pathname + window.location.search)}`);
}

export interface Session {
  readonly me: Me;
  readonly org: Org;
}
export const SessionContext = createContext<Session | null>(null);

/** The person and the organization of the address. Only under `Frame`. */
export function useSession(): Session {
  const session = use(SessionContext);
  if (session === null) throw new Error('useSession outside of Frame');
  return session;
}
