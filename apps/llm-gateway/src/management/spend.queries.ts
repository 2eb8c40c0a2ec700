import { asSystem, type Columns, type PoolClient, type SqlPool } from '@slipway/db/sql';

export interface SpendFilter {
  readonly requestId: string | null;
  readonly keyId: string | null;
  readonly userId: string | null;
  readonly orgId: string | null;
  readonly from: Date | null;
  readonly to: Date | null;
}

/** A call of the ledger in LiteLLM's words. Neither what was asked nor what was answered is kept. */
export interface SpendLog {
  readonly request_id: string;
  readonly call_type: string;
  /** SHA-256 of the key in hex; empty when the key is gone. */
  readonly api_key: string;
  readonly spend: number;
  readonly total_tokens: number;
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly startTime: string;
  readonly endTime: string;
  readonly completionStartTime: string | null;
  readonly model: string;
  readonly model_id: string | null;
  readonly model_group: string;
  readonly user: string | null;
  readonly team_id: string;
  readonly session_id: string;
  readonly cache_hit: string;
  readonly status: 'success' | 'failure';
  readonly request_tags: readonly string[];
  readonly metadata: Readonly<Record<string, unknown>>;
}

const WHERE = `($1::text IS NULL OR l.request_id = $1) AND ($2::text IS NULL OR l.key_id = $2) AND ($3::text IS NULL OR l.user_id = $3) AND ($4::text IS NULL OR l.org_id = $4)
  AND ($5::timestamptz IS NULL OR l.started_at >= $5) AND ($6::timestamptz IS NULL OR l.started_at < $6)`;
const values = ({ requestId, keyId, userId, orgId, from, to }: SpendFilter): unknown[] => [
  requestId,
  keyId,
  userId,
  orgId,
  from,
  to,
];

function ofAll<T>(pool: SqlPool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  return asSystem(pool, 'slipway_gateway_system', 'the master key sees the spending of all', work);
}

type Row = Columns<
  'gateway.ledger',
  | 'request_id'
  | 'org_id'
  | 'user_id'
  | 'conversation_id'
  | 'model'
  | 'deployment'
  | 'attempts'
  | 'purpose'
  | 'repository'
  | 'pull_request'
  | 'integration'
  | 'prompt_tokens'
  | 'completion_tokens'
  | 'cached_tokens'
  | 'cache_write_tokens'
  | 'reasoning_tokens'
  | 'usage_source'
  | 'cost_usd'
  | 'cost_known'
  | 'status'
  | 'error_code'
  | 'from_cache'
  | 'started_at'
  | 'first_byte_ms'
  | 'latency_ms',
  { status: 'ok' | 'aborted' | 'failed' }
> & {
  hash: Buffer | null;
};

/** Newest first, at most `limit`. */
export function spendLogs(pool: SqlPool, filter: SpendFilter, limit: number): Promise<SpendLog[]> {
  return ofAll(pool, async (client) => {
    const { rows } = await client.query<Row>(
      `SELECT l.request_id, k.hash, l.org_id, l.user_id, l.conversation_id, l.model, l.deployment, l.attempts, l.purpose, l.repository, l.pull_request, l.integration, l.prompt_tokens,
         l.completion_tokens, l.cached_tokens, l.cache_write_tokens, l.reasoning_tokens, l.usage_source, l.cost_usd, l.cost_known, l.status, l.error_code, l.from_cache, l.started_at,
         l.first_byte_ms, l.latency_ms
       FROM gateway.ledger l LEFT JOIN gateway.virtual_key k ON k.id = l.key_id WHERE ${WHERE} ORDER BY l.started_at DESC, l.id DESC LIMIT $7`,
      [...values(filter), limit],
    );
    return rows.map((row) => ({
      request_id: row.request_id,
      call_type: 'acompletion',
      api_key: row.hash?.toString('hex') ?? '',
      spend: Number(row.cost_usd),
      total_tokens: row.prompt_tokens + row.completion_tokens,
      prompt_tokens: row.prompt_tokens,
      completion_tokens: row.completion_tokens,
      startTime: row.started_at.toISOString(),
      endTime: new Date(row.started_at.getTime() + row.latency_ms).toISOString(),
      completionStartTime:
        row.first_byte_ms === null ? null : new Date(row.started_at.getTime() + row.first_byte_ms).toISOString(),
      model: row.model,
      model_id: row.deployment,
      model_group: row.model,
      user: row.user_id,
      team_id: row.org_id,
      session_id: row.conversation_id,
      cache_hit: row.from_cache ? 'True' : 'False',
      status: row.status === 'failed' ? 'failure' : 'success',
      request_tags: [row.purpose],
      metadata: {
        org_id: row.org_id,
        conversation_id: row.conversation_id,
        repository: row.repository,
        pull_request: row.pull_request,
        integration: row.integration,
        purpose: row.purpose,
        attempts: row.attempts,
        cached_tokens: row.cached_tokens,
        cache_write_tokens: row.cache_write_tokens,
        reasoning_tokens: row.reasoning_tokens,
        usage_source: row.usage_source,
        cost_known: row.cost_known,
        status: row.status,
        error_code: row.error_code,
      },
    }));
  });
}

export interface SpendDay {
  readonly startTime: string;
  readonly spend: number;
  readonly users: Record<string, number>;
  readonly models: Record<string, number>;
}

/** A day (UTC) each, the first one first. */
export function spendByDay(pool: SqlPool, filter: SpendFilter): Promise<SpendDay[]> {
  return ofAll(pool, async (client) => {
    const { rows } = await client.query<
      Columns<'gateway.ledger', 'user_id' | 'model'> & { day: string; spend: string }
    >(
      `SELECT to_char(l.started_at AT TIME ZONE 'UTC', 'YYYY-MM-DD') AS day, l.user_id, l.model, sum(l.cost_usd) AS spend FROM gateway.ledger l WHERE ${WHERE} GROUP BY 1, 2, 3 ORDER BY 1`,
      values(filter),
    );
    const days = new Map<string, { ticks: number; users: Record<string, number>; models: Record<string, number> }>();
    for (const row of rows) {
      const day = days.get(row.day) ?? { ticks: 0, users: {}, models: {} };
      days.set(row.day, day);
      // In whole ticks: sums of doubles would drift.
      const ticks = Math.round(Number(row.spend) * 1e10);
      day.ticks += ticks;
      day.models[row.model] = ((day.models[row.model] ?? 0) * 1e10 + ticks) / 1e10;
      if (row.user_id !== null) day.users[row.user_id] = ((day.users[row.user_id] ?? 0) * 1e10 + ticks) / 1e10;
    }
    return [...days].map(([startTime, { ticks, users, models }]) => ({
      startTime,
      spend: ticks / 1e10,
      users,
      models,
    }));
  });
}

const BY = { model: 'l.model', api_key: 'l.key_id', team_id: 'l.org_id', user: 'l.user_id' } as const;

/** Who spent most, of one kind. */
export function spendBy(
  pool: SqlPool,
  by: keyof typeof BY,
  filter: SpendFilter,
  limit: number,
): Promise<Array<{ name: string | null; total_spend: number }>> {
  return ofAll(pool, async (client) => {
    const { rows } = await client.query<{ name: string | null; spend: string }>(
      `SELECT ${BY[by]} AS name, sum(l.cost_usd) AS spend FROM gateway.ledger l WHERE ${WHERE} GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT $7`,
      [...values(filter), limit],
    );
    return rows.map(({ name, spend }) => ({ name, total_spend: Number(spend) }));
  });
}

export function totalSpend(pool: SqlPool, filter: SpendFilter): Promise<number> {
  return ofAll(pool, async (client) => {
    const { rows } = await client.query<{ spend: string }>(
      `SELECT coalesce(sum(l.cost_usd), 0) AS spend FROM gateway.ledger l WHERE ${WHERE}`,
      values(filter),
    );
    return Number(rows[0]?.spend ?? 0);
  });
}
