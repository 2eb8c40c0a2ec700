import {
  type EgressRequest,
  MAX_EGRESS_REQUESTS_PER_HOUR,
  MAX_WAITING_EGRESS_REQUESTS,
} from '@slipway/contracts/sandboxes';

const HOUR_MS = 3_600_000;
/** Of requests for hosts; others have bounds of their own. */
const OF_HOSTS = /^egq_/;

export type Bound =
  | { readonly kind: 'waiting'; readonly count: number }
  | { readonly kind: 'hour'; readonly count: number; readonly until: string };

/**
 * Why a sandbox that asks for one more host is refused without a request; `null`: it is not. The hour comes first: an
 * answer does not end it.
 */
export function boundOf(requests: readonly EgressRequest[], now: number): Bound | null {
  const ofHosts = requests.filter(({ id }) => OF_HOSTS.test(id));
  const times = ofHosts.map(({ createdAt }) => Date.parse(createdAt)).filter((at) => at > now - HOUR_MS);
  const first = times.sort((a, b) => b - a)[MAX_EGRESS_REQUESTS_PER_HOUR - 1];
  if (first !== undefined) return { kind: 'hour', count: times.length, until: new Date(first + HOUR_MS).toISOString() };
  const waiting = ofHosts.filter(({ state }) => state === 'waiting').length;
  return waiting >= MAX_WAITING_EGRESS_REQUESTS ? { kind: 'waiting', count: waiting } : null;
}
