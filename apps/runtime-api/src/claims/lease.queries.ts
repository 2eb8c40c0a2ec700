import type { SqlPool } from '@slipway/db/sql';

/** A ready slot that this replica may bind. */
export interface LeasedSlot {
  readonly slotId: string;
  readonly epoch: number;
  readonly podName: string;
  readonly podUid: string;
  readonly address: string;
}

export interface LeaseRequest {
  readonly replicaId: string;
  readonly count: number;
  readonly held: number;
  readonly seconds: number;
}

/**
 * Up to `count` slots for a replica that holds `held` of the pool; fewer when there are none, when it has its share, or
 * when claims wait.
 */
export async function leaseChunk(
  db: SqlPool,
  poolId: string,
  { replicaId, count, held, seconds }: LeaseRequest,
): Promise<LeasedSlot[]> {
  const { rows } = await db.query<LeasedSlot>({
    name: 'lease_chunk',
    text: 'SELECT slot_id AS "slotId", epoch, pod_name AS "podName", pod_uid AS "podUid", address FROM runtime.lease_chunk($1, $2, $3, $4, $5)',
    values: [poolId, replicaId, count, held, seconds],
  });
  return rows;
}

/**
 * Heartbeat of this replica, which keeps these. @returns the slots that it still leases, and the pools with waiting
 * claims.
 */
export async function renewLeases(
  db: SqlPool,
  replicaId: string,
  slots: readonly LeasedSlot[],
  seconds: number,
): Promise<{ kept: Set<string>; wanted: string[] }> {
  const { rows } = await db.query<{ kept: string[]; wanted: string[] }>({
    name: 'renew_leases',
    text: 'SELECT kept, wanted FROM runtime.renew_leases($1, $2, $3, $4)',
    values: [replicaId, slots.map((slot) => slot.slotId), slots.map((slot) => slot.epoch), seconds],
  });
  return { kept: new Set(rows[0]?.kept), wanted: rows[0]?.wanted ?? [] };
}

/** @returns how many of them were still this replica's. */
export async function returnLeases(db: SqlPool, replicaId: string, slots: readonly LeasedSlot[]): Promise<number> {
  const { rows } = await db.query<{ count: number }>({
    name: 'return_leases',
    text: 'SELECT runtime.return_leases($1, $2, $3) AS count',
    values: [replicaId, slots.map((slot) => slot.slotId), slots.map((slot) => slot.epoch)],
  });
  return rows[0]?.count ?? 0;
}
