import type { ConfirmationMode, CreateConversation } from '@slipway/contracts/conversations';
import type { Principal } from '@slipway/contracts/organizations';
import { grantRepository, insertConversation, type RepositoryGrant } from '@slipway/db/conversations';
import { type Columns, inOrg, type PoolClient, type SqlPool } from '@slipway/db/sql';
import { type ConversationStatusState } from '@slipway/domain';
import { SlipwayError } from '@slipway/errors';
import { currentTraceparent } from '@slipway/telemetry';
import { auditOf } from '../audit/audit-statement.js';
import { storedStatus } from '../log/ingest/status-patch.js';
import { attachToFirst } from './attachments/attachments.queries.js';
import type { ConversationRow } from './conversation-view.js';
import { SHOWN_SANDBOX_STATUS } from './shown-sandbox-status.js';

const COLUMNS = `id, org_id, title, status, execution_status, ${SHOWN_SANDBOX_STATUS}, start_status, steps, status_state, repository, branch, model,
  created_by, created_by_label, created_at, updated_at, head, cost_usd, prompt_tokens, completion_tokens, confirmation_mode,
  agent_type, max_iterations, trim_scale(max_budget_usd)::text AS max_budget_usd, forked_from, forked_seq, tags, archived_at, deleted_at,
  EXISTS (SELECT 1 FROM app.conversation_pin p WHERE p.org_id = $1 AND p.user_id = $3 AND p.conversation_id = $2) AS pinned`;

/** @param userId who reads it, for what is each user's own [nobody]. */
export async function findConversation(
  client: PoolClient,
  orgId: string,
  id: string,
  userId = '',
): Promise<ConversationRow | null> {
  const { rows } = await client.query<ConversationRow>({
    name: 'find-conversation',
    text: `SELECT ${COLUMNS} FROM app.conversation WHERE org_id = $1 AND id = $2`,
    values: [orgId, id, userId],
  });
  return rows[0] ?? null;
}

/** What it takes to reach a conversation's sandbox and to know whether there is one. */
export interface SandboxRow {
  readonly desired: 'run' | 'rest';
  readonly epoch: number;
  readonly acked: number;
  readonly statusState: ConversationStatusState;
  readonly sandboxStatus: string;
  readonly sandboxUrl: string | null;
  readonly sandboxKey: Buffer | null;
  readonly workingDir: string | null;
  readonly baseCommit: string | null;
}

const SANDBOX_COLUMNS =
  'desired, epoch, acked, status_state, sandbox_status, sandbox_url, sandbox_key, working_dir, base_commit';

export function readSandbox(pool: SqlPool, orgId: string, id: string): Promise<SandboxRow | null> {
  return inOrg(pool, orgId, (client) =>
    sandboxRow(client, {
      name: 'read-sandbox',
      text: `SELECT ${SANDBOX_COLUMNS} FROM app.conversation WHERE org_id = $1 AND id = $2`,
      values: [orgId, id],
    }),
  );
}

/** The same, with the row locked until the transaction ends. */
export function lockSandbox(client: PoolClient, orgId: string, id: string): Promise<SandboxRow | null> {
  return sandboxRow(client, {
    name: 'lock-sandbox',
    text: `SELECT ${SANDBOX_COLUMNS} FROM app.conversation WHERE org_id = $1 AND id = $2 FOR UPDATE`,
    values: [orgId, id],
  });
}

async function sandboxRow(
  client: PoolClient,
  query: { name: string; text: string; values: unknown[] },
): Promise<SandboxRow | null> {
  const { rows } = await client.query<{
    desired: 'run' | 'rest';
    epoch: number;
    acked: number;
    status_state: unknown;
    sandbox_status: string;
    sandbox_url: string | null;
    sandbox_key: Buffer | null;
    working_dir: string | null;
    base_commit: string | null;
  }>(query);
  const row = rows[0];
  if (row === undefined) return null;
  return {
    desired: row.desired,
    epoch: row.epoch,
    acked: row.acked,
    statusState: storedStatus(row.status_state),
    sandboxStatus: row.sandbox_status,
    sandboxUrl: row.sandbox_url,
    sandboxKey: row.sandbox_key,
    workingDir: row.working_dir,
    baseCommit: row.base_commit,
  };
}

export interface DesiredState {
  readonly desired: 'run' | 'rest';
  /** Label of the user who halts it; nobody by default. */
  readonly haltedBy?: string | undefined;
  readonly writer?: 'keep' | 'fence' | undefined;
}

/**
 * Whether the conversation should have a sandbox; the jobs that see to it run under the current trace. `fence`: whoever
 * writes into the log now may not go on.
 */
export async function setDesired(
  client: PoolClient,
  orgId: string,
  id: string,
  { desired, writer = 'keep', haltedBy }: DesiredState,
): Promise<void> {
  await client.query({
    name: writer === 'fence' ? 'set-desired-fence' : 'set-desired',
    text: `UPDATE app.conversation SET desired = $3, traceparent = $4, halted_by = $5${writer === 'fence' ? ', epoch = epoch + 1, acked = 0' : ''} WHERE org_id = $1 AND id = $2`,
    values: [orgId, id, desired, currentTraceparent(), haltedBy ?? null],
  });
}

/** Who halted a run that its sandbox halts by itself; `null`: it goes on. */
export async function setHaltedBy(
  client: PoolClient,
  orgId: string,
  id: string,
  haltedBy: string | null,
): Promise<void> {
  await client.query({
    name: 'set-halted-by',
    text: 'UPDATE app.conversation SET halted_by = $3 WHERE org_id = $1 AND id = $2 AND halted_by IS DISTINCT FROM $3',
    values: [orgId, id, haltedBy],
  });
}

export interface NewConversation {
  readonly id: string;
  /** `null`: nothing is asked of its agent yet. */
  readonly messageId: string | null;
  /** What of the repository it may read through a connection. */
  readonly grant: RepositoryGrant | null;
  readonly title: string;
  readonly model: string;
  readonly environment: string | null;
  readonly confirmation: ConfirmationMode;
  readonly traceparent: string;
  readonly outboxId: string;
  readonly auditId: string;
}

/**
 * The conversation, its first message with its files, the job that starts it and the record of who asked: all of it or
 * nothing. @throws SlipwayError `attachment.unavailable`
 */
export async function createConversation(
  client: PoolClient,
  caller: Principal,
  body: CreateConversation,
  made: NewConversation,
): Promise<void> {
  await insertConversation(client, caller.orgId, {
    id: made.id,
    message: made.messageId === null ? null : { id: made.messageId, text: body.prompt },
    by: caller.actor,
    title: made.title,
    repository: body.repository ?? null,
    branch: body.branch ?? null,
    environment: made.environment,
    confirmation: made.confirmation,
    agentType: body.agentType ?? 'default',
    maxIterations: body.maxIterations ?? null,
    maxBudgetUsd: body.maxBudgetUsd ?? null,
    model: made.model,
    traceparent: made.traceparent,
    outboxId: made.outboxId,
  });
  const files = (body.attachments ?? []).map((file) => file.toLowerCase());
  if (files.length > 0 && made.messageId !== null) {
    const first = { conversationId: made.id, messageId: made.messageId };
    if (!(await attachToFirst(client, caller, first, files)))
      throw new SlipwayError('attachment.unavailable', 'An attached file was removed, has expired, or was sent.');
  }
  if (made.grant !== null) await grantRepository(client, caller.orgId, made.id, made.grant);
  await client.query(
    auditOf(made.auditId, caller, {
      action: 'conversation.create',
      target: made.id,
      detail: {
        repository: body.repository ?? null,
        branch: body.branch ?? null,
        model: made.model,
        ...(made.environment === null ? {} : { environment: made.environment }),
        ...(made.confirmation === 'never' ? {} : { confirmation: made.confirmation }),
        ...(body.agentType === undefined ? {} : { agentType: body.agentType }),
        ...(body.maxIterations === undefined ? {} : { maxIterations: body.maxIterations }),
        ...(body.maxBudgetUsd === undefined ? {} : { maxBudgetUsd: body.maxBudgetUsd }),
      },
    }),
  );
}

/** Bytes of what was last seen of a workspace. */
export async function sizeOfKept(
  pool: SqlPool,
  orgId: string,
  id: string,
): Promise<{ changes: number; patch: number } | null> {
  const { rows } = await inOrg(pool, orgId, (client) =>
    client.query<{ changes: number; patch: number }>(
      'SELECT octet_length(changes::text) AS changes, octet_length(patch) AS patch FROM app.workspace_snapshot WHERE org_id = $1 AND conversation_id = $2',
      [orgId, id],
    ),
  );
  return rows[0] ?? null;
}

/** The list as JSON text. */
export async function readKeptChanges(pool: SqlPool, orgId: string, id: string): Promise<string | null> {
  const { rows } = await inOrg(pool, orgId, (client) =>
    client.query<{ files: string | null }>(
      `SELECT (CASE WHEN jsonb_typeof(changes) = 'object' THEN changes->'files' ELSE changes END)::text AS files
       FROM app.workspace_snapshot WHERE org_id = $1 AND conversation_id = $2`,
      [orgId, id],
    ),
  );
  return rows[0]?.files ?? null;
}

export async function readKeptPatch(pool: SqlPool, orgId: string, id: string): Promise<string | null> {
  const { rows } = await inOrg(pool, orgId, (client) =>
    client.query<Columns<'app.workspace_snapshot', 'patch'>>(
      'SELECT patch FROM app.workspace_snapshot WHERE org_id = $1 AND conversation_id = $2',
      [orgId, id],
    ),
  );
  return rows[0]?.patch ?? null;
}
