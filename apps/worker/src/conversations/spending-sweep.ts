import type { SqlPool } from '@slipway/db/sql';
import type { Logger } from '@slipway/telemetry';
import { Lead } from '../sweeps/leads/lead.js';
import { SweepRuns } from '../sweeps/leads/sweep-runs.js';
import type { ChargePassRequests } from './charge-pass-requests.js';
import { system } from './conversation.queries.js';
import type { ConversationLocks } from './conversation-locks.js';
import type { ConversationSpendings } from './conversation-spending.js';

/** Between two rounds. A message that changes who pays waits for one at sandbox-gateway. Milliseconds. */
const ROUND_MS = 250;
const BATCH = 50;
/** A conversation whose spender the gateway did not take comes again after this. Milliseconds. */
const AGAIN_MS = 1_000;

/**
 * Sends unacknowledged spenders to llm-gateway: those that sandbox-gateway recorded for messages straight to
 * agent-server, and those lost elsewhere. Repeatable: it sends what is recorded by then. A failure waits for the next
 * sweep and does not block others.
 */
export class SpendingSweep {
  private readonly lead: Lead;
  private readonly runs: SweepRuns;
  private readonly notBefore = new Map<string, number>();

  constructor(
    private readonly pool: SqlPool,
    private readonly spendings: Pick<ConversationSpendings, 'apply'>,
    locks: Pick<ConversationLocks, 'tryLock'>,
    private readonly logger: Logger,
    private readonly passes: Pick<ChargePassRequests, 'tell'>,
  ) {
    this.runs = new SweepRuns(pool);
    this.lead = new Lead({
      name: 'spending',
      everyMs: ROUND_MS,
      locks,
      logger,
      round: async (signal) => {
        await this.run(signal, performance.now());
        await this.runs.completed('spending');
      },
    });
  }

  start(): void {
    this.lead.start();
  }

  close(): Promise<void> {
    return this.lead.close();
  }

  /** One round. @param now milliseconds that only go forward. Rejects when the database does not answer. */
  async run(signal: AbortSignal, now: number): Promise<void> {
    for (const [id, at] of this.notBefore) if (at <= now) this.notBefore.delete(id);
    await this.passes.tell(signal);
    const unacknowledged = await unacknowledgedSpendings(this.pool, [...this.notBefore.keys()]);
    await Promise.all(
      unacknowledged.map(async ({ orgId, id }) => {
        try {
          await this.spendings.apply(orgId, id, signal);
        } catch (error) {
          if (signal.aborted) return;
          this.notBefore.set(id, now + AGAIN_MS);
          this.logger.warn(
            { err: error, conversation_id: id },
            'budget of a conversation not acknowledged by llm-gateway, will retry',
          );
        }
      }),
    );
  }
}

function unacknowledgedSpendings(pool: SqlPool, but: readonly string[]): Promise<Array<{ orgId: string; id: string }>> {
  return system(pool, 'spending sweep', async (client) => {
    const { rows } = await client.query<{ orgId: string; id: string }>(
      'SELECT org_id AS "orgId", conversation_id AS id FROM app.conversation_spender WHERE applied IS NULL AND NOT (conversation_id = ANY ($1::uuid[])) LIMIT $2',
      [but, BATCH],
    );
    return rows;
  });
}
