import { type IdleTimes, idleTimes } from '@slipway/agent-client';
import { type ConversationQueue, QUEUES, type QueueName, type QueuePayload } from '@slipway/contracts/operate';
import type { SqlPool } from '@slipway/db/sql';
import type { Ids } from '@slipway/domain';
import type { Queue } from '@slipway/queue';
import type { Logger } from '@slipway/telemetry';
import type { ConversationLocks } from '../conversations/conversation-locks.js';
import { endTrash } from '../conversations/trash.queries.js';
import { hooksToCheck, selectionsToList } from '../integrations/hooks/hooks.queries.js';
import { dueForRecovery } from '../integrations/recovery/recovery.queries.js';
import { orgsToClose } from '../orgs/orgs.queries.js';
import { wantDueOutcomes } from '../outcomes/pull-request-outcomes.queries.js';
import { Lead } from './leads/lead.js';
import { type SweepName, SweepRuns } from './leads/sweep-runs.js';
import {
  type Found,
  failedWithSandbox,
  idleConversations,
  letRest,
  lostConversations,
  removeExpired,
  removeOldDeliveries,
  staleOutboxJobs,
} from './sweeps.queries.js';
import { removeUnsentAttachments } from './unsent-attachments.queries.js';

const TICK_MS = 1_000;
/** Longest until a sweep that failed is tried again. Milliseconds. */
const RETRY_MS = 5_000;
const SCHEDULE = [
  { name: 'outbox', everyMs: 1_000 },
  { name: 'recovery', everyMs: 1_000 },
  { name: 'idle', everyMs: 30_000 },
  { name: 'organizations', everyMs: 5_000 },
  { name: 'missed', everyMs: 60_000 },
  { name: 'hooks', everyMs: 300_000 },
  { name: 'outcomes', everyMs: 60_000 },
  { name: 'retention', everyMs: 600_000 },
] as const satisfies ReadonlyArray<{ name: SweepName; everyMs: number }>;
/** A tick that comes a little early finds its sweep due all the same. Milliseconds. */
const EARLY_MS = TICK_MS / 2;
/** A job that is there already keeps its own time: only `add` without a delay makes it sooner. Milliseconds. */
const UNHURRIED_MS = 1;
/** Interval of the search for missed deliveries of a connection. Seconds; less by what a tick may be early. */
const RECOVERY_SECONDS = 270;
/** Connections checked in one round. */
const MAX_RECOVERED = 500;
/**
 * Pull requests that are asked after in one round, of one organization and of all: what is more waits for the next
 * ones.
 */
const DUE_OUTCOMES = { ofOne: 5, most: 200 };
/** Webhooks that Slipway has made are checked once in this time, and new repositories searched for. Hours. */
const HOOK_HOURS = 24;
const NEVER: IdleTimes = { user: null, anybody: null };

/**
 * What makes good on anything that was lost: jobs, sandboxes, workers. One worker does it at a time, whoever holds the
 * lock; its death frees it at once. A sweep only queues jobs. What is to be done is decided by the job, under the
 * conversation's lock.
 */
export class Sweeps {
  private readonly lead: Lead;
  private readonly runs: SweepRuns;
  /**
   * When each sweep is due again, on this process's monotonic clock. By time and not by rounds: after a long fault what
   * is overdue comes first.
   */
  private readonly dueAt = new Map<SweepName, number>();

  constructor(
    private readonly pool: SqlPool,
    private readonly queue: Queue,
    locks: ConversationLocks,
    private readonly ids: Ids,
    private readonly settings: {
      readonly idleSeconds: number /** Providers with a record of webhook deliveries. */;
      readonly hookProviders: readonly string[];
    },
    private readonly logger: Logger,
    private readonly monotonicMs: () => number = () => performance.now(),
  ) {
    this.lead = new Lead({ name: 'sweeps', everyMs: TICK_MS, locks, logger, round: (signal) => this.round(signal) });
    this.runs = new SweepRuns(pool);
  }

  start(): void {
    this.lead.start();
  }

  close(): Promise<void> {
    return this.lead.close();
  }

  /** One round, if this worker leads. */
  tick(): Promise<void> {
    return this.lead.tick();
  }

  /** Every sweep that is due, each by itself: one that fails keeps no other from being done. */
  private async round(signal: AbortSignal): Promise<void> {
    const now = this.monotonicMs();
    for (const { name, everyMs } of SCHEDULE) {
      if (now + EARLY_MS < (this.dueAt.get(name) ?? 0)) continue;
      if (signal.aborted) return;
      try {
        await this.sweep(name);
        await this.runs.completed(name);
        this.dueAt.set(name, now + everyMs);
      } catch (error) {
        this.dueAt.set(name, now + Math.min(everyMs, RETRY_MS));
        if (!signal.aborted) this.logger.warn({ err: error, sweep: name }, 'sweep failed, will retry');
      }
    }
  }

  private async sweep(name: (typeof SCHEDULE)[number]['name']): Promise<void> {
    switch (name) {
      case 'outbox':
        for (const job of await staleOutboxJobs(this.pool)) await this.addJob(job.queue, job.payload, job.key);
        return;
      case 'recovery':
        for (const lost of await lostConversations(this.pool)) await this.add('conversation-start', lost);
        return;
      case 'idle':
        return this.sweepIdle();
      case 'organizations':
        for (const { orgId, due } of await orgsToClose(this.pool))
          await this.addJob(due ? 'org-delete' : 'org-closing', { orgId }, orgId);
        return;
      case 'missed':
        for (const due of await dueForRecovery(this.pool, this.settings.hookProviders, RECOVERY_SECONDS, MAX_RECOVERED))
          await this.queue.add('integration-recovery', due, { key: due.connectionId, delayMs: UNHURRIED_MS });
        return;
      case 'hooks':
        for (const { orgId, connectionId } of await selectionsToList(this.pool, HOOK_HOURS))
          await this.addJob('integration-hooks', { orgId, connectionId }, connectionId);
        for (const { orgId, hookId } of await hooksToCheck(this.pool, HOOK_HOURS))
          await this.addJob('integration-hook', { orgId, hookId }, hookId);
        return;
      case 'outcomes':
        for (const due of await wantDueOutcomes(this.pool, DUE_OUTCOMES))
          await this.addJob('pull-request-outcome', due, due.outcomeId);
        return;
      case 'retention':
        await removeExpired(this.pool);
        await removeOldDeliveries(this.pool);
        await removeUnsentAttachments(this.pool);
        for (const ended of await endTrash(this.pool, new Date())) await this.add('conversation-delete', ended);
    }
  }

  private async sweepIdle(): Promise<void> {
    const found = await idleConversations(this.pool, this.settings.idleSeconds);
    // A user may be at work in its terminal, files or browser, or a client with an agent of its own, which leaves no
    // trace in the conversation. A sandbox that does not answer is paused.
    const unused = await Promise.all(
      found.map(async ({ sandboxUrl, withoutTask }) => {
        const { user, anybody } = sandboxUrl === null ? NEVER : await idleTimes(sandboxUrl);
        return (withoutTask ? anybody : user) ?? Number.POSITIVE_INFINITY;
      }),
    );
    for (const [index, idle] of found.entries()) {
      if ((unused[index] ?? 0) < this.settings.idleSeconds) continue;
      if (await letRest(this.pool, idle, this.settings.idleSeconds, this.ids.uuid()))
        await this.add('conversation-pause', idle);
    }
    for (const failed of await failedWithSandbox(this.pool)) await this.add('conversation-pause', failed);
  }

  /**
   * An outbox job that is not what its queue takes would never be done: it is logged each time, and blocks no other.
   */
  private async addJob<Q extends QueueName>(name: Q, payload: unknown, key: string): Promise<void> {
    const known = QUEUES[name].safeParse(payload);
    if (!known.success)
      return void this.logger.error({ queue: name, key, err: known.error }, 'outbox job has an unknown form');
    await this.queue.add(name, known.data as QueuePayload<Q>, { key, delayMs: UNHURRIED_MS });
  }

  private add(name: ConversationQueue, found: Found): Promise<void> {
    return this.queue.add(
      name,
      { orgId: found.orgId, conversationId: found.id },
      { key: found.id, delayMs: UNHURRIED_MS },
    );
  }
}
