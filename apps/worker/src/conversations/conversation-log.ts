import { type SandboxStatus, type StartStep, type WorkspaceState } from '@slipway/contracts/conversations';
import { ERRORS } from '@slipway/contracts/errors';
import type { ConversationEvent, ExecutionStatus, StateUpdate } from '@slipway/contracts/events';
import { type QueueName } from '@slipway/contracts/operate';
import { type PullRequest } from '@slipway/contracts/repositories';
import { readTrigger } from '@slipway/db/conversations';
import { inOrg, type PoolClient, type SqlPool } from '@slipway/db/sql';
import { type Clock, conversationStatus, type Ids, INITIAL_STATUS, reduceConversationStatus } from '@slipway/domain';
import type { HintBus } from '@slipway/queue';
import type { ConversationEnd, conversationEnds } from '@slipway/telemetry/http';
import { type ConversationRow, lockConversation } from './conversation.queries.js';

/** The lock was lost and another worker writes now: everything of this run stops, and nothing is wrong. */
export class LostConversation extends Error {
  override readonly name = 'LostConversation';
}

/** An event of the platform itself, before it has an id and a time. */
export type PlatformEvent =
  | { kind: 'start-step'; step: StartStep }
  | { kind: 'sandbox-status'; status: SandboxStatus }
  | { kind: 'execution-status'; status: ExecutionStatus }
  | { kind: 'workspace'; workspace: WorkspaceState }
  | { kind: 'error'; code: string; detail: string }
  | { kind: 'pull-request'; pullRequest: PullRequest }
  | { kind: 'paused' };

/** Columns that the worker sets beside the log. Absent means unchanged. */
export interface ColumnChanges {
  readonly desired?: 'run' | 'rest';
  readonly attempt?: number;
  /** A new epoch starts its producer sequence at 0. */
  readonly epoch?: number;
  readonly checkpoint?: Readonly<Record<string, unknown>>;
  readonly runtimeId?: string | null;
  readonly sandboxUrl?: string | null;
  readonly sandboxKey?: Buffer | null;
  readonly workingDir?: string | null;
  readonly baseCommit?: string | null;
  /** Milliseconds from now; `null` ends it. */
  readonly leaseMs?: number | null;
}

export interface Change {
  readonly events: readonly PlatformEvent[];
  readonly columns?: ColumnChanges;
  /** Outbox jobs that this change answers: their outbox rows go in the same transaction. */
  readonly answers?: readonly QueueName[];
  /** What else is written in the same transaction. */
  readonly also?: (client: PoolClient) => Promise<void>;
}

/** Writes events of the platform and the columns that go with them, in one transaction under the row's lock. */
export class ConversationLog {
  constructor(
    private readonly pool: SqlPool,
    private readonly hints: HintBus,
    private readonly ids: Ids,
    private readonly clock: Clock,
    private readonly replica: string,
    /** Counts starts that failed. */
    private readonly ended: ReturnType<typeof conversationEnds> = () => {},
  ) {}

  /**
   * @param owner only the worker that holds the conversation's lock writes; `null` for a change that needs no lock.
   * @param decide sees the row as it is now; `null` changes nothing.
   * @returns the row after the change.
   * @throws LostConversation when the row is gone or belongs to another worker.
   */
  async write(
    orgId: string,
    id: string,
    owner: string | null,
    decide: (current: ConversationRow) => Change | null,
  ): Promise<ConversationRow> {
    let failed: { readonly end: ConversationEnd; readonly trigger: string } | null = null;
    const { after, head } = await inOrg(this.pool, orgId, async (client) => {
      const current = await lockConversation(client, id);
      if (current === null || (owner !== null && current.checkpoint.owner !== owner))
        throw new LostConversation(`conversation ${id} belongs to another worker`);
      const change = decide(current);
      if (change === null) return { after: current, head: null };
      const set = assignments(change.columns ?? {}, current);
      if (set.names.length > 0)
        await client.query(
          `UPDATE app.conversation SET ${set.names.map((name, index) => `${name.replace('?', `$${index + 2}`)}`).join(', ')} WHERE id = $1`,
          [id, ...set.values],
        );
      await change.also?.(client);
      if (change.answers !== undefined)
        await client.query('DELETE FROM app.outbox WHERE queue = ANY($1) AND key = $2', [change.answers, id]);
      if (change.events.length === 0) return { after: await reread(client, id), head: null };
      const end = failedStart(change.events);
      if (end !== null) failed = { end, trigger: (await readTrigger(client, orgId, id))?.trigger ?? 'user' };
      const events = change.events.map((event) => this.toEvent(event));
      const appended = await client.query<{ head: number }>({
        name: 'append-platform-events',
        text: 'SELECT head FROM app.append_events($1, $2, NULL, NULL, $3, $4, $5, $6, $7)',
        values: [
          orgId,
          id,
          events.map(() => null),
          events.map((event) => event.id),
          events.map((event) => event.kind),
          events.map((event) => JSON.stringify(event)),
          JSON.stringify(patchOf(current, events, change.events)),
        ],
      });
      return { after: await reread(client, id), head: appended.rows[0]?.head ?? null };
    });
    this.count(failed);
    if (head !== null)
      this.hints.publish({
        kind: 'events',
        orgId,
        conversationId: id,
        head,
        from: this.replica,
        at: this.clock.now().getTime(),
      });
    return after;
  }

  private count(failed: { readonly end: ConversationEnd; readonly trigger: string } | null): void {
    if (failed !== null) this.ended(failed.end, failed.trigger);
  }

  /** Notifies viewers of the inbox that it changed. */
  inboxChanged(orgId: string, conversationId: string): void {
    this.hints.publish({ kind: 'inbox', orgId, conversationId, from: this.replica });
  }

  private toEvent(event: PlatformEvent): ConversationEvent {
    const base = { id: this.ids.uuid(), timestamp: this.clock.now().toISOString(), source: 'environment' as const };
    const update = (body: StateUpdate): ConversationEvent => ({
      ...base,
      kind: 'ConversationStateUpdateEvent',
      ...body,
    });
    switch (event.kind) {
      case 'start-step':
        return update({ key: 'start_task', value: event.step });
      case 'sandbox-status':
        return update({ key: 'sandbox_status', value: event.status });
      case 'execution-status':
        return update({ key: 'execution_status', value: event.status });
      case 'workspace':
        return update({ key: 'workspace', value: event.workspace });
      case 'pull-request':
        return update({ key: 'pull_request', value: event.pullRequest });
      case 'error':
        return { ...base, kind: 'ConversationErrorEvent', code: event.code, detail: event.detail };
      case 'paused':
        return { ...base, kind: 'PauseEvent' };
    }
  }
}

/** Whose fault it is that a start is over: an error of the 4xx is one of what was asked for. */
function failedStart(events: readonly PlatformEvent[]): ConversationEnd | null {
  const last = events.findLast((event) => event.kind === 'start-step' && event.step.status === 'ERROR');
  if (last?.kind !== 'start-step') return null;
  return last.step.code !== undefined && ERRORS[last.step.code].status < 500 ? 'start-refused' : 'start-failed';
}

/** The steps of the newest attempt, each as it is now. */
function mergeSteps(steps: readonly StartStep[], added: readonly StartStep[]): StartStep[] {
  const attempt = Math.max(0, ...steps.map((step) => step.attempt), ...added.map((step) => step.attempt));
  const merged = new Map<string, StartStep>();
  for (const step of [...steps, ...added]) if (step.attempt === attempt) merged.set(step.status, step);
  return [...merged.values()];
}

async function reread(client: PoolClient, id: string): Promise<ConversationRow> {
  const row = await lockConversation(client, id);
  if (row === null) throw new LostConversation(`conversation ${id} is gone`);
  return row;
}

function patchOf(
  current: ConversationRow,
  events: readonly ConversationEvent[],
  given: readonly PlatformEvent[],
): Record<string, unknown> {
  const state = events.reduce(reduceConversationStatus, { ...INITIAL_STATUS, ...current.statusState });
  const added = given.flatMap((event) => (event.kind === 'start-step' ? [event.step] : []));
  const sandbox = given.findLast((event) => event.kind === 'sandbox-status');
  const step = added.at(-1);
  return {
    status: conversationStatus(state),
    status_state: state,
    execution_status: state.execution,
    ...(step === undefined ? {} : { start_status: step.status, steps: mergeSteps(current.steps, added) }),
    ...(sandbox?.kind === 'sandbox-status' ? { sandbox_status: sandbox.status } : {}),
  };
}

function assignments(columns: ColumnChanges, current: ConversationRow): { names: string[]; values: unknown[] } {
  const names: string[] = [];
  const values: unknown[] = [];
  const set = (name: string, value: unknown): void => {
    names.push(name);
    values.push(value);
  };
  if (columns.desired !== undefined) set('desired = ?', columns.desired);
  if (columns.attempt !== undefined) set('attempt = ?', columns.attempt);
  if (columns.epoch !== undefined) set('acked = 0, epoch = ?', columns.epoch);
  if (columns.checkpoint !== undefined)
    set(
      'checkpoint = ?',
      JSON.stringify({
        ...columns.checkpoint,
        ...(current.checkpoint.owner === undefined ? {} : { owner: current.checkpoint.owner }),
      }),
    );
  if (columns.runtimeId !== undefined) set('runtime_id = ?', columns.runtimeId);
  if (columns.sandboxUrl !== undefined) set('sandbox_url = ?', columns.sandboxUrl);
  if (columns.sandboxKey !== undefined) set('sandbox_key = ?', columns.sandboxKey);
  if (columns.workingDir !== undefined) set('working_dir = ?', columns.workingDir);
  if (columns.baseCommit !== undefined) set('base_commit = ?', columns.baseCommit);
  if (columns.leaseMs !== undefined)
    set(`lease_until = now() + ?::integer * interval '1 millisecond'`, columns.leaseMs);
  return { names, values };
}
