import type { CallerUser } from '@slipway/contracts/agent';
import type { Role } from '@slipway/contracts/organizations';
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
  /** The user, as agent-server and readers of the log see them. */
  readonly user: CallerUser;
}

interface GrantRow {
  readonly id: string;
  readonly org_id: string;
  readonly user_id: string;
  readonly conversation_id: string;
  readonly port: number;
  readonly expires_at: Date;
  readonly role: Role;
  readonly label: string;
  readonly kind: CallerUser['kind'];
}

/** Those of the grants that hold; what is missing in the answer holds no longer. */
export async function liveGrants(pool: SqlPool, ids: readonly string[]): Promise<LiveGrant[]> {
  const { rows } = await pool.query<GrantRow>({
    name: 'live-sandbox-grants-named',
    text: 'SELECT id, org_id, user_id, conversation_id, port, expires_at, role, label, kind FROM app.live_sandbox_grants_named($1)',
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
    user: { id: row.user_id, label: row.label, kind: row.kind },
  }));
}

/**
 * Spends the ticket with this hash. @returns the id of its grant, or `null` when it is unknown, spent, late, or another
 * address's.
 */
export async function redeemTicket(
  pool: SqlPool,
  hash: Buffer,
  conversation: string,
  port: number,
): Promise<string | null> {
  const { rows } = await pool.query<{ id: string }>('SELECT id FROM app.redeem_sandbox_ticket($1, $2, $3)', [
    hash,
    conversation,
    port,
  ]);
  return rows[0]?.id ?? null;
}

/**
 * Notes that these accesses were used, each so many seconds ago. Repeatable: what is noted is never made older, and one
 * that is gone is none.
 */
export async function noteUse(
  pool: SqlPool,
  uses: ReadonlyArray<readonly [id: string, secondsAgo: number]>,
): Promise<void> {
  await pool.query({
    name: 'note-sandbox-use',
    text: 'SELECT app.note_sandbox_use($1, $2)',
    values: [uses.map(([id]) => id), uses.map(([, secondsAgo]) => secondsAgo)],
  });
}

/**
 * Notes that the holder of an access steers, from now on for so many seconds. Repeatable. False: the access holds no
 * longer.
 */
export async function steerThrough(pool: SqlPool, grantId: string, seconds: number): Promise<boolean> {
  const { rows } = await pool.query<{ noted: boolean }>({
    name: 'steer-through-sandbox',
    text: 'SELECT app.steer_through_sandbox($1, $2) AS noted',
    values: [grantId, seconds],
  });
  return rows[0]?.noted === true;
}

export interface SpendingAnswer {
  /** What holds them back: their budget, or with `whose: null` the organization's. */
  readonly stop: { readonly whose: string | null; readonly limitUsd: string; readonly until: Date } | null;
  /** llm-gateway has acknowledged who pays. */
  readonly applied: boolean;
}

/**
 * Asks for the holder of an access to agent-server; with `pays` their conversation counts for them from now on. `null`:
 * the access holds no longer. Repeatable.
 */
export async function spendThrough(pool: SqlPool, grantId: string, pays: boolean): Promise<SpendingAnswer | null> {
  const { rows } = await pool.query<{
    whose: string | null;
    limit_usd: string | null;
    until: Date | null;
    applied: boolean;
  }>({
    name: 'spend-through-sandbox',
    text: 'SELECT whose, limit_usd, until, told AS applied FROM app.spend_through_sandbox($1, $2)',
    values: [grantId, pays],
  });
  const [row] = rows;
  if (row === undefined) return null;
  const { whose, limit_usd, until, applied } = row;
  return { stop: limit_usd === null || until === null ? null : { whose, limitUsd: limit_usd, until }, applied };
}

/** Whether llm-gateway has acknowledged who pays for the conversation, whoever that is by now. */
export async function isSpenderApplied(pool: SqlPool, conversation: string): Promise<boolean> {
  const { rows } = await pool.query<{ applied: boolean }>({
    name: 'spender-applied',
    text: 'SELECT NOT EXISTS (SELECT 1 FROM app.conversation_spender WHERE conversation_id = $1 AND applied IS NULL) AS applied',
    values: [conversation],
  });
  return rows[0]?.applied === true;
}

/** Wants llm-gateway to know a pass of the holder of an access, by its SHA-256. False: the access holds no longer. */
export async function requestChargePass(pool: SqlPool, grantId: string, hash: Buffer): Promise<boolean> {
  const { rows } = await pool.query<{ requested: boolean }>({
    name: 'request-charge-pass',
    text: 'SELECT app.request_charge_pass($1, $2) AS requested',
    values: [grantId, hash],
  });
  return rows[0]?.requested === true;
}

/** Whether llm-gateway knows the pass: worker takes the row away then. */
export async function isPassApplied(pool: SqlPool, hash: Buffer): Promise<boolean> {
  const { rows } = await pool.query<{ applied: boolean }>({
    name: 'charge-pass-applied',
    text: 'SELECT NOT EXISTS (SELECT 1 FROM app.charge_pass_request WHERE hash = $1) AS applied',
    values: [hash],
  });
  return rows[0]?.applied === true;
}
