import type { SqlPool } from '@slipway/db/sql';
import { ledgerRow } from './ledger.queries.js';
import type { LedgerInput } from './ledger-entry.js';

export interface OpenCall {
  /** Instance id of the process that sends it. */
  readonly replica: string;
  /** Its row of the ledger if its end stays unknown. */
  readonly entry: LedgerInput;
}

/** One commit: calls that are under way from now on, and ids of those whose own row is in the ledger. */
export async function recordCalls(pool: SqlPool, begun: readonly OpenCall[], ended: readonly string[]): Promise<void> {
  const rows = begun.map(({ replica, entry }) => ({ ...ledgerRow(entry), replica }));
  await pool.query({
    name: 'record-calls',
    text: 'SELECT gateway.record_calls($1, $2)',
    values: [JSON.stringify(rows), ended],
  });
}

/** Ids of calls that Postgres has had for `seconds` as under way at `replica`; 1,000 at most. */
export async function oldCalls(pool: SqlPool, replica: string, seconds: number): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>('SELECT id FROM gateway.old_calls($1, $2) id', [replica, seconds]);
  return rows.map(({ id }) => id);
}
