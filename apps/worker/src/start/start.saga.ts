import { type QueueName } from '@slipway/contracts/operate';
import type { SqlPool } from '@slipway/db/sql';
import type { Clock, Ids } from '@slipway/domain';
import { SlipwayError } from '@slipway/errors';
import type { Queue } from '@slipway/queue';
import type { Logger } from '@slipway/telemetry';
import {
  deleteRunJobs,
  fulfil,
  hasInboxOf,
  hasOutboxJob,
  readConversation,
  resumeIsAsked,
} from '../conversations/conversation.queries.js';
import { LostConversation } from '../conversations/conversation-log.js';
import type { HeldConversation } from '../conversations/held-conversation.js';
import type { FailedStarts, FailureOutcome } from './failed-starts.js';
import { pauseIfIdle } from './idle-conversations.queries.js';
import type { RunningConversations } from './running-conversations.js';
import { NoLongerWanted, StartAttempt } from './start-attempt.js';
import type { StartSteps } from './start-steps.js';

/** How often a running start checks whether it is still wanted. Milliseconds. */
const WATCH_MS = 500;
type Outcome = FailureOutcome | { kind: 'ready' } | { kind: 'rest' };

/**
 * Brings one conversation to where it is wanted: a sandbox that runs, with the inbox in it. Reads what is, does what is
 * missing, and may begin again at any point. An attempt is one sandbox and one epoch; a worker that dies in it is
 * followed by another that goes on after the last finished step.
 */
export class StartSaga {
  constructor(
    private readonly pool: SqlPool,
    private readonly queue: Queue,
    private readonly steps: StartSteps,
    private readonly running: RunningConversations,
    private readonly failures: FailedStarts,
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
      const delivered = await this.running.deliver(held, this.steps.agentOf(held.row));
      // The loop goes on with a conversation that is to be paused.
      if (!delivered && (await this.restsWithoutSandbox(held))) continue;
      const outcome: Outcome = delivered ? { kind: 'ready' } : await this.attempt(held);
      if (outcome.kind === 'failed') return;
      if (outcome.kind === 'later') return this.enqueue('conversation-start', held, outcome.delayMs);
      if (outcome.kind === 'ready' && (await fulfil(this.pool, held.orgId, held.id, 'run'))) return;
      await held.refresh();
    }
  }

  /**
   * A sandbox that was lost under a conversation with nothing to do is not replaced: those at work need the room, and
   * the next message asks for one.
   */
  private async restsWithoutSandbox(held: HeldConversation): Promise<boolean> {
    if (held.row.startStatus !== 'READY' || !(await pauseIfIdle(this.pool, held, this.ids.uuid()))) return false;
    this.logger.info(
      { execution_status: held.row.executionStatus },
      'idle conversation lost its sandbox, the next message starts another',
    );
    await held.refresh();
    return true;
  }

  private async attempt(held: HeldConversation): Promise<Outcome> {
    const { startStatus, checkpoint, epoch } = held.row;
    const goesOn =
      startStatus !== 'READY' &&
      startStatus !== 'ERROR' &&
      checkpoint.done?.includes('WORKING') === true &&
      checkpoint.epoch === epoch;
    const attempt = new StartAttempt(held, this.clock, goesOn ? held.row.attempt : held.row.attempt + 1);
    try {
      if (!goesOn) await this.beginAttempt(held, attempt);
      await this.watched(held, attempt, (signal) => this.steps.run(held, attempt, signal));
      this.logger.info({ attempt: held.row.attempt, epoch: held.row.epoch }, 'conversation ready');
      return { kind: 'ready' };
    } catch (error) {
      if (error instanceof LostConversation || held.signal.aborted) throw error;
      if (error instanceof NoLongerWanted) return { kind: 'rest' };
      const failure =
        error instanceof SlipwayError
          ? error
          : new SlipwayError('internal.unexpected', 'The start broke on our side.', { cause: error });
      this.logger.warn({ err: failure, code: failure.code, attempt: held.row.attempt }, 'start step failed');
      return this.failures.handle(held, attempt, failure);
    }
  }

  /** WORKING: a new attempt with a new epoch, so that whatever an older sandbox still sends is refused. */
  private async beginAttempt(held: HeldConversation, attempt: StartAttempt): Promise<void> {
    const { row } = held;
    const [resumeRun, reason] = await Promise.all([this.goesOnRunning(held), this.steps.whyAnew(held)]);
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
          ...(row.startStatus !== 'READY' && row.checkpoint.restoredSeq !== undefined
            ? { restoredSeq: row.checkpoint.restoredSeq }
            : {}),
          failures: 0,
        },
      },
    });
  }

  /**
   * The agent goes on by itself when it worked as its sandbox was lost, or when a halted run is resumed without a new
   * message. A stopped run waits for a user.
   */
  private async goesOnRunning({ row, orgId, id }: HeldConversation): Promise<boolean> {
    if (row.attempt === 0 || row.executionStatus !== 'paused')
      return row.attempt > 0 && row.executionStatus === 'running';
    const [inbox, asked] = await Promise.all([hasInboxOf(this.pool, orgId, id), resumeIsAsked(this.pool, orgId, id)]);
    return !inbox && (asked || row.sandboxStatus === 'PAUSED');
  }

  /** Runs `work` with a signal that also ends when the conversation is to be paused. */
  private async watched(
    held: HeldConversation,
    attempt: StartAttempt,
    work: (signal: AbortSignal) => Promise<void>,
  ): Promise<void> {
    const unwanted = new AbortController();
    let looking = false;
    const timer = setInterval(() => {
      if (looking) return;
      looking = true;
      readConversation(this.pool, held.orgId, held.id)
        .then((row) => {
          if (row === null || row.desired !== 'run')
            unwanted.abort(new NoLongerWanted('the conversation is to be paused'));
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
    return this.queue.add(
      name,
      { orgId: held.orgId, conversationId: held.id },
      { key: held.id, ...(delayMs === undefined ? {} : { delayMs }) },
    );
  }
}
