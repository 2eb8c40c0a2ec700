import type { ConversationStatus, SandboxStatus, StartStatus, StartStep } from '@slipway/contracts/conversations';
import type { ExecutionStatus } from '@slipway/contracts/events';
import { SETTINGS_VERSION } from '@slipway/db/conversations';
import { asSystem, type Columns, inOrg, type PoolClient, type SqlPool } from '@slipway/db/sql';
import type { ConversationStatusState } from '@slipway/domain';

/** What the worker itself remembers of a start between its steps. */
export interface Checkpoint {
  /** Who may write: the holder of the conversation's lock. */
  readonly owner?: string;
  /** Steps of this attempt that are done; a worker that takes over goes on after them. */
  readonly done?: readonly StartStatus[];
  /** The epoch that this attempt's sandbox writes under. When the row has a newer one, that sandbox was fenced off. */
  readonly epoch?: number;
  /** Failures of this attempt that were tried again. */
  readonly failures?: number;
  /** The sandbox did not answer: it is given up before another is asked for. */
  readonly suspect?: boolean;
  /** The sandbox's directory for workspaces, as this attempt's sandbox sees it. */
  readonly root?: string;
  /** The earlier workspace of the agent was lost and made again in this attempt: the agent gets a notice. */
  readonly workspaceLost?: boolean;
  /** In this attempt the files were restored as they were after this place in the log: the agent gets a notice. */
  readonly restoredSeq?: number;
  /** The model that the agent has, as conversations name it. Absent: the row's own, when the agent has one at all. */
  readonly model?: string;
  /** Models that were sent to it since then without an answer: it may have one of them. Absent: none. */
  readonly modelsTried?: readonly string[];
  /** The version of its settings that the agent has acknowledged. Absent: unknown. */
  readonly settingsVersion?: number;
  /** The version of which the agent refused a part; it is sent again before its next message. */
  readonly settingsRefused?: number;
  /** Whether the agent goes on running by itself in this attempt. */
  readonly resumeRun?: boolean;
}

export type ConversationRow = Columns<
  'app.conversation',
  | 'id'
  | 'repository'
  | 'branch'
  | 'environment'
  | 'model'
  | 'status'
  | 'desired'
  | 'attempt'
  | 'epoch'
  | 'head'
  | 'steps'
  | 'checkpoint'
  | 'traceparent',
  { status: ConversationStatus; desired: 'run' | 'rest'; steps: readonly StartStep[]; checkpoint: Checkpoint }
> & {
  readonly orgId: string;
  readonly createdBy: string;
  readonly createdByLabel: string;
  readonly executionStatus: ExecutionStatus;
  readonly sandboxStatus: SandboxStatus;
  readonly startStatus: StartStatus;
  readonly statusState: Partial<ConversationStatusState>;
  readonly leaseFresh: boolean;
  readonly runtimeId: string | null;
  readonly sandboxUrl: string | null;
  readonly sandboxKey: Buffer | null;
  readonly workingDir: string | null;
  readonly baseCommit: string | null;
  /** Place up to which its log is that of another conversation, which it was forked from. */
  readonly forkedSeq: number | null;
};

const COLUMNS = `id, org_id AS "orgId", created_by AS "createdBy", created_by_label AS "createdByLabel", repository, branch, environment, model, status, execution_status AS "executionStatus", sandbox_status AS "sandboxStatus",
  start_status AS "startStatus", status_state AS "statusState", desired, attempt, epoch, head, coalesce(lease_until > now(), false) AS "leaseFresh", steps, checkpoint,
  runtime_id AS "runtimeId", sandbox_url AS "sandboxUrl", sandbox_key AS "sandboxKey", working_dir AS "workingDir", base_commit AS "baseCommit", forked_seq AS "forkedSeq", traceparent`;

/** Makes `owner` the only writer and reads the row; `null` when there is no such conversation. */
export function takeConversation(
  pool: SqlPool,
  orgId: string,
  id: string,
  owner: string,
): Promise<ConversationRow | null> {
  return inOrg(pool, orgId, async (client) => {
    const result = await client.query<ConversationRow>({
      name: 'take-conversation',
      text: `UPDATE app.conversation SET checkpoint = checkpoint || jsonb_build_object('owner', $2::text) WHERE id = $1 RETURNING ${COLUMNS}`,
      values: [id, owner],
    });
    return result.rows[0] ?? null;
  });
}

/** The row, locked until the transaction ends. */
export async function lockConversation(client: PoolClient, id: string): Promise<ConversationRow | null> {
  const result = await client.query<ConversationRow>({
    name: 'lock-conversation',
    text: `SELECT ${COLUMNS} FROM app.conversation WHERE id = $1 FOR UPDATE`,
    values: [id],
  });
  return result.rows[0] ?? null;
}

export function readConversation(pool: SqlPool, orgId: string, id: string): Promise<ConversationRow | null> {
  return inOrg(pool, orgId, async (client) => {
    const result = await client.query<ConversationRow>({
      name: 'read-conversation',
      text: `SELECT ${COLUMNS} FROM app.conversation WHERE id = $1`,
      values: [id],
    });
    return result.rows[0] ?? null;
  });
}

/** The lease holds for `leaseMs` more: the sandbox was seen alive. */
export function renewLease(pool: SqlPool, orgId: string, id: string, leaseMs: number): Promise<void> {
  return inOrg(pool, orgId, async (client) => {
    await client.query(
      `UPDATE app.conversation SET lease_until = greatest(lease_until, now() + $2 * interval '1 millisecond') WHERE id = $1`,
      [id, leaseMs],
    );
  });
}

/** Queues whose outbox job is the same: a sandbox that runs, with the inbox in it. */
const RUN_QUEUES = ['conversation-start', 'conversation-deliver'];

/** Whether a start was requested since the last one ended. */
export function hasOutboxJob(pool: SqlPool, orgId: string, id: string): Promise<boolean> {
  return inOrg(pool, orgId, async (client) => {
    const result = await client.query<{ queued: boolean }>(
      'SELECT EXISTS (SELECT 1 FROM app.outbox WHERE queue = ANY($1) AND key = $2) AS queued',
      [RUN_QUEUES, id],
    );
    return result.rows[0]?.queued ?? false;
  });
}

/** Whether a sandbox was requested without a message: then the halted run is resumed. */
export function resumeIsAsked(pool: SqlPool, orgId: string, id: string): Promise<boolean> {
  return inOrg(pool, orgId, async (client) => {
    const result = await client.query<{ asked: boolean }>(
      `SELECT EXISTS (SELECT 1 FROM app.outbox WHERE queue = 'conversation-start' AND key = $1::text)
          AND NOT EXISTS (SELECT 1 FROM app.inbox_message WHERE conversation_id = $1::uuid AND state IN ('queued', 'delivered') AND NOT held) AS asked`,
      [id],
    );
    return result.rows[0]?.asked ?? false;
  });
}

class StillWanted extends Error {}

/**
 * Deletes the outbox job for `desired` if it is done at that moment: checked after the deletion, so a job that comes
 * meanwhile stays. False: there is more to do.
 */
export async function fulfil(pool: SqlPool, orgId: string, id: string, desired: 'run' | 'rest'): Promise<boolean> {
  try {
    return await inOrg(pool, orgId, async (client) => {
      await client.query({
        name: 'fulfil-all',
        text: 'DELETE FROM app.outbox WHERE queue = ANY($1) AND key = $2',
        values: [desired === 'run' ? RUN_QUEUES : ['conversation-pause'], id],
      });
      const now = await client.query<Columns<'app.conversation', 'desired'> & { other: boolean }>({
        name: 'read-desired',
        text: `SELECT c.desired, ${SETTINGS_VERSION} NOT IN (coalesce((c.checkpoint ->> 'settingsVersion')::integer, -1), coalesce((c.checkpoint ->> 'settingsRefused')::integer, -1))
            OR c.checkpoint ? 'modelsTried' AS other
          FROM app.conversation c WHERE c.id = $1`,
        values: [id],
      });
      const current = now.rows[0]?.desired ?? desired;
      // An outbox job to pause is void as soon as a sandbox is requested again.
      if (desired === 'rest') return current === 'rest';
      if (current !== 'run' || now.rows[0]?.other === true || (await hasInbox(client, id, ['queued'])))
        throw new StillWanted();
      return true;
    });
  } catch (error) {
    if (error instanceof StillWanted) return false;
    throw error;
  }
}

/** Takes an outbox job for a sandbox away because none is wanted any more. False when one is wanted again. */
export function deleteRunJobs(pool: SqlPool, orgId: string, id: string): Promise<boolean> {
  return inOrg(pool, orgId, async (client) => {
    const row = await lockConversation(client, id);
    if (row !== null && row.desired === 'run') return false;
    await client.query('DELETE FROM app.outbox WHERE queue = ANY($1) AND key = $2', [RUN_QUEUES, id]);
    return true;
  });
}

async function hasInbox(
  client: PoolClient,
  id: string,
  states: ReadonlyArray<'queued' | 'delivered'>,
): Promise<boolean> {
  const result = await client.query<{ waits: boolean }>({
    name: 'has-inbox',
    text: `SELECT EXISTS (SELECT 1 FROM app.inbox_message WHERE conversation_id = $1 AND state = ANY($2) AND NOT held) AS waits`,
    values: [id, states],
  });
  return result.rows[0]?.waits ?? false;
}

/** Whether messages wait that no log has yet. */
export function hasInboxOf(pool: SqlPool, orgId: string, id: string): Promise<boolean> {
  return inOrg(pool, orgId, (client) => hasInbox(client, id, ['queued', 'delivered']));
}

/** SQLSTATE of `app.grant_storage` when the organization has no room. */
const STORAGE_FULL = 'SL507';

export interface SnapshotRow {
  readonly changes: unknown;
  readonly patch: string;
}

/**
 * Keeps it in place of the one before, and counts the difference.
 * @param storage `ending`: keeps to the limit and to what is left for endings. `platform`: for a note of bounded size,
 * which is always kept.
 * @returns false when the organization has no room for it: the one before stays.
 */
export async function saveSnapshot(
  pool: SqlPool,
  orgId: string,
  id: string,
  { snapshot, storage }: { readonly snapshot: SnapshotRow; readonly storage: 'ending' | 'platform' },
): Promise<boolean> {
  try {
    await inOrg(pool, orgId, async (client) => {
      // In this order everywhere: the conversation, what belongs to it, the organization's storage.
      await client.query('SELECT 1 FROM app.conversation WHERE id = $1 FOR UPDATE', [id]);
      const size =
        'SELECT coalesce(sum(octet_length(changes::text) + octet_length(patch)), 0) AS bytes FROM app.workspace_snapshot WHERE conversation_id = $1';
      const before = await client.query<{ bytes: number }>(size, [id]);
      await client.query(
        `INSERT INTO app.workspace_snapshot (conversation_id, org_id, changes, patch, taken_at) VALUES ($1, $2, $3, $4, now())
         ON CONFLICT (conversation_id) DO UPDATE SET changes = EXCLUDED.changes, patch = EXCLUDED.patch, taken_at = EXCLUDED.taken_at`,
        // NUL is no character of a Postgres text.
        [id, orgId, JSON.stringify(snapshot.changes), snapshot.patch.replaceAll('\0', '')],
      );
      const after = await client.query<{ bytes: number }>(size, [id]);
      await client.query('SELECT app.count_storage($1, $2, 0, 0, $3, $4)', [
        orgId,
        id,
        (after.rows[0]?.bytes ?? 0) - (before.rows[0]?.bytes ?? 0),
        storage,
      ]);
    });
    return true;
  } catch (error) {
    if ((error as { code?: unknown }).code !== STORAGE_FULL) throw error;
    return false;
  }
}

export function system<T>(pool: SqlPool, reason: string, work: (client: PoolClient) => Promise<T>): Promise<T> {
  return asSystem(pool, 'slipway_app_system', reason, work);
}
