import { inOrg, type PoolClient, type SqlPool } from '../sql/index.js';

/** Why it was taken. `pause` and `safety` may take a tenth more than the quota; `step` expires after two days. */
export type CheckpointReason =
  | 'start'
  | 'message'
  | 'step'
  | 'rest'
  | 'pause'
  | 'safety'
  | 'manual'
  | 'attempt'
  | 'prebuild';

export interface CheckpointAbout {
  readonly reason: CheckpointReason;
  /** No program of the agent ran. */
  readonly quiet: boolean;
  readonly complete: boolean;
  /** Counts and first names of what was left out. */
  readonly skipped: unknown;
  /** Name, scope and path of secrets found in files; never values. */
  readonly secrets: readonly unknown[];
  readonly files: number;
  readonly logicalBytes: number;
  readonly name?: string;
  /** Id of the user who keeps it. */
  readonly pinnedBy?: string;
  readonly takenAt: Date;
  /** `null`: by the organization's `checkpointDays`, or two days for a step. */
  readonly expiresAt?: Date | null;
}

/** A pack whose object is in the store. */
export interface NewPack {
  /** 32 hexadecimal digits at random; never used before, also not by a transfer that failed. */
  readonly id: string;
  readonly bytes: number;
  /** Sealed under the organization's data key, `packKeyContext`. */
  readonly wrappedKey: Buffer;
  readonly keyVersion: number;
}

export interface NewCheckpoint {
  readonly id: string;
  readonly conversationId: string;
  readonly epoch: number;
  /** Id of the event after which the files were so. */
  readonly after: string;
  readonly parent: string | null;
  /** 32 bytes each. */
  readonly root: Buffer;
  readonly contentHash: Buffer;
  /** The parent's packs, as they were when the transfer began (`packsOf`). */
  readonly held: readonly string[];
  readonly packs: readonly NewPack[];
  readonly about: CheckpointAbout;
  /** By the database's clock, before the transfer's first byte (`transactionTime`). */
  readonly begun: Date;
  /** Bytes of packs for each member; `null`: no limit. */
  readonly seatBytes: number | null;
}

/** What `app.commit_checkpoint` says; its file has the meaning of each outcome. */
export type Committed =
  | { readonly outcome: 'ok'; readonly seq: number }
  | { readonly outcome: 'gone' | 'stale' | 'early' | 'conflict' }
  | { readonly outcome: 'missing'; readonly packs: readonly string[] }
  | { readonly outcome: 'quota'; readonly usedBytes: number; readonly limitBytes: number };

/**
 * Makes a checkpoint durable; repeating it is harmless. Nothing is stored for any outcome but `ok`.
 * @throws when the database does not answer: whether it is durable is not known then, and the same call finds out.
 */
export async function commitCheckpoint(pool: SqlPool, orgId: string, checkpoint: NewCheckpoint): Promise<Committed> {
  const { about } = checkpoint;
  const { rows } = await pool.query<{
    outcome: Committed['outcome'];
    seq: number;
    missing: string[];
    used_bytes: number;
    limit_bytes: number;
  }>({
    name: 'commit-checkpoint',
    text: 'SELECT * FROM app.commit_checkpoint($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)',
    values: [
      orgId,
      checkpoint.conversationId,
      checkpoint.epoch,
      checkpoint.id,
      checkpoint.after,
      checkpoint.parent,
      checkpoint.root,
      checkpoint.contentHash,
      checkpoint.held,
      JSON.stringify(checkpoint.packs.map(packRow)),
      JSON.stringify({
        reason: about.reason,
        quiet: about.quiet,
        complete: about.complete,
        skipped: about.skipped,
        secrets: about.secrets,
        files: about.files,
        logical_bytes: about.logicalBytes,
        name: about.name,
        pinned_by: about.pinnedBy,
        taken_at: about.takenAt,
        expires_at: about.expiresAt ?? undefined,
      }),
      checkpoint.begun,
      checkpoint.seatBytes,
    ],
  });
  const row = rows[0];
  if (row === undefined) throw new Error('commit_checkpoint gave no row');
  if (row.outcome === 'ok') return { outcome: 'ok', seq: row.seq };
  if (row.outcome === 'missing') return { outcome: 'missing', packs: row.missing };
  if (row.outcome === 'quota') return { outcome: 'quota', usedBytes: row.used_bytes, limitBytes: row.limit_bytes };
  return { outcome: row.outcome };
}

function packRow(pack: NewPack): Record<string, unknown> {
  const { id, bytes, wrappedKey, keyVersion } = pack;
  return { id, bytes, wrapped_key: wrappedKey.toString('base64'), key_version: keyVersion };
}

/**
 * Gives a fork its first checkpoint, with the packs of `source`. The fork's conversation and log are there already, or
 * in the transaction of `client`.
 */
export async function inheritCheckpoint(
  client: Pick<PoolClient, 'query'>,
  orgId: string,
  fork: { readonly source: string; readonly conversationId: string; readonly id: string },
): Promise<'ok' | 'gone' | 'expired' | 'early' | 'conflict'> {
  const { rows } = await client.query<{ outcome: 'ok' | 'gone' | 'expired' | 'early' | 'conflict' }>(
    'SELECT app.inherit_checkpoint($1, $2, $3, $4) AS outcome',
    [orgId, fork.source, fork.conversationId, fork.id],
  );
  return rows[0]?.outcome ?? 'gone';
}

/** Lets a checkpoint expire now; `forked`: another conversation was forked from it. */
export function dropCheckpoint(
  pool: SqlPool,
  orgId: string,
  conversationId: string,
  id: string,
): Promise<'ok' | 'missing' | 'forked'> {
  return inOrg(pool, orgId, async (client) => {
    const { rows } = await client.query<{ outcome: 'ok' | 'missing' | 'forked' }>(
      'SELECT app.drop_checkpoint($1, $2, $3) AS outcome',
      [orgId, conversationId, id],
    );
    return rows[0]?.outcome ?? 'missing';
  });
}

export interface SwappedPacks {
  readonly conversationId: string;
  readonly checkpoints: readonly string[];
  readonly drop: readonly string[];
  /** Hold all that the checkpoints reach in `drop`. */
  readonly packs: readonly NewPack[];
  readonly begun: Date;
}

/** After packing anew, in one transaction. @returns the checkpoints that refer to the new packs now. */
export async function swapPacks(pool: SqlPool, orgId: string, swap: SwappedPacks): Promise<readonly string[]> {
  const { rows } = await pool.query<{ ids: string[] }>('SELECT app.swap_packs($1, $2, $3, $4, $5, $6) AS ids', [
    orgId,
    swap.conversationId,
    swap.checkpoints,
    swap.drop,
    JSON.stringify(swap.packs.map(packRow)),
    swap.begun,
  ]);
  return rows[0]?.ids ?? [];
}
