import type { Role } from '@slipway/contracts';
import type { SqlPool } from '@slipway/db/sql';

/** A grant that holds, as the database sees it now. */
export interface LiveGrant {
  readonly id: string;
  readonly orgId: string;
  readonly userId: string;
  readonly conversation: string;
  readonly port: number;
  readonly endsAt: Date;
  readonly role: Role;
}

/** Those of the grants that hold; what is missing in the answer holds no longer. */
export async function liveGrants(pool: SqlPool, ids: readonly string[]): Promise<LiveGrant[]> {
  const { rows } = await pool.query<{ id: string; org_id: string; user_id: string; conversation_id: string; port: number; expires_at: Date; role: Role }>({
    name: 'live-sandbox-grants',
    text: 'SELECT id, org_id, user_id, conversation_id, port, expires_at, role FROM app.live_sandbox_grants($1)',
    values: [ids],
  });
  return rows.map((row) => ({
    id: row.id,
    orgId: row.org_id,
    userId: row.user_id,
    conversation: row.conversation_id,
    port: row.port,
    endsAt: row.expires_at,
    role: row.role,
  }));
}

/** Spends the ticket with this hash. @returns the id of its grant, or `null` when it is unknown, spent, late, or another door's. */
export async function redeemTicket(pool: SqlPool, hash: Buffer, conversation: string, port: number): Promise<string | null> {
  const { rows } = await pool.query<{ id: string }>('SELECT id FROM app.redeem_sandbox_ticket($1, $2, $3)', [hash, conversation, port]);
  return rows[0]?.id ?? null;
}

/** Notes that these accesses were used, each so many seconds ago. Repeatable: what is noted is never made older, and one that is gone is none. */
export async function noteUse(pool: SqlPool, uses: ReadonlyArray<readonly [id: string, secondsAgo: number]>): Promise<void> {
  await pool.query({
    name: 'note-sandbox-use',
    text: 'SELECT app.note_sandbox_use($1, $2)',
    values: [uses.map(([id]) => id), uses.map(([, secondsAgo]) => secondsAgo)],
  });
}
