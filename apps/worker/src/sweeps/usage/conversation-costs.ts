import { inOrg, type SqlPool } from '@slipway/db/sql';
import { Histogram, type Registry } from '@slipway/telemetry/http';

/** After the end of a run; by then the ledger's last calls are counted. Milliseconds. */
const COUNTED_MS = 10_000;
/** Conversations that wait for it. */
const MAX_WAITING = 10_000;
const RESULTS = ['finished', 'error', 'stuck'] as const;

/**
 * What a conversation has cost when its run has ended. A process that ends in the meantime loses its observations: the
 * ledger is the book, and this a picture of it.
 */
export class ConversationCosts {
  private readonly waiting = new Map<string, NodeJS.Timeout>();
  private readonly cost: Histogram<'result'>;

  constructor(
    private readonly pool: SqlPool,
    metrics: Registry,
  ) {
    this.cost = new Histogram({
      name: 'conversation_cost_usd',
      help: 'Cost of a conversation up to the end of a run, by the end of the run; observed ten seconds later',
      labelNames: ['result'],
      buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 100],
      registers: [metrics],
    });
    for (const result of RESULTS) this.cost.zero({ result });
  }

  /** Does nothing where no run has ended. One that ends again before it was observed is observed once. */
  note({
    orgId,
    id,
    executionStatus,
  }: {
    readonly orgId: string;
    readonly id: string;
    readonly executionStatus: string;
  }): void {
    const result = RESULTS.find((each) => each === executionStatus);
    if (result === undefined) return;
    clearTimeout(this.waiting.get(id));
    if (!this.waiting.has(id) && this.waiting.size >= MAX_WAITING) return;
    const timer = setTimeout(() => void this.observe(orgId, id, result), COUNTED_MS);
    timer.unref();
    this.waiting.set(id, timer);
  }

  close(): void {
    for (const timer of this.waiting.values()) clearTimeout(timer);
    this.waiting.clear();
  }

  private async observe(orgId: string, id: string, result: (typeof RESULTS)[number]): Promise<void> {
    this.waiting.delete(id);
    const found = await inOrg(this.pool, orgId, (client) =>
      client.query<{ cost: number }>(
        'SELECT cost_usd::float8 AS cost FROM app.conversation WHERE org_id = $1 AND id = $2',
        [orgId, id],
      ),
    ).catch(() => null);
    const cost = found?.rows[0]?.cost;
    if (cost !== undefined) this.cost.observe({ result }, cost);
  }
}
