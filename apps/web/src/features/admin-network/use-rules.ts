import { useQuery } from '@tanstack/react-query';
import { api } from '../../api/client.ts';
import { useSession } from '../session/me.ts';

/** The organization's rules, and whether anything here enforces them. */
export function useRules() {
  const { org } = useSession();
  return useQuery({
    queryKey: ['egress-rules', org.id],
    queryFn: ({ signal }) => api.listEgressRules({ org: org.id, signal }),
  });
}
