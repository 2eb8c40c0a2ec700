import type { QueuePayload } from '@slipway/contracts/operate';
import { inOrg, type PoolClient, type SqlPool } from '@slipway/db/sql';
import type { Clock } from '@slipway/domain';
import type { Intent, Provider } from '@slipway/integrations';
import {
  allowedBy,
  claimDeed,
  type Decision,
  findDelivery,
  lockUndecided,
  needsWriteAccess,
  noteAttempt,
  noteWaiting,
  type StoredDelivery,
  writeDecision,
} from '@slipway/integrations/deliveries';
import type { Queue } from '@slipway/queue';
import type { Logger } from '@slipway/telemetry';
import { deleteOutboxJob, readOutboxJob } from '../orgs/orgs.queries.js';
import { noteOutcome } from '../pull-requests/note-outcome.js';
import type { Acts, Performed } from './acts.js';
import { wantPress } from './acts.queries.js';
import { wantRefusalSaid, wantSessionSeen } from './answers/want-answers.js';
import type { DeliveryReader } from './delivery-reader.js';
import { noteLifecycle } from './lifecycle.js';
import type { AskWriteAccess } from './write-access.js';

const QUEUE = 'integration-delivery';

/**
 * Where a provider that is away says no time: the first wait, doubled for each further attempt up to the longest.
 * Milliseconds.
 */
const FIRST_WAIT_MS = 2_000;
const LONGEST_WAIT_MS = 300_000;
/** So long after its arrival a delivery waits for its provider no more: an answer is stale by then. Milliseconds. */
const GIVE_UP_MS = 24 * 60 * 60 * 1000;

interface Wait {
  readonly why: string;
  readonly ms: number;
}

/**
 * What a stored delivery leads to: read, decided by what holds now, and acted on, with the decision, the deed's claim
 * and the act in one transaction. So it happens once, whatever is repeated or killed: before the commit nothing was
 * done, after it nothing is done again.
 */
export class IntegrationDelivery {
  constructor(
    private readonly pool: SqlPool,
    private readonly reader: DeliveryReader,
    private readonly providers: ReadonlyMap<string, Provider>,
    private readonly askWriteAccess: AskWriteAccess,
    private readonly acts: Acts,
    private readonly queue: Queue,
    private readonly clock: Clock,
    private readonly logger: Logger,
    /** Asks the provider about the app of a connection [there are none]. */
    private readonly refresh: (orgId: string, connectionId: string) => Promise<unknown> = () => Promise.resolve(),
  ) {}

  async run({ orgId, deliveryId }: QueuePayload<typeof QUEUE>, signal: AbortSignal): Promise<void> {
    const job = await readOutboxJob(this.pool, orgId, QUEUE, deliveryId);
    const stored = await inOrg(this.pool, orgId, (client) => findDelivery(client, orgId, deliveryId));
    if (stored?.state === 'received') {
      try {
        const wait = await this.decide(stored, signal);
        if (wait !== null) return await this.askAgain(stored, wait);
      } catch (error) {
        if (!signal.aborted) await noteAttempt(this.pool, orgId, deliveryId).catch(() => {});
        throw error;
      }
    }
    // A redelivery that was asked for since keeps its own outbox row.
    if (job !== null) await deleteOutboxJob(this.pool, orgId, job.id);
  }

  /** The outbox row stays, so that a job that is lost is queued again by the outbox. */
  private async askAgain({ id, orgId }: StoredDelivery, wait: Wait): Promise<void> {
    await noteWaiting(this.pool, orgId, id, wait);
    await this.queue.add(QUEUE, { orgId, deliveryId: id }, { key: id, delayMs: wait.ms });
  }

  /** @returns how long to wait for the provider; `null`: it is decided. */
  private async decide(stored: StoredDelivery, signal: AbortSignal): Promise<Wait | null> {
    const { id, orgId, connection } = stored;
    const { examined, later } = await this.reader.look(stored, signal);
    if (later !== null && this.isInTime(stored)) return { why: later.why, ms: this.waitOf(stored, later.at) };
    const { reading, decision: own } = examined;
    if (own.state === 'act' && own.act === 'press') return this.handOver(stored);
    let decision = own;
    if (own.state === 'act' && stored.attempts === 0) await this.showSeen(stored, own.intent);
    if (own.state === 'act' && needsWriteAccess(own)) {
      const answer = await this.askWriteAccess(orgId, connection, own.intent, signal);
      if (answer.access === 'later' && this.isInTime(stored))
        return { why: answer.why, ms: this.waitOf(stored, answer.at) };
      decision = allowedBy(answer.access === 'later' ? 'unknown' : answer.access, own, answer.why);
    }
    const perform = decision.state === 'act' ? await this.acts.prepare(stored, decision, signal) : null;
    signal.throwIfAborted();
    const semanticKey = reading.kind === 'intent' ? reading.intent.semanticKey : null;
    const performed = await inOrg(this.pool, orgId, async (client) => {
      // Another attempt has decided meanwhile.
      if (!(await lockUndecided(client, orgId, id))) return null;
      const made = await this.outcome(client, stored, decision, perform);
      await writeDecision(client, orgId, id, { ...made.decided, semanticKey });
      if ((made.decided.state === 'refused' || made.decided.code === 'nothing-to-stop') && reading.kind === 'intent')
        await wantRefusalSaid(client, stored, {
          provider: this.providers.get(connection.provider),
          intent: reading.intent,
          code: made.decided.code,
        });
      const pullRequests =
        reading.kind === 'outcome' && made.decided.state === 'ignored'
          ? await noteOutcome(client, orgId, connection, reading.outcome)
          : [];
      const changed =
        reading.kind === 'lifecycle' && made.decided.state === 'ignored'
          ? await noteLifecycle(client, orgId, connection, reading.lifecycle)
          : false;
      return { ...made, pullRequests, changed };
    });
    if (performed === null) return null;
    const { state, code, conversationId } = performed.decided;
    const conversation = conversationId === null ? {} : { conversation_id: conversationId };
    this.logger.info(
      { delivery_id: id, connection_id: connection.id, state, reason: code, ...conversation },
      'delivery decided',
    );
    await this.acts.queueJobs(orgId, performed);
    if (performed.changed)
      await this.refresh(orgId, connection.id).catch((error: unknown) =>
        // The sweep of installations asks again.
        this.logger.warn({ connection_id: connection.id, err: error }, 'failed to read the installation of an app'),
      );
    for (const pullRequestId of performed.pullRequests)
      await this.queue.add('pull-request', { orgId, pullRequestId }, { key: pullRequestId });
    return null;
  }

  /**
   * To app-server, which answers agents for whoever presses as it does for its page. The delivery stays undecided until
   * it has.
   */
  private async handOver({ id, orgId }: StoredDelivery): Promise<null> {
    const payload = { orgId, deliveryId: id };
    const wanted = await inOrg(this.pool, orgId, async (client) => {
      if (!(await lockUndecided(client, orgId, id))) return false;
      await wantPress(client, payload);
      return true;
    });
    if (wanted) await this.queue.add('integration-press', payload, { key: id });
    return null;
  }

  /** Whoever watches a session sees something move, also while its git host lets us wait. */
  private async showSeen(stored: StoredDelivery, intent: Intent): Promise<void> {
    const { orgId } = stored;
    const answerId = await inOrg(this.pool, orgId, (client) => wantSessionSeen(client, stored, intent));
    if (answerId !== null) await this.queue.add('integration-notice', { orgId, answerId }, { key: answerId });
  }

  private isInTime({ receivedAt }: StoredDelivery): boolean {
    return this.clock.now().getTime() - receivedAt.getTime() < GIVE_UP_MS;
  }

  private waitOf({ attempts }: StoredDelivery, at: Date | null): number {
    if (at !== null) return Math.max(at.getTime() - this.clock.now().getTime(), FIRST_WAIT_MS);
    return Math.min(FIRST_WAIT_MS * 2 ** Math.min(attempts, 16), LONGEST_WAIT_MS);
  }

  private async outcome(
    client: PoolClient,
    stored: StoredDelivery,
    decision: Decision,
    perform: Awaited<ReturnType<Acts['prepare']>> | null,
  ): Promise<Performed> {
    if (decision.state !== 'act' || perform === null) return without(decision);
    const { provider, host } = stored.connection;
    const claimed = await claimDeed(
      client,
      stored.orgId,
      { provider, host, semanticKey: decision.intent.semanticKey },
      stored.id,
    );
    return claimed ? perform(client, decision) : without({ state: 'ignored', code: 'same-deed', detail: null });
  }
}

function without(decision: Decision): Performed {
  if (decision.state === 'act') throw new Error('an unprepared act');
  return { decided: { ...decision, conversationId: null }, job: null };
}
