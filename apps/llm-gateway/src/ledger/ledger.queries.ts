import { asSystem, type SqlPool } from '@slipway/db/sql';
import type { LedgerEntry } from './ledger-entry.js';

/** Column, its type, and where its value comes from. */
const COLUMNS: ReadonlyArray<readonly [name: string, type: string, value: (entry: LedgerEntry) => unknown]> = [
  ['id', 'uuid', (entry) => entry.id],
  ['org_id', 'text', (entry) => entry.orgId],
  ['conversation_id', 'uuid', (entry) => entry.conversationId],
  ['key_id', 'text', (entry) => entry.keyId],
  ['user_id', 'text', (entry) => entry.userId],
  ['request_id', 'text', (entry) => entry.requestId],
  ['trace_id', 'text', (entry) => entry.traceId],
  ['model', 'text', (entry) => entry.model],
  ['prompt_tokens', 'int', (entry) => entry.promptTokens],
  ['completion_tokens', 'int', (entry) => entry.completionTokens],
  ['cached_tokens', 'int', (entry) => entry.cachedTokens],
  ['usage_source', 'text', (entry) => entry.usageSource],
  ['cost_usd', 'numeric', (entry) => entry.costUsd.toFixed(10)],
  ['cost_known', 'boolean', (entry) => entry.costKnown],
  ['status', 'text', (entry) => entry.status],
  ['error_code', 'text', (entry) => entry.errorCode],
  ['streamed', 'boolean', (entry) => entry.streamed],
  ['started_at', 'timestamptz', (entry) => entry.startedAt],
  ['first_byte_ms', 'double precision', (entry) => entry.firstByteMs],
  ['latency_ms', 'double precision', (entry) => entry.latencyMs],
];

const INSERT = `INSERT INTO gateway.ledger (${COLUMNS.map(([name]) => name).join(', ')})
SELECT * FROM unnest(${COLUMNS.map(([, type], index) => `$${index + 1}::${type}[]`).join(', ')}) ON CONFLICT (id) DO NOTHING`;

/** One commit for entries of many organizations. Those that are already stored are left as they are. */
export async function insertLedgerEntries(pool: SqlPool, entries: readonly LedgerEntry[]): Promise<void> {
  await asSystem(pool, 'slipway_gateway_system', 'one batch holds calls of many organizations', async (client) => {
    await client.query({ name: 'insert-ledger', text: INSERT, values: COLUMNS.map(([, , value]) => entries.map(value)) });
  });
}
