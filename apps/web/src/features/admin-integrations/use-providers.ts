'use client';
import type { IntegrationProviderList } from '@slipway/contracts/integrations';
import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { api } from '../../api/client.ts';
import { useSession } from '../session/me.ts';

/** What can be connected; it changes with releases only. */
export function useProviders(): UseQueryResult<IntegrationProviderList> {
  const { org } = useSession();
  return useQuery({
    queryKey: ['integration-providers', org.id],
    queryFn: ({ signal }) => api.listIntegrationProviders({ org: org.id, signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
}
