import { asSystem, type SqlPool } from '@slipway/db/sql';
import { decimal } from '../budgets/ticks.js';
import type { LedgerInput } from './ledger-entry.js';

/** Column, its type, and where its value comes from. */
const COLUMNS: ReadonlyArray<readonly [name: string, type: string, value: (entry: LedgerInput) => unknown]> = [
  ['id', 'uuid', (entry) => entry.id],
  ['org_id', 'text', (entry) => entry.orgId],
  ['conversation_id', 'uuid', (entry) => entry.conversationId],
  ['key_id', 'text', (entry) => entry.keyId],
  ['user_id', 'text', (entry) => entry.userId],
  ['repository', 'text', (entry) => entry.repository ?? null],
  ['pull_request', 'text', (entry) => entry.pullRequest ?? null],
  ['integration', 'text', (entry) => entry.integration ?? null],
  ['purpose', 'text', (entry) => entry.purpose ?? 'agent'],
  ['request_id', 'text', (entry) => entry.requestId],
  ['trace_id', 'text', (entry) => entry.traceId],
  ['model', 'text', (entry) => entry.model],
  ['deployment', 'text', (entry) => entry.deployment ?? null],
  ['attempts', 'int', (entry) => entry.attempts ?? 1],
  ['prompt_tokens', 'int', (entry) => entry.promptTokens],
  ['completion_tokens', 'int', (entry) => entry.completionTokens],
  ['cached_tokens', 'int', (entry) => entry.cachedTokens],
  ['cache_write_tokens', 'int', (entry) => entry.cacheWriteTokens ?? 0],
  ['reasoning_tokens', 'int', (entry) => entry.reasoningTokens ?? 0],
  ['from_cache', 'boolean', (entry) => entry.fromCache ?? false],
  ['usage_source', 'text', (entry) => entry.usageSource],
  ['cost_usd', 'numeric', (entry) => decimal(entry.costUsd)],
  ['cost_known', 'boolean', (entry) => entry.costKnown],
  ['status', 'text', (entry) => entry.status],
  ['error_code', 'text', (entry) => entry.errorCode],
  ['streamed', 'boolean', (entry) => entry.streamed],
  ['started_at', 'timestamptz', (entry) => entry.startedAt],
  ['first_byte_ms', 'double precision', (entry) => entry.firstByteMs],
  ['latency_ms', 'double precision', (entry) => entry.latencyMs],
  ['holder', 'uuid', (entry) => entry.holder ?? null],
  // An array of arrays is no list of lists to Postgres.
  ['accounts', 'text', (entry) => `{${(entry.accounts ?? []).join(',')}}`],
];

const INSERT = `INSERT INTO gateway.ledger (${COLUMNS.map(([name]) => name).join(', ')})
SELECT ${COLUMNS.map(([name]) => (name === 'accounts' ? 'accounts::bigint[]' : name)).join(', ')} FROM unnest(${COLUMNS.map(([, type], index) => `$${index + 1}::${type}[]`).join(', ')}) AS u(${COLUMNS.map(([name]) => name).join(', ')}) ON CONFLICT (id) DO NOTHING`;

/** A row as JSON, by its columns. */
export function ledgerRow(entry: LedgerInput): Record<string, unknown> {
  const row = Object.fromEntries(COLUMNS.map(([name, , value]) => [name, value(entry)]));
  return { ...row, accounts: entry.accounts ?? [] };
}

/** One commit for entries of many organizations. Those that are already stored are left as they are. */
export async function insertLedgerEntries(pool: SqlPool, entries: readonly LedgerInput[]): Promise<void> {
  await asSystem(pool, 'slipway_gateway_system', 'one batch holds calls of many organizations', async (client) => {
    await client.query({
      name: 'insert-ledger',
      text: INSERT,
      values: COLUMNS.map(([, , value]) => entries.map(value)),
    });
  });
}
