import type { LedgerCalls } from '@slipway/contracts/conversations';
import { type Columns, inOrg, type SqlPool } from '@slipway/db/sql';

type Row = Columns<
  'gateway.ledger',
  | 'id'
  | 'trace_id'
  | 'model'
  | 'purpose'
  | 'attempts'
  | 'prompt_tokens'
  | 'cached_tokens'
  | 'completion_tokens'
  | 'cost_usd'
  | 'cost_known'
  | 'status'
  | 'error_code'
  | 'started_at'
  | 'first_byte_ms'
  | 'latency_ms'
  | 'deployment',
  { status: 'ok' | 'aborted' | 'failed' }
>;

/**
 * Calls of one conversation that began in `[from, to)`, oldest first. A call that is under way, or not stored yet, is
 * absent.
 * @param providerOf the kind of provider behind a deployment as it is configured now; `null` for one that is gone.
 */
export async function readCalls(
  pool: SqlPool,
  orgId: string,
  conversationId: string,
  {
    range,
    providerOf,
  }: {
    readonly range: { readonly from?: string | undefined; readonly to?: string | undefined; readonly limit: number };
    readonly providerOf: (deployment: string) => string | null;
  },
): Promise<LedgerCalls> {
  const { rows } = await inOrg(pool, orgId, (client) =>
    client.query<Row>({
      name: 'calls-of-conversation',
      text: `SELECT id, trace_id, model, purpose, attempts, prompt_tokens, cached_tokens, completion_tokens, cost_usd, cost_known, status, error_code, started_at, first_byte_ms, latency_ms, deployment
             FROM gateway.ledger
             WHERE org_id = $1 AND conversation_id = $2 AND ($3::timestamptz IS NULL OR started_at >= $3) AND ($4::timestamptz IS NULL OR started_at < $4)
             ORDER BY started_at, id LIMIT $5`,
      values: [orgId, conversationId, range.from ?? null, range.to ?? null, range.limit + 1],
    }),
  );
  return {
    calls: rows.slice(0, range.limit).map((row) => ({
      id: row.id,
      traceId: row.trace_id,
      model: row.model,
      provider: row.deployment === null ? null : providerOf(row.deployment),
      purpose: row.purpose,
      attempts: row.attempts,
      prompt: row.prompt_tokens,
      cached: row.cached_tokens,
      completion: row.completion_tokens,
      cost: row.cost_usd,
      priced: row.cost_known,
      status: row.status,
      errorCode: row.error_code,
      at: row.started_at.toISOString(),
      firstByteMs: row.first_byte_ms,
      latencyMs: row.latency_ms,
    })),
    more: rows.length > range.limit,
  };
}
