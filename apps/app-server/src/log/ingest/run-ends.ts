import { type ConversationEvent, stateValueOf } from '@slipway/contracts/events';
import { readTrigger } from '@slipway/db/conversations';
import { inOrg, type PoolClient, type SqlPool } from '@slipway/db/sql';
import { type ConversationEnd, conversationEnds, Histogram, type Registry } from '@slipway/telemetry/http';

/**
 * Counts how runs end, and how long a conversation waits for its first event. Events of one id are stored once, so each
 * is counted once.
 */
export class RunEnds {
  private readonly ended: ReturnType<typeof conversationEnds>;
  private readonly firstEvent: Histogram;

  constructor(
    private readonly pool: SqlPool,
    metrics: Registry,
  ) {
    this.ended = conversationEnds(metrics, ['finished', 'error', 'stuck', 'stopped']);
    this.firstEvent = new Histogram({
      name: 'conversation_first_event_seconds',
      help: 'Time from the creation of a conversation to the first event of its sandbox in the log',
      buckets: [0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60, 300, 900],
      registers: [metrics],
    });
  }

  /** In the transaction that stores them. @returns what counts them, for after its commit. */
  async note(
    client: PoolClient,
    orgId: string,
    conversationId: string,
    fresh: readonly ConversationEvent[],
  ): Promise<() => void> {
    const ends = fresh.flatMap((event) => endOf(event) ?? []);
    if (ends.length === 0) return () => {};
    const found = await readTrigger(client, orgId, conversationId);
    return () => {
      for (const end of ends) this.ended(end, found?.trigger ?? 'user');
    };
  }

  /** After the first batch of a sandbox. Not awaited: a database that is away costs one observation. */
  async began(orgId: string, conversationId: string, epoch: number): Promise<void> {
    const seconds = await inOrg(this.pool, orgId, async (client) => {
      const { rows } = await client.query<{ seconds: number }>({
        name: 'first-event',
        text: `SELECT extract(epoch FROM clock_timestamp() - c.created_at)::float8 AS seconds FROM app.conversation c WHERE c.org_id = $1 AND c.id = $2
               AND NOT EXISTS (SELECT 1 FROM app.event e WHERE e.conversation_id = c.id AND e.epoch < $3 AND e.producer_seq IS NOT NULL)`,
        values: [orgId, conversationId, epoch],
      });
      return rows[0]?.seconds ?? null;
    }).catch(() => null);
    if (seconds !== null) this.firstEvent.observe(seconds);
  }
}

function endOf(event: ConversationEvent): ConversationEnd | null {
  if (event.kind === 'InterruptEvent') return 'stopped';
  const status = stateValueOf(event, 'execution_status');
  return status === 'finished' || status === 'error' || status === 'stuck' ? status : null;
}
