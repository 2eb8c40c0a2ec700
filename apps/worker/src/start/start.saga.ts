import { ERRORS } from '@slipway/contracts/errors';
import { type QueueName } from '@slipway/contracts/operate';
import type { SqlPool } from '@slipway/db/sql';
import type { Clock, Ids } from '@slipway/domain';
import { SlipwayError } from '@slipway/errors';
import type { Queue } from '@slipway/queue';
import type { Logger } from '@slipway/telemetry';
import type { RuntimeApiClient } from '../clients/runtime-api.client.js';
import { deleteRunJobs, fulfil, hasInboxOf, hasOutboxJob, readConversation, resumeIsAsked } from '../conversations/conversation.queries.js';
import { LostConversation } from '../conversations/conversation-log.js';
import type { ConversationSpendings } from '../conversations/conversation-spending.js';
import type { HeldConversation } from '../conversations/held-conversation.js';
import type { Delivery } from '../delivery/delivery.js';
import type { SettingsSync } from '../settings/settings-sync.js';
import { restIfIdle } from './idle-conversations.queries.js';
import type { Room } from './room.js';
import { probeSandbox } from './sandbox-liveness.js';
import { sandboxWait, wantsRoom } from './sandbox-wait.js';
import { NoLongerWanted, StartAttempt } from './start-attempt.js';
import type { StartSteps } from './start-steps.js';

/** Failures of one attempt that are tried again; with the pauses below this spans about half a minute. */
const MAX_FAILURES = 8;
const RETRY_BASE_MS = 500;
const RETRY_CAP_MS = 5_000;
/** How often a full pool is asked again. Milliseconds; well below the 10 s for which runtime-api keeps a place in its queue. */
const CAPACITY_RETRY_MS = 1_000;
/** How often a running start checks whether it is still wanted. Milliseconds. */
const WATCH_MS = 500;
/** Longest that giving a failed start's sandbox back may take. Milliseconds; the sweep does what is left. */
const RELEASE_MS = 10_000;

type Outcome = { kind: 'ready' } | { kind: 'failed' } | { kind: 'rest' } | { kind: 'later'; delayMs: number };

/**
 * Brings one conversation to where it is wanted: a sandbox that runs, with the inbox in it. Reads what is, does what is missing, and may begin again at any point.
 * An attempt is one sandbox and one epoch; a worker that dies in it is followed by another that goes on after the last finished step.
 */
export class StartSaga {
  constructor(
    private readonly pool: SqlPool,
    private readonly queue: Queue,
    private readonly runtime: RuntimeApiClient,
    private readonly steps: StartSteps,
    private readonly settings: SettingsSync,
    private readonly spendings: Pick<ConversationSpendings, 'apply'>,
    private readonly delivery: Delivery,
    private readonly room: Room,
    private readonly clock: Clock,
    private readonly ids: Ids,
    private readonly logger: Logger,
  ) {}

  async bringUp(held: HeldConversation): Promise<void> {
    for (;;) {
      held.signal.throwIfAborted();
      if (held.row.desired !== 'run') {
        if (await deleteRunJobs(this.pool, held.orgId, held.id)) return this.enqueue('conversation-pause', held);
        await held.refresh();
        continue;
      }
      if (held.row.startStatus === 'ERROR' && !(await hasOutboxJob(this.pool, held.orgId, held.id))) return;
      const delivered = await this.deliverToRunning(held);
      // The loop goes on with a conversation that is to be paused.
      if (!delivered && (await this.restsWithoutSandbox(held))) continue;
      const outcome: Outcome = delivered ? { kind: 'ready' } : await this.attempt(held);
      if (outcome.kind === 'failed') return;
      if (outcome.kind === 'later') return this.enqueue('conversation-start', held, outcome.delayMs);
      if (outcome.kind === 'ready' && (await fulfil(this.pool, held.orgId, held.id, 'run'))) return;
      await held.refresh();
    }
  }

  /** False when there is no sandbox that has the conversation. */
  private async deliverToRunning(held: HeldConversation): Promise<boolean> {
    const { row } = held;
    if (row.startStatus !== 'READY' || row.sandboxStatus !== 'RUNNING' || row.checkpoint.epoch !== row.epoch) return false;
    const agent = this.steps.agentOf(row);
    if (agent === null) return false;
    if (!row.leaseFresh && (await probeSandbox(held, agent, { runtime: this.runtime, pool: this.pool }, held.signal)) === 'dead') return false;
    try {
      const giveModel = await this.settings.apply(held, agent, held.signal);
      // Before the run goes on: what it may spend by now.
      await this.spendings.apply(held.orgId, held.id, held.signal);
      // app-server asked this sandbox itself and got no answer, so that the lease may speak for one that is dead.
      if (row.executionStatus === 'paused' && (await resumeIsAsked(this.pool, held.orgId, held.id))) await agent.run(held.id, held.signal);
      await giveModel();
      const delivered = await this.delivery.deliver(held, agent, held.signal);
      this.logger.info({ delivered }, 'inbox delivered');
      return true;
    } catch (error) {
      if (held.signal.aborted || !(error instanceof SlipwayError)) throw error;
      if (error.code === 'ingest.stale-epoch') return false;
      if ((await probeSandbox(held, agent, { runtime: this.runtime, pool: this.pool }, held.signal)) === 'dead') return false;
      throw error;
    }
  }

  /** A sandbox that was lost under a conversation with nothing to do is not replaced: those at work need the room, and the next message asks for one. */
  private async restsWithoutSandbox(held: HeldConversation): Promise<boolean> {
    if (held.row.startStatus !== 'READY' || !(await restIfIdle(this.pool, held, this.ids.uuid()))) return false;
    this.logger.info({ execution_status: held.row.executionStatus }, 'idle conversation lost its sandbox, the next message starts another');
    await held.refresh();
    return true;
  }

  private async attempt(held: HeldConversation): Promise<Outcome> {
    const { startStatus, checkpoint, epoch } = held.row;
    const goesOn = startStatus !== 'READY' && startStatus !== 'ERROR' && checkpoint.done?.includes('WORKING') === true && checkpoint.epoch === epoch;
    const attempt = new StartAttempt(held, this.clock, goesOn ? held.row.attempt : held.row.attempt + 1);
    try {
      if (!goesOn) await this.beginAttempt(held, attempt);
      await this.watched(held, attempt, (signal) => this.steps.run(held, attempt, signal));
      this.logger.info({ attempt: held.row.attempt, epoch: held.row.epoch }, 'conversation ready');
      return { kind: 'ready' };
    } catch (error) {
      if (error instanceof LostConversation || held.signal.aborted) throw error;
      if (error instanceof NoLongerWanted) return { kind: 'rest' };
      const failure = error instanceof SlipwayError ? error : new SlipwayError('internal.unexpected', 'The start broke on our side.', { cause: error });
      this.logger.warn({ err: failure, code: failure.code, attempt: held.row.attempt }, 'start step failed');
      return this.afterFailure(held, attempt, failure);
    }
  }

  /** WORKING: a new attempt with a new epoch, so that whatever an older sandbox still sends is refused. */
  private async beginAttempt(held: HeldConversation, attempt: StartAttempt): Promise<void> {
    const { row } = held;
    const [resumeRun, reason] = await Promise.all([this.goesOnRunning(held), this.whyAnew(held)]);
    await attempt.begin('WORKING', { show: false });
    attempt.end('done', reason);
    await attempt.begin('WAITING_FOR_SANDBOX', {
      show: true,
      sandbox: 'STARTING',
      columns: {
        attempt: row.attempt + 1,
        epoch: row.epoch + 1,
        leaseMs: null,
        checkpoint: {
          epoch: row.epoch + 1,
          resumeRun,
          suspect: row.sandboxStatus === 'RUNNING' || row.sandboxStatus === 'MISSING',
          ...(row.startStatus !== 'READY' && row.checkpoint.workspaceLost === true ? { workspaceLost: true } : {}),
          failures: 0,
        },
      },
    });
  }

  /**
   * Why a conversation that had a sandbox gets another, in the backend's words; nothing when it was paused or the
   * reason is unknown.
   */
  private async whyAnew({ row, orgId, id, signal }: HeldConversation): Promise<string | undefined> {
    if (row.sandboxStatus !== 'RUNNING' || row.startStatus !== 'READY') return undefined;
    const session = await this.runtime.session(orgId, id, signal).catch((error: unknown) => {
      if (error instanceof SlipwayError) return null;
      throw error;
    });
    const said = session?.status === 'error' ? session.status_detail : undefined;
    return said === undefined ? undefined : `${said[0]?.toUpperCase()}${said.slice(1)}${said.endsWith('.') ? '' : '.'}`;
  }

  /**
   * The agent goes on by itself when it worked as its sandbox was lost, or when a halted run is resumed without a new
   * message. A stopped run waits for a user.
   */
  private async goesOnRunning({ row, orgId, id }: HeldConversation): Promise<boolean> {
    if (row.attempt === 0 || row.executionStatus !== 'paused') return row.attempt > 0 && row.executionStatus === 'running';
    const [inbox, asked] = await Promise.all([hasInboxOf(this.pool, orgId, id), resumeIsAsked(this.pool, orgId, id)]);
    return !inbox && (asked || row.sandboxStatus === 'PAUSED');
  }

  private async afterFailure(held: HeldConversation, attempt: StartAttempt, failure: SlipwayError): Promise<Outcome> {
    const makesRoom = wantsRoom(failure, attempt.elapsedMs()) && (await this.room.make(held.orgId));
    const waits = sandboxWait(failure, attempt.elapsedMs(), makesRoom);
    if (waits !== null) {
      await attempt.report(waits.sentence, waits.queue);
      return { kind: 'later', delayMs: CAPACITY_RETRY_MS };
    }
    const failures = (held.row.checkpoint.failures ?? 0) + 1;
    if (ERRORS[failure.code].retry === 'never' || failures > MAX_FAILURES) {
      await attempt.failed(failure);
      await this.release(held);
      return { kind: 'failed' };
    }
    const suspect = failure.code.startsWith('sandbox.');
    await attempt.retrying(`${failure.detail} Trying again (${failures} of ${MAX_FAILURES}).`, {
      ...held.row.checkpoint,
      failures,
      ...(suspect ? { suspect: true, done: ['WORKING'] } : {}),
    });
    return { kind: 'later', delayMs: Math.min(RETRY_BASE_MS * 2 ** (failures - 1), RETRY_CAP_MS) };
  }

  /** A failed start keeps no sandbox: one that never held work is given up, another is paused with its workspace. */
  private async release(held: HeldConversation): Promise<void> {
    const { runtimeId, baseCommit } = held.row;
    if (runtimeId === null) return;
    const signal = AbortSignal.any([held.signal, AbortSignal.timeout(RELEASE_MS)]);
    try {
      await (baseCommit === null ? this.runtime.stop(held.orgId, runtimeId, signal) : this.runtime.pause(held.orgId, runtimeId, signal));
      await held.write(() => ({ events: [], columns: { runtimeId: null, sandboxUrl: null, sandboxKey: null } }));
    } catch (error) {
      this.logger.warn({ err: error }, 'sandbox of a failed start not released, sweep will retry');
    }
  }

  /** Runs `work` with a signal that also ends when the conversation is to be paused. */
  private async watched(held: HeldConversation, attempt: StartAttempt, work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const unwanted = new AbortController();
    let looking = false;
    const timer = setInterval(() => {
      if (looking) return;
      looking = true;
      readConversation(this.pool, held.orgId, held.id)
        .then((row) => {
          if (row === null || row.desired !== 'run') unwanted.abort(new NoLongerWanted('the conversation is to be paused'));
          else return attempt.reportSilence();
        })
        // A database that is away stops the step itself at its next write.
        .catch(() => {})
        .finally(() => {
          looking = false;
        });
    }, WATCH_MS);
    try {
      await work(AbortSignal.any([held.signal, unwanted.signal]));
    } catch (error) {
      if (unwanted.signal.aborted && !held.signal.aborted) throw unwanted.signal.reason;
      throw error;
    } finally {
      clearInterval(timer);
    }
  }

  private enqueue(name: QueueName, held: HeldConversation, delayMs?: number): Promise<void> {
    return this.queue.add(name, { orgId: held.orgId, conversationId: held.id }, { key: held.id, ...(delayMs === undefined ? {} : { delayMs }) });
  }
}
