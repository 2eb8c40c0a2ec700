'use client';
import type { MySettings, UpdateMySettings } from '@slipway/contracts/identity';
import { type UseQueryResult, useQuery, useQueryClient } from '@tanstack/react-query';
import { api } from '../../api/client.ts';

const KEY = ['my-settings'];

/** What the user has chosen for themselves. */
export function useMySettings(): UseQueryResult<MySettings> {
  return useQuery({ queryKey: KEY, queryFn: ({ signal }) => api.getMySettings({ signal }), staleTime: 60_000 });
}

/**
 * Changes some of them. The version that was read goes along: a change of another tab is not overwritten, but refused
 * (`settings.changed`), and what is there now is read.
 */
export function useSaveMySettings(): (body: UpdateMySettings) => Promise<MySettings> {
  const queries = useQueryClient();
  return async (body) => {
    const known = await queries.ensureQueryData<MySettings>({
      queryKey: KEY,
      queryFn: ({ signal }) => api.getMySettings({ signal }),
    });
    try {
      const saved = await api.updateMySettings({ body, ifMatch: known.version });
      queries.setQueryData(KEY, saved);
      return saved;
    } catch (error) {
      void queries.invalidateQueries({ queryKey: KEY });
      throw error;
    }
  };
}
