'use client';
import type { Me, Org } from '@slipway/contracts/organizations';
import { type QueryClient, type UseQueryResult, useQuery } from '@tanstack/react-query';
import { createContext, use } from 'react';
import { api } from '../../api/client.ts';
import { beginWriting } from '../../browser/kept-writing.ts';
import { takeReturnPath } from './sign-out.ts';

/** How soon another role, or another organization, shows by itself on a page that is looked at. Milliseconds. */
const AGAIN_MS = 60_000;

/** Who is signed in. */
export function useMe(): UseQueryResult<Me> {
  return useQuery({
    queryKey: ['me'],
    queryFn: ({ signal }) => readMe(signal),
    staleTime: 10_000,
    refetchInterval: AGAIN_MS,
  });
}

async function readMe(signal: AbortSignal): Promise<Me> {
  const me = await api.me({ signal });
  forgetOthers(me);
  return me;
}

/** Before any page shows what was written here: it may be somebody else's, or too old. */
function forgetOthers(me: Me): void {
  try {
    beginWriting(window.localStorage, me.id, Date.now());
  } catch {
    // Storage that is forbidden, or a server, holds nothing of anybody.
  }
}

/** Takes who is signed in from the page itself, so that its first render knows them. */
export function rememberMe(queries: QueryClient, me: Me): void {
  forgetOthers(me);
  queries.setQueryData<Me>(['me'], me);
}

/** A full load on purpose: what the page holds belongs to a session that is over. */
export function goToSignIn(): void {
  const here = window.location.pathname + window.location.search;
  window.location.replace(`/login?redirect=${encodeURIComponent(here === '/' ? (takeReturnPath() ?? here) : here)}`);
}

export interface Session {
  readonly me: Me;
  readonly org: Org;
}
export const SessionContext = createContext<Session | null>(null);

/** The user and the organization of the address. Only under `Frame`. */
export function useSession(): Session {
  const session = use(SessionContext);
  if (session === null) throw new Error('useSession outside of Frame');
  return session;
}
