import type { ErrorCode } from '@slipway/contracts/errors';
import type { SqlPool } from '@slipway/db/sql';
import { estimateSeconds, type OrgShare, placeInOrg, positionOf, type WaitingClaim } from '@slipway/domain';
import { SlipwayError } from '@slipway/errors';
import { readQueue } from './waiting.queries.js';

/** Assumed until one was measured. Seconds from the intent of a sandbox until it is ready. */
const LEAD_SECONDS = 30;
/** Problems that need an action: reported instead of `sandbox.no-capacity` while nothing is ready. */
const SAID_INSTEAD: ReadonlySet<string> = new Set<ErrorCode>([
  'sandbox.image-unavailable',
  'sandbox.unschedulable',
  'sandbox.refused',
  'sandbox.forbidden',
  'sandbox.cluster-unavailable',
]);

/** The limit of an organization and how much of it is in use. Both count a sandbox of size n as n. */
export function quotaReached({ inUse, cap }: { readonly inUse: number; readonly cap: number }, size = 1): SlipwayError {
  const detail =
    size > cap
      ? `The organization may run ${cap} sandboxes, and one of size ${size} counts ${size} times: it would be over its limit.`
      : size === 1
        ? `The organization runs ${inUse} of ${cap} ${cap === 1 ? 'sandbox' : 'sandboxes'}, which is its limit.`
        : `The organization runs ${inUse} of ${cap} sandboxes, and one of size ${size} counts ${size} times: it would be over its limit.`;
  return new SlipwayError('sandbox.quota', detail, { retryAfterSeconds: 10 });
}

/**
 * Answer to a claim whose wait is over: its position, how many wait, an estimate, and the reason. The position is kept
 * for 10 s: a repetition continues with it.
 */
export async function noCapacity(db: SqlPool, poolId: string, claimId: string): Promise<SlipwayError> {
  const queue = await readQueue(db, poolId);
  const place = positionOf(queue.turns, queue.waiting, queue.shares, claimId);
  // Another replica may have served it at this moment: then it is next, and the repetition finds it.
  const position = place?.position ?? 1;
  const { problem } = queue;
  if (place?.atCap === true) {
    const claim = queue.waiting.find((each) => each.claimId === claimId) as WaitingClaim;
    const share = queue.shares.get(claim.orgId) as OrgShare;
    const { detail } = quotaReached(share, claim.cost);
    const ownPlace = placeInOrg(queue.waiting, claim);
    const queueLength = queue.waiting.filter(({ orgId }) => orgId === claim.orgId).length;
    return new SlipwayError('sandbox.quota', detail, {
      retryAfterSeconds: 1,
      extensions: { position: ownPlace, queueLength, estimateSeconds: null, reason: detail },
    });
  }
  // The time until an operator acts is unknown.
  const isStuck = problem !== null && SAID_INSTEAD.has(problem.code) && queue.ready === 0;
  const estimate = isStuck ? null : estimateSeconds(position, queue.readyRate, queue.leadSeconds ?? LEAD_SECONDS);
  const queueLength = Math.max(position, queue.waiting.length);
  const extensions = { position, queueLength, estimateSeconds: estimate, reason: problem?.detail ?? null };
  if (isStuck) return new SlipwayError(problem.code as ErrorCode, problem.detail, { retryAfterSeconds: 1, extensions });
  return new SlipwayError('sandbox.no-capacity', 'No sandbox became free in time.', {
    retryAfterSeconds: 1,
    extensions,
  });
}
