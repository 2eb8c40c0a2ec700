import {
  type EgressRequest,
  MAX_EGRESS_REQUESTS_PER_HOUR,
  MAX_WAITING_EGRESS_REQUESTS,
} from '@slipway/contracts/sandboxes';

const HOUR_MS = 3_600_000;

export type Bound =
  | { readonly kind: 'waiting'; readonly count: number }
  | { readonly kind: 'hour'; readonly count: number; readonly until: string };

/**
 * Why a sandbox that asks once more is refused without a request; `null`: it is not. Requests for hosts and to use
 * credentials count together. The hour comes first: an answer does not end it.
 */
export function boundOf(requests: readonly EgressRequest[], now: number): Bound | null {
  const times = requests.map(({ createdAt }) => Date.parse(createdAt)).filter((at) => at > now - HOUR_MS);
  const first = times.sort((a, b) => b - a)[MAX_EGRESS_REQUESTS_PER_HOUR - 1];
  if (first !== undefined) return { kind: 'hour', count: times.length, until: new Date(first + HOUR_MS).toISOString() };
  const waiting = requests.filter(({ state }) => state === 'waiting').length;
  return waiting >= MAX_WAITING_EGRESS_REQUESTS ? { kind: 'waiting', count: waiting } : null;
}
