import { MAX_TRACE_SPANS } from '@slipway/contracts/conversations';
import type { SqlPool } from '@slipway/db/sql';
import type { Clock } from '@slipway/domain';
import { startWait, turnSums } from '@slipway/domain/outcomes';
import type { Logger } from '@slipway/telemetry';
import type { LlmGatewayClient } from '../clients/llm-gateway.client.js';
import type { ConversationLocks } from '../conversations/conversation-locks.js';
import { Lead } from '../sweeps/leads/lead.js';
import { MAX_TURN_SPANS, readEndedTurns } from '../trace/ended-turns.js';
import { addTurns, type UncountedConversation, uncountedConversations } from './conversation-outcomes.queries.js';

/** Between two rounds. Milliseconds. */
const ROUND_MS = 10_000;
/** A conversation in which nothing happened for so long. Milliseconds. */
const SETTLED_MS = 60_000;
/**
 * A starting process reads back so far: waits and failed turns of what changed before are never known. Milliseconds.
 */
const LOOK_BACK_MS = 30 * 24 * 3_600_000;
/** Conversations of one round. */
const AT_ONCE = 50;
/** Conversations of one round that may fail before it ends. */
const MAX_FAILURES = 5;

export interface ConversationOutcomesOptions {
  readonly pool: SqlPool;
  readonly gateway: Pick<LlmGatewayClient, 'calls'>;
  readonly clock: Clock;
  readonly locks: Pick<ConversationLocks, 'tryLock'>;
  readonly logger: Logger;
}

/**
 * Counts each turn of each conversation once it has ended, by its trace: failures, what they cost, and how long people
 * waited. The position moves in the statement that adds, so that each counts once. A gateway that does not answer is
 * asked again in the next round, and nothing is counted without it.
 */
export class ConversationOutcomes {
  private readonly lead: Lead;
  private since: Date;

  constructor(private readonly options: ConversationOutcomesOptions) {
    const { locks, logger, clock } = options;
    this.since = new Date(clock.now().getTime() - LOOK_BACK_MS);
    this.lead = new Lead({
      name: 'conversation-outcomes',
      everyMs: ROUND_MS,
      locks,
      logger,
      round: (signal) => this.run(signal),
    });
  }

  start(): void {
    this.lead.start();
  }

  close(): Promise<void> {
    return this.lead.close();
  }

  /** One round. Rejects when database or gateway do not answer; what was counted by then stays so. */
  async run(signal: AbortSignal): Promise<void> {
    const { pool, clock } = this.options;
    const until = new Date(clock.now().getTime() - SETTLED_MS);
    const found = await uncountedConversations(pool, this.since, until);
    let failures = 0;
    for (const each of found.slice(0, AT_ONCE)) {
      signal.throwIfAborted();
      try {
        await this.count(each, signal);
      } catch (error) {
        failures += 1;
        // One that cannot be read stands in no other's way; a gateway that is away fails all of them.
        if (failures === MAX_FAILURES || found.length === 1) throw error;
        this.options.logger.warn(
          { err: error, org_id: each.orgId, conversation_id: each.id },
          'turns of a conversation not counted, will retry',
        );
      }
    }
    // Nothing older is left; an hour covers transactions that were under way.
    if (found.length === 0) this.since = new Date(Math.max(this.since.getTime(), until.getTime() - 3_600_000));
  }

  private async count(found: UncountedConversation, signal: AbortSignal): Promise<void> {
    const { after } = found;
    let part = await readEndedTurns(this.options, found, MAX_TRACE_SPANS, signal);
    if (part?.isTooLong === true) part = await readEndedTurns(this.options, found, MAX_TURN_SPANS, signal);
    if (part === null) return;
    const { trace, turns, upto, isWhole } = part;
    const [first] = after === 0 ? turns : [];
    const startWaitMs = first === undefined ? null : startWait(trace.spans, first);
    // A long log is read on in the next round.
    const head = isWhole || upto === after ? found.head : upto;
    await addTurns(this.options.pool, { ...found, head }, { ...turnSums(trace.spans, turns), startWaitMs, upto });
  }
}
