'use client';
import { useQuery } from '@tanstack/react-query';
import { api } from '../../api/client.ts';
import { useSession } from '../session/me.ts';

/**
 * Names of the variables that every conversation of the organization is given: what a server may name and be tested
 * with. Empty while they are read, and for who may not read them.
 */
export function useSecretNames(): readonly string[] {
  const { org } = useSession();
  const names = useQuery({
    queryKey: ['secrets', org.id, 'names'],
    enabled: org.permissions.includes('secret:read'),
    queryFn: async ({ signal }) => {
      const found: string[] = [];
      for (let cursor: string | null = ''; cursor !== null; ) {
        const { data, page } = await api.listSecrets({
          org: org.id,
          query: { scope: 'org', limit: 100, ...(cursor === '' ? {} : { cursor }) },
          signal,
        });
        for (const { name, kind } of data) if (kind === 'variable') found.push(name);
        cursor = page.nextCursor;
      }
      return found;
    },
  });
  return names.data ?? NONE;
}

const NONE: readonly string[] = [];
