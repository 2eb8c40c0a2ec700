'use client';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { api } from '../../api/client.ts';
import { usePages } from '../list/use-pages.ts';
import { useSession } from '../session/me.ts';

/** The organization's credentials by name, page by page. */
export function useCredentials() {
  const { org } = useSession();
  return usePages({
    key: ['credentials', org.id],
    read: (cursor, signal) => api.listCredentials({ org: org.id, query: cursor, signal }),
  });
}

/** Whether this installation has a credential-broker; `undefined` while that is not known. */
export function useBroker(): boolean | undefined {
  const { org } = useSession();
  return useQuery({
    queryKey: ['credential-broker', org.id],
    queryFn: ({ signal }) => api.listCredentials({ org: org.id, query: { limit: 1 }, signal }),
  }).data?.available;
}

/** Reads again what a change of a credential makes old: a secret may have moved. */
export function useReadAgain(): () => void {
  const { org } = useSession();
  const queries = useQueryClient();
  return () => {
    for (const key of ['credentials', 'credentials-preview', 'secrets', 'secrets-to-move'])
      void queries.invalidateQueries({ queryKey: [key, org.id] });
  };
}
