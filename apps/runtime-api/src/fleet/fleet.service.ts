import type { RuntimeFleet, RuntimeQueue } from '@slipway/contracts/sandboxes';
import { estimateSeconds, positionOf } from '@slipway/domain';
import { quotaReached } from '../claims/queue-place.js';
import { type QueueSnapshot, readQueue } from '../claims/waiting.queries.js';
import type { PoolContext } from '../pool/pool-context.js';
import { readFleet, readWaiting } from './fleet.queries.js';

const MAX_LISTED = 1_000;
/** Places are counted one by one. */
const MAX_WAITING = 200;
/** Longest wait for the cluster's word on which node a sandbox is; without it the nodes are not known. Milliseconds. */
const NODES_MS = 1_000;
/** Assumed until one was measured. Seconds from the intent of a sandbox until it is ready. */
const LEAD_SECONDS = 30;

/** What an organization's sandboxes are, and who waits for one: for screens, not for the way of a claim. */
export class FleetService {
  constructor(
    private readonly context: PoolContext,
    private readonly defaultCap: number,
  ) {}

  async fleet(orgId: string): Promise<RuntimeFleet> {
    const [rows, nodes] = await Promise.all([readFleet(this.context.db, orgId, MAX_LISTED), this.nodes()]);
    return {
      sandboxes: rows.map((row) => {
        const pool = this.context.pools.find(({ poolId }) => poolId === row.poolId);
        return {
          session_id: row.sessionId,
          status: row.status,
          detail: row.detail ?? '',
          node: nodes.get(row.podName) ?? null,
          start: row.warm === null ? null : row.warm ? 'warm' : 'cold',
          // A pool that the configuration has no more is known by its key alone.
          template: pool?.image ?? row.poolId,
          size: pool?.size ?? null,
          restarts: row.restarts,
          started_at: row.startedAt.toISOString(),
        };
      }),
    };
  }

  async queue(orgId: string): Promise<RuntimeQueue> {
    const { waiting, inUse, cap } = await readWaiting(this.context.db, orgId, MAX_WAITING);
    const queues = new Map<string, QueueSnapshot>();
    for (const poolId of new Set(waiting.map((each) => each.poolId)))
      queues.set(poolId, await readQueue(this.context.db, poolId));
    return {
      in_use: inUse,
      limit: cap ?? this.defaultCap,
      waiting: waiting.flatMap((each) => {
        const queue = queues.get(each.poolId);
        const place = queue === undefined ? null : positionOf(queue.turns, queue.waiting, queue.shares, each.claimId);
        // Served between the two reads.
        if (queue === undefined || place === null) return [];
        return [
          {
            session_id: each.sessionId,
            position: place.position,
            estimate_seconds: place.atCap
              ? null
              : estimateSeconds(place.position, queue.readyRate, queue.leadSeconds ?? LEAD_SECONDS),
            reason: place.atCap
              ? quotaReached({ inUse, cap: cap ?? this.defaultCap }).detail
              : (queue.problem?.detail ?? 'No sandbox is ready yet.'),
            since: each.since.toISOString(),
          },
        ];
      }),
    };
  }

  /** Node by name of the sandbox, as far as the backend answers in time. */
  private async nodes(): Promise<ReadonlyMap<string, string>> {
    try {
      const listed = await this.context.backend.list(AbortSignal.timeout(NODES_MS));
      return new Map(
        listed.flatMap(({ name, observation }) =>
          observation.state === 'running' && observation.node !== undefined ? [[name, observation.node] as const] : [],
        ),
      );
    } catch (error) {
      this.context.logger.debug({ err: error }, 'failed to read the nodes of sandboxes');
      return new Map();
    }
  }
}
