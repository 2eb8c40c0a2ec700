import { asSystem, type Columns, inOrg, type SqlPool } from '@slipway/db/sql';
import { keyIdOf } from '../keys/virtual-key-token.js';
import {
  dropLimits,
  type LimitedKind,
  type LimitFields,
  type Limits,
  readLimits,
  setLimits,
} from './limits.queries.js';

/** The organization of keys and users that name none. */
export const DEFAULT_ORG = 'default';
/** When a key ends that never does. */
export const NEVER = new Date('9999-01-01T00:00:00Z');

export interface NewKey {
  readonly id: string;
  readonly orgId: string;
  readonly conversationId: string;
  /** It is the conversation's: those before it end, and its budget is the conversation's. */
  readonly bound: boolean;
  readonly userId: string | null;
  readonly alias: string | null;
  readonly models: readonly string[];
  readonly hash: Buffer;
  readonly expiresAt: Date;
  /** Those before it work until then at most; `null`: they end with this. */
  readonly graceUntil: Date | null;
  readonly blocked: boolean;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly sealedProviders: Buffer | null;
  readonly limits: LimitFields;
}

/** Stores a key with what limits it, in one commit. Answers it as it is then, and the ids of those that it replaced. */
export function storeKey(pool: SqlPool, key: NewKey, at: Date): Promise<{ info: KeyInfo; ended: string[] }> {
  return inOrg(pool, key.orgId, async (client) => {
    const { rows } = await client.query<{ ended: string[] }>({
      name: 'issue-key',
      text: 'SELECT gateway.issue_key($1, $2, $3, $4, $5, $6, $7, $8) AS ended',
      values: [key.id, key.orgId, key.conversationId, key.userId, key.alias, key.models, key.hash, key.expiresAt],
    });
    const ended = rows[0]?.ended ?? [];
    // In the same commit, under the lock of `issue_key`, so that no reader sees them ended. Those that had some grace
    // left keep it, or end now.
    if (key.graceUntil !== null)
      await client.query('UPDATE gateway.virtual_key SET revoked_at = $2 WHERE id = ANY ($1)', [ended, key.graceUntil]);
    else {
      const late = await client.query<Columns<'gateway.virtual_key', 'id'>>(
        'UPDATE gateway.virtual_key SET revoked_at = now() WHERE conversation_id = $1 AND revoked_at > now() RETURNING id',
        [key.conversationId],
      );
      ended.push(...late.rows.map(({ id }) => id));
    }
    const { rows: stored } = await client.query<Row>({
      name: 'complete-key',
      text: `UPDATE gateway.virtual_key SET metadata = $2, sealed_providers = $3, blocked = $4 WHERE id = $1 RETURNING ${COLUMNS}`,
      values: [key.id, JSON.stringify(key.metadata), key.sealedProviders, key.blocked],
    });
    const { rpm_limit, tpm_limit, max_budget, budget_duration } = key.limits;
    await setLimits(client, key.orgId, {
      kind: key.bound ? 'conversation' : 'key',
      subject: key.bound ? key.conversationId : key.id,
      fields: {
        max_budget: max_budget ?? undefined,
        budget_duration: budget_duration ?? undefined,
      },
    });
    await setLimits(client, key.orgId, {
      kind: 'key',
      subject: key.id,
      fields: { rpm_limit: rpm_limit ?? undefined, tpm_limit: tpm_limit ?? undefined },
    });
    const [row] = stored;
    if (row === undefined) throw new Error('a key that was stored is not there');
    return {
      info: infoOf(row, await readLimits(client, key.orgId, { kind: 'key', subject: key.id, at, money: moneyOf(row) })),
      ended,
    };
  });
}

export interface KeyInfo extends Limits {
  readonly token: string;
  readonly key_id: string;
  readonly key_name: string;
  readonly key_alias: string | null;
  readonly team_id: string;
  readonly user_id: string | null;
  readonly models: readonly string[];
  readonly expires: string | null;
  readonly blocked: boolean;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly created_at: string;
}

type Row = Columns<
  'gateway.virtual_key',
  | 'id'
  | 'org_id'
  | 'conversation_id'
  | 'user_id'
  | 'alias'
  | 'models'
  | 'hash'
  | 'expires_at'
  | 'blocked'
  | 'metadata'
  | 'created_at',
  { metadata: Record<string, unknown> }
>;
const COLUMNS = 'id, org_id, conversation_id, user_id, alias, models, hash, expires_at, blocked, metadata, created_at';

/** By the key itself, its id, or its SHA-256 in hex. A key that was ended is none. */
async function rowsOf(pool: SqlPool, names: readonly string[]): Promise<Row[]> {
  const ids = names.map((name) => keyIdOf(name) ?? name);
  const hashes = names.filter((name) => /^[0-9a-f]{64}$/.test(name)).map((name) => Buffer.from(name, 'hex'));
  return asSystem(pool, 'slipway_gateway_system', 'the master key names a key and no organization', async (client) => {
    const { rows } = await client.query<Row>(
      `SELECT ${COLUMNS} FROM gateway.virtual_key WHERE (revoked_at IS NULL OR revoked_at > now()) AND (id = ANY ($1) OR hash = ANY ($2)) ORDER BY created_at`,
      [ids, hashes],
    );
    return rows;
  });
}

/** `null`: there is no such key. */
export async function keyInfo(pool: SqlPool, name: string, at: Date): Promise<KeyInfo | null> {
  const [row] = await rowsOf(pool, [name]);
  return row === undefined
    ? null
    : inOrg(pool, row.org_id, async (client) =>
        infoOf(row, await readLimits(client, row.org_id, { kind: 'key', subject: row.id, at, money: moneyOf(row) })),
      );
}

export interface KeysPage {
  readonly userId: string | null;
  readonly at: Date;
  readonly limit?: number | undefined;
}

/** Newest first, at most `limit`. `null`: of all. */
export async function keysOf(pool: SqlPool, orgId: string, { userId, at, limit = 100 }: KeysPage): Promise<KeyInfo[]> {
  return inOrg(pool, orgId, async (client) => {
    const { rows } = await client.query<Row>(
      `SELECT ${COLUMNS} FROM gateway.virtual_key WHERE org_id = $1 AND ($2::text IS NULL OR user_id = $2) AND (revoked_at IS NULL OR revoked_at > now()) AND expires_at > $3 ORDER BY created_at DESC LIMIT $4`,
      [orgId, userId, at, limit],
    );
    const keys: KeyInfo[] = [];
    for (const row of rows)
      keys.push(
        infoOf(row, await readLimits(client, orgId, { kind: 'key', subject: row.id, at, money: moneyOf(row) })),
      );
    return keys;
  });
}

export interface KeyChange {
  readonly alias?: string | null;
  readonly models?: readonly string[];
  readonly expiresAt?: Date;
  readonly blocked?: boolean;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly limits: LimitFields;
}

/** What is absent stays. `null`: there is no such key. */
export async function changeKey(pool: SqlPool, name: string, change: KeyChange, at: Date): Promise<KeyInfo | null> {
  const [row] = await rowsOf(pool, [name]);
  if (row === undefined) return null;
  return inOrg(pool, row.org_id, async (client) => {
    const { rows } = await client.query<Row>(
      `UPDATE gateway.virtual_key SET alias = CASE WHEN $2 THEN $3::text ELSE alias END, models = coalesce($4::text[], models), expires_at = coalesce($5::timestamptz, expires_at), blocked = coalesce($6::boolean, blocked),
         metadata = coalesce($7::jsonb, metadata) WHERE id = $1 RETURNING ${COLUMNS}`,
      [
        row.id,
        change.alias !== undefined,
        change.alias ?? null,
        change.models ?? null,
        change.expiresAt ?? null,
        change.blocked ?? null,
        // What binds it stays what it is.
        change.metadata === undefined
          ? null
          : JSON.stringify({ ...change.metadata, ...(isBound(row) ? { conversation_id: row.conversation_id } : {}) }),
      ],
    );
    const [after] = rows;
    if (after === undefined) return null;
    const { max_budget, budget_duration, rpm_limit, tpm_limit } = change.limits;
    const money = moneyOf(row);
    await setLimits(client, row.org_id, {
      kind: money.kind,
      subject: money.subject,
      fields: { max_budget, budget_duration },
    });
    await setLimits(client, row.org_id, { kind: 'key', subject: row.id, fields: { rpm_limit, tpm_limit } });
    return infoOf(after, await readLimits(client, row.org_id, { kind: 'key', subject: row.id, at, money }));
  });
}

/** Ends keys by their names or aliases. Answers what was named and found, and the ids of all that ended. */
export async function endKeys(
  pool: SqlPool,
  names: readonly string[],
  aliases: readonly string[],
): Promise<{ named: string[]; ids: string[] }> {
  const found = await rowsOf(pool, names);
  return asSystem(pool, 'slipway_gateway_system', 'the master key ends keys of any organization', async (client) => {
    const { rows } = await client.query<Columns<'gateway.virtual_key', 'id' | 'org_id' | 'alias'>>(
      'UPDATE gateway.virtual_key SET revoked_at = now() WHERE (revoked_at IS NULL OR revoked_at > now()) AND (id = ANY ($1) OR alias = ANY ($2)) RETURNING id, org_id, alias',
      [found.map(({ id }) => id), aliases],
    );
    for (const { id, org_id } of rows) await dropLimits(client, org_id, 'key', [id]);
    const ids = new Set(rows.map(({ id }) => id));
    const isOf = (row: Row, name: string): boolean =>
      row.id === (keyIdOf(name) ?? name) || row.hash.toString('hex') === name;
    return {
      named: [
        ...names.filter((name) => found.some((row) => ids.has(row.id) && isOf(row, name))),
        ...aliases.filter((alias) => rows.some((row) => row.alias === alias)),
      ],
      ids: [...ids],
    };
  });
}

function isBound(row: Row): boolean {
  return row.metadata['conversation_id'] === row.conversation_id;
}

function moneyOf(row: Row): { kind: LimitedKind; subject: string } {
  return isBound(row) ? { kind: 'conversation', subject: row.conversation_id } : { kind: 'key', subject: row.id };
}

function infoOf(row: Row, limits: Awaited<ReturnType<typeof readLimits>>): KeyInfo {
  return {
    token: row.hash.toString('hex'),
    key_id: row.id,
    key_name: `slp_llm_${row.id.slice('key_'.length)}…`,
    key_alias: row.alias,
    team_id: row.org_id,
    user_id: row.user_id,
    models: row.models,
    expires: row.expires_at.getTime() >= NEVER.getTime() ? null : row.expires_at.toISOString(),
    blocked: row.blocked,
    metadata: row.metadata,
    created_at: row.created_at.toISOString(),
    ...limits,
  };
}
