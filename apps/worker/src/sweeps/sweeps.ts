import { type ConversationQueue, QUEUES, type QueueName, type QueuePayload } from '@slipway/contracts';
import type { SqlPool } from '@slipway/db/sql';
import type { Ids } from '@slipway/domain';
import type { Queue } from '@slipway/queue';
import type { Logger } from '@slipway/telemetry';
import type { ConversationLocks } from '../conversations/conversation-locks.js';
import { orgsToClose } from '../orgs/orgs.queries.js';
import { type SandboxIdleTimes, sandboxIdleTimes } from '../peers/agent-server.client.js';
import { type Found, failedWithSandbox, idleConversations, letRest, lostConversations, removeExpired, staleWishes } from './sweeps.queries.js';

const TICK_MS = 1_000;
/** Every so many ticks. */
const IDLE_TICKS = 30;
const ORG_TICKS = 5;
const RETENTION_TICKS = 600;
/** A job that is there already keeps its own time: only `add` without a delay makes it sooner. Milliseconds. */
const UNHURRIED_MS = 1;
const NEVER: SandboxIdleTimes = { person: null, anybody: null };

/**
 * What makes good on anything that was lost: jobs, sandboxes, workers. One worker does it at a time, whoever holds the lock; its death frees it at once.
 * A sweep only queues jobs. What is to be done is decided by the job, under the conversation's lock.
 */
export class Sweeps {
  private timer: NodeJS.Timeout | null = null;
  private running: Promise<void> = Promise.resolve();
  private leads: { signal: AbortSignal; release: () => Promise<void> } | null = null;
  private ticks = 0;
  private closed = false;

  constructor(
    private readonly pool: SqlPool,
    private readonly queue: Queue,
    private readonly locks: ConversationLocks,
    private readonly ids: Ids,
    private readonly settings: { idleSeconds: number },
    private readonly logger: Logger,
  ) {}

  start(): void {
    if (this.closed) return;
    this.timer = setTimeout(() => {
      this.running = this.tick()
        .catch((error: unknown) => this.logger.warn({ err: error }, 'a sweep failed; the next one tries again'))
        .finally(() => this.start());
    }, TICK_MS);
  }

  async close(): Promise<void> {
    this.closed = true;
    if (this.timer !== null) clearTimeout(this.timer);
    await this.running;
    await this.leads?.release();
  }

  /** One round, if this worker leads. */
  async tick(): Promise<void> {
    if (this.leads?.signal.aborted === true) this.leads = null;
    this.leads ??= await this.locks.tryLock('sweeps');
    if (this.leads === null) return;
    for (const wish of await staleWishes(this.pool)) await this.addWish(wish.queue, wish.payload, wish.key);
    for (const lost of await lostConversations(this.pool)) await this.add('conversation-start', lost);
    if (this.ticks % IDLE_TICKS === 0) await this.sweepIdle();
    if (this.ticks % ORG_TICKS === 0)
      for (const { orgId, due } of await orgsToClose(this.pool)) await this.addWish(due ? 'org-delete' : 'org-closing', { orgId }, orgId);
    if (this.ticks % RETENTION_TICKS === 0) await removeExpired(this.pool);
    this.ticks += 1;
  }

  private async sweepIdle(): Promise<void> {
    const found = await idleConversations(this.pool, this.settings.idleSeconds);
    // Somebody may be at work in its terminal, files or browser, or a client with an agent of its own, which says nothing to the conversation.
    // A sandbox that does not answer rests.
    const unused = await Promise.all(
      found.map(async ({ sandboxUrl, withoutTask }) => {
        const { person, anybody } = sandboxUrl === null ? NEVER : await sandboxIdleTimes(sandboxUrl);
        return (withoutTask ? anybody : person) ?? Number.POSITIVE_INFINITY;
      }),
    );
    for (const [index, idle] of found.entries()) {
      if ((unused[index] ?? 0) < this.settings.idleSeconds) continue;
      if (await letRest(this.pool, idle, this.settings.idleSeconds, this.ids.uuid())) await this.add('conversation-pause', idle);
    }
    for (const failed of await failedWithSandbox(this.pool)) await this.add('conversation-pause', failed);
  }

  /** A wish that is not what its queue takes would never be fulfilled: it says so each time, and stands in nobody's way. */
  private async addWish<Q extends QueueName>(name: Q, payload: unknown, key: string): Promise<void> {
    const known = QUEUES[name].safeParse(payload);
    if (!known.success) return void this.logger.error({ queue: name, key, err: known.error }, 'a wish has an unknown form');
    await this.queue.add(name, known.data as QueuePayload<Q>, { key, delayMs: UNHURRIED_MS });
  }

  private add(name: ConversationQueue, found: Found): Promise<void> {
    return this.queue.add(name, { orgId: found.orgId, conversationId: found.id }, { key: found.id, delayMs: UNHURRIED_MS });
  }
}
