/**
 * Who of those that wait for a sandbox gets the next one: weighted deficit round robin over organizations.
 *
 * The rule, which `runtime.serve_waiting` holds in SQL (`fair-queue.vectors.ts` is for both):
 *
 * 1. A pool keeps {deficit, turn} for each organization that waits for it, and for no other. Turns are numbers; NEXT is
 *   one more than the largest of the pool, 1 without any.
 * 2. Organizations that wait and have no row get one, in the order of their oldest claims: deficit = weight, turn =
 *   NEXT. Rows of those that do not wait are dropped: whoever was idle has no credit.
 * 3. The head of an organization is its oldest interactive claim, or when none waits its oldest batch claim.
 * 4. Visit the organization with the least turn among those whose head fits: in use + cost of the head ≤ cap. When
 *   there is none, or nothing is free, end.
 * 5. When deficit < cost of the head: deficit += weight, turn = NEXT. Go to 4.
 * 6. Otherwise serve the head: it takes one free sandbox, deficit -= cost, in use += cost.
 *    Nothing waits any more: drop the row. The new head costs more than the deficit: deficit += weight, turn = NEXT. Go
 *    to 4.
 *
 * A deficit stays below weight + the largest cost, so no organization is more than one turn ahead of its share. Order
 * inside an organization and a lane is that of arrival.
 */

export interface WaitingClaim {
  readonly claimId: string;
  readonly orgId: string;
  /** Resource factor of the sandbox: 1, 2, 4 or 8. */
  readonly cost: number;
  readonly lane: 'interactive' | 'batch';
  /** Order of arrival in the pool; no two are equal. */
  readonly arrival: number;
}

export interface OrgShare {
  /** A positive whole number. */
  readonly weight: number;
  /** Largest sum of costs that it may hold at once. */
  readonly cap: number;
  /** Sum of costs that it holds now. */
  readonly inUse: number;
}

export interface OrgTurn {
  readonly deficit: number;
  readonly turn: number;
}

/** By organization; only those that wait. Begins empty. */
export type QueueState = ReadonlyMap<string, OrgTurn>;

export interface Served {
  readonly served: readonly WaitingClaim[];
  readonly state: QueueState;
}

/**
 * Gives up to `free` sandboxes to those that wait, first served first. Pure: no argument is changed.
 * @throws RangeError for a weight below 1, a share that is missing, or a cost that is not positive: each of them would
 * turn for ever.
 */
export function serveWaiting(
  state: QueueState,
  waiting: readonly WaitingClaim[],
  shares: ReadonlyMap<string, OrgShare>,
  free: number,
): Served {
  const queues = byOrg(waiting, shares);
  const rows = new Map([...state].filter(([orgId]) => queues.has(orgId)));
  const next = (): number => 1 + Math.max(0, ...[...rows.values()].map((row) => row.turn));
  for (const [orgId, queue] of queues)
    if (!rows.has(orgId)) rows.set(orgId, { deficit: queue.share.weight, turn: next() });

  const served: WaitingClaim[] = [];
  while (served.length < free) {
    const orgId = whoseTurn(rows, queues);
    if (orgId === null) break;
    const queue = queues.get(orgId) as OrgQueue;
    const deficit = rows.get(orgId)?.deficit ?? 0;
    const head = queue.claims[queue.at] as WaitingClaim;
    if (deficit < head.cost) {
      rows.set(orgId, { deficit: deficit + queue.share.weight, turn: next() });
      continue;
    }
    served.push(head);
    queue.at += 1;
    queue.inUse += head.cost;
    const left = deficit - head.cost;
    const following = queue.claims[queue.at];
    if (following === undefined) rows.delete(orgId);
    else if (following.cost > left) rows.set(orgId, { deficit: left + queue.share.weight, turn: next() });
    else rows.set(orgId, { deficit: left, turn: rows.get(orgId)?.turn ?? 0 });
  }
  return { served, state: rows };
}

export interface QueuePosition {
  /** 1 is the next to be served. */
  readonly position: number;
  /**
   * Its organization holds all that it may: it waits for the organization's own sandboxes, and its position is behind
   * all others.
   */
  readonly atCap: boolean;
}

/**
 * How many are served before this claim without new arrivals: first all within the caps, then the others as caps get
 * free. `null` when it does not wait.
 */
export function positionOf(
  state: QueueState,
  waiting: readonly WaitingClaim[],
  shares: ReadonlyMap<string, OrgShare>,
  claimId: string,
): QueuePosition | null {
  const within = serveWaiting(state, waiting, shares, waiting.length);
  const at = within.served.findIndex((claim) => claim.claimId === claimId);
  if (at >= 0) return { position: at + 1, atCap: false };
  const done = new Set(within.served);
  const rest = waiting.filter((claim) => !done.has(claim));
  const lifted = new Map([...shares].map(([orgId, share]) => [orgId, { ...share, cap: Number.POSITIVE_INFINITY }]));
  const later = serveWaiting(within.state, rest, lifted, rest.length).served.findIndex(
    (claim) => claim.claimId === claimId,
  );
  return later < 0 ? null : { position: within.served.length + later + 1, atCap: true };
}

/**
 * How many of its own organization are served before this claim, and itself: 1 is the next one. The place of a claim
 * whose organization is at its limit.
 */
export function placeInOrg(waiting: readonly WaitingClaim[], claim: WaitingClaim): number {
  const isBefore = (other: WaitingClaim): boolean =>
    other.lane === claim.lane ? other.arrival <= claim.arrival : other.lane === 'interactive' && claim.lane === 'batch';
  return waiting.filter((other) => other.orgId === claim.orgId && isBefore(other)).length;
}

/**
 * Whole seconds until the claim at `position` is served, at least 1. For a claim that is not at its cap. The first
 * sandbox is never further than a refill; those behind it come at the rate of late. Without a rate all that is missing
 * is being made side by side, one refill away.
 * @param recentReadyRate sandboxes a second that became ready of late, 0 when none did.
 * @param leadSeconds measured p99 from the intent of a sandbox until it is ready.
 */
export function estimateSeconds(position: number, recentReadyRate: number, leadSeconds: number): number {
  if (recentReadyRate <= 0) return Math.max(1, Math.ceil(leadSeconds));
  const first = Math.min(leadSeconds, 1 / recentReadyRate);
  return Math.max(1, Math.ceil(first + (position - 1) / recentReadyRate));
}

interface OrgQueue {
  readonly claims: readonly WaitingClaim[];
  readonly share: OrgShare;
  /** Index of the head. */
  at: number;
  inUse: number;
}

/**
 * Claims of each organization in the order in which they are served; organizations in the order of their oldest claims.
 */
function byOrg(waiting: readonly WaitingClaim[], shares: ReadonlyMap<string, OrgShare>): Map<string, OrgQueue> {
  const claims = new Map<string, WaitingClaim[]>();
  for (const claim of [...waiting].sort((a, b) => a.arrival - b.arrival)) {
    if (!(claim.cost > 0)) throw new RangeError(`claim ${claim.claimId} costs ${claim.cost}`);
    const own = claims.get(claim.orgId);
    if (own === undefined) claims.set(claim.orgId, [claim]);
    else own.push(claim);
  }
  const queues = new Map<string, OrgQueue>();
  for (const [orgId, own] of claims) {
    const share = shares.get(orgId);
    if (share === undefined || !(share.weight >= 1))
      throw new RangeError(`organization ${orgId} has the weight ${share?.weight}`);
    const ordered = [
      ...own.filter((claim) => claim.lane === 'interactive'),
      ...own.filter((claim) => claim.lane === 'batch'),
    ];
    queues.set(orgId, { claims: ordered, share, at: 0, inUse: share.inUse });
  }
  return queues;
}

function whoseTurn(rows: ReadonlyMap<string, OrgTurn>, queues: ReadonlyMap<string, OrgQueue>): string | null {
  let found: string | null = null;
  let least = Number.POSITIVE_INFINITY;
  for (const [orgId, { turn }] of rows) {
    const queue = queues.get(orgId) as OrgQueue;
    const head = queue.claims[queue.at] as WaitingClaim;
    if (turn >= least || queue.inUse + head.cost > queue.share.cap) continue;
    found = orgId;
    least = turn;
  }
  return found;
}
