'use client';
import type { Me, Org } from '@slipway/contracts/organizations';
import { useQueryClient } from '@tanstack/react-query';

/**
 * Takes what the server answered about an organization into who is signed in. Not read again at once: another replica
 * may know of it a second later. Everything else that was read of organizations is old by then, and is read again.
 */
export function useMyOrgs(): { put(org: Org): Promise<void>; drop(orgId: string): Promise<void> } {
  const queries = useQueryClient();
  const change = async (orgs: (orgs: readonly Org[]) => Org[]) => {
    // One that is on its way would bring the old ones back.
    await queries.cancelQueries({ queryKey: ['me'] });
    queries.setQueryData<Me>(['me'], (me) => me && { ...me, orgs: orgs(me.orgs) });
    await queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'me' });
  };
  return {
    put: (org) =>
      change((orgs) =>
        orgs.some(({ id }) => id === org.id) ? orgs.map((each) => (each.id === org.id ? org : each)) : [...orgs, org],
      ),
    drop: (orgId) => change((orgs) => orgs.filter(({ id }) => id !== orgId)),
  };
}
