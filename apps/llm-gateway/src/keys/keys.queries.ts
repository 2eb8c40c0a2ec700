import { asSystem, type Columns, type SqlPool } from '@slipway/db/sql';
import { systemClock } from '@slipway/domain';

/** An account of a budget that limits a key's calls, until its cycle ends, in milliseconds since 1970. */
export interface KeyBudget {
  readonly account: number;
  readonly kind: 'org' | 'member' | 'key' | 'conversation';
  readonly until: number;
}

/** Calls and tokens a minute. Of kind `model` the subject is its name. */
export interface KeyRate {
  readonly kind: 'org' | 'member' | 'key' | 'model';
  readonly subject: string;
  readonly rpm: number | null;
  readonly tpm: number | null;
}

/** What the ledger says of a key's calls besides whose they are. */
export interface KeyTags {
  readonly repository: string | null;
  readonly pullRequest: string | null;
  readonly integration: string | null;
}

/** A key as it is stored. */
export interface StoredKey {
  readonly id: string;
  readonly orgId: string;
  readonly conversationId: string;
  readonly userId: string | null;
  /** Empty means every model. */
  readonly models: readonly string[];
  readonly hash: Buffer;
  /**
   * Provider keys of the user's or the organization's own, as `sealOwnProviders` (routing/own-keys.ts) made it; absent
   * or `null`: none.
   */
  readonly sealedProviders?: Buffer | null;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
  /** Milliseconds since 1970: a key that was replaced may have a short time left. `null`: it was not ended. */
  readonly revokedAt: number | null;
  /** Held back by hand, until that is taken back. */
  readonly blocked?: boolean;
  /** A spent budget that holds it back, and until when, in milliseconds since 1970; `null`: none. */
  readonly stop: { readonly reason: string; readonly until: number } | null;
  readonly tags?: KeyTags;
  /** How a sentence names the user: `metadata.user_label`. */
  readonly userLabel?: string | null;
  readonly budgets?: readonly KeyBudget[];
  readonly rates?: readonly KeyRate[];
}

interface KeyRow {
  org_id: string;
  conversation_id: string;
  user_id: string | null;
  models: string[];
  hash: Buffer;
  expires_at: Date;
  revoked_at: Date | null;
  blocked: boolean;
  metadata: Record<string, unknown>;
  sealed_providers: Buffer | null;
  stop_reason: string | null;
  stop_until: Date | null;
  budgets: KeyBudget[];
  rates: KeyRate[];
}

/**
 * One round trip; the organization comes to light by it, and so does all that limits the key at `at`. `null` when there
 * is no such key.
 */
export async function findKey(pool: SqlPool, keyId: string, at: Date = systemClock.now()): Promise<StoredKey | null> {
  const { rows } = await pool.query<KeyRow>({
    name: 'find-key',
    text: 'SELECT * FROM gateway.find_key_and_limits($1, $2)',
    values: [keyId, at],
  });
  const row = rows[0];
  if (row === undefined) return null;
  return {
    id: keyId,
    orgId: row.org_id,
    conversationId: row.conversation_id,
    userId: row.user_id,
    models: row.models,
    hash: row.hash,
    sealedProviders: row.sealed_providers,
    expiresAt: row.expires_at.getTime(),
    revokedAt: row.revoked_at === null ? null : row.revoked_at.getTime(),
    blocked: row.blocked,
    stop:
      row.stop_reason === null || row.stop_until === null
        ? null
        : { reason: row.stop_reason, until: row.stop_until.getTime() },
    tags: {
      repository: text(row.metadata['repository']),
      pullRequest: text(row.metadata['pull_request']),
      integration: text(row.metadata['integration']),
    },
    userLabel: text(row.metadata['user_label']),
    budgets: row.budgets,
    rates: row.rates,
  };
}

/** What limits a key's calls at `at`, read again. */
export async function openBudgets(pool: SqlPool, key: StoredKey, at: Date): Promise<KeyBudget[]> {
  const { rows } = await pool.query<{ account: number; kind: KeyBudget['kind']; cycle_end: Date }>({
    name: 'open-budgets',
    text: 'SELECT account, kind, cycle_end FROM gateway.open_budgets($1, $2, $3, $4, $5)',
    values: [key.orgId, key.userId, key.id, key.conversationId, at],
  });
  return rows.map(({ account, kind, cycle_end: end }) => ({ account, kind, until: end.getTime() }));
}

function text(value: unknown): string | null {
  return typeof value === 'string' || typeof value === 'number' ? String(value).slice(0, 500) : null;
}

/**
 * Ends every key of a conversation. The caller holds the master key and names no organization. Answers the ids of the
 * ended ones.
 */
export async function revokeKeys(pool: SqlPool, conversationId: string): Promise<string[]> {
  return asSystem(pool, 'slipway_gateway_system', 'a conversation ends its keys', async (client) => {
    const { rows } = await client.query<Columns<'gateway.virtual_key', 'id'>>(
      'UPDATE gateway.virtual_key SET revoked_at = now() WHERE conversation_id = $1 AND (revoked_at IS NULL OR revoked_at > now()) RETURNING id',
      [conversationId],
    );
    return rows.map((row) => row.id);
  });
}
