import type { LedgerPage } from '@slipway/contracts/models';
import { asSystem, type Columns, type SqlPool } from '@slipway/db/sql';

type Row = Columns<
  'gateway.ledger',
  | 'position'
  | 'org_id'
  | 'conversation_id'
  | 'user_id'
  | 'model'
  | 'prompt_tokens'
  | 'cached_tokens'
  | 'completion_tokens'
  | 'cost_usd'
  | 'cost_known'
  | 'status'
  | 'started_at',
  { status: 'ok' | 'aborted' | 'failed' }
>;

/**
 * Calls of every organization after a position. A row whose commit comes after that of a later position is not missed:
 * writers pause for a moment (`gateway.share_ledger`), and only rows up to that point are returned.
 */
export async function readLedger(pool: SqlPool, after: number, limit: number): Promise<LedgerPage> {
  const newest = await asSystem(
    pool,
    'slipway_gateway_system',
    'the roll-up counts calls of all organizations',
    async (client) => {
      const { rows: later } = await client.query({
        name: 'ledger-later',
        text: 'SELECT 1 FROM gateway.ledger WHERE position > $1 LIMIT 1',
        values: [after],
      });
      // Most of the time there is nothing new, and no writer has to wait for that check.
      if (later.length === 0) return after;
      await client.query({
        name: 'ledger-lock',
        text: `SELECT pg_advisory_xact_lock(hashtextextended('gateway.ledger', 0))`,
      });
      const { rows } = await client.query<{ newest: number }>({
        name: 'ledger-newest',
        text: 'SELECT position AS newest FROM gateway.ledger ORDER BY position DESC LIMIT 1',
      });
      return rows[0]?.newest ?? after;
    },
  );
  if (newest <= after) return { rows: [], upto: after, more: false };
  const rows = await asSystem(
    pool,
    'slipway_gateway_system',
    'the roll-up counts calls of all organizations',
    async (client) =>
      (
        await client.query<Row>({
          name: 'ledger-page',
          text: `SELECT position, org_id, conversation_id, user_id, model, prompt_tokens, cached_tokens, completion_tokens, cost_usd, cost_known, status, started_at
                 FROM gateway.ledger WHERE position > $1 AND position <= $2 ORDER BY position LIMIT $3`,
          values: [after, newest, limit],
        })
      ).rows,
  );
  const upto = rows.length < limit ? newest : (rows.at(-1)?.position ?? newest);
  return {
    rows: rows.map((row) => ({
      org: row.org_id,
      conversation: row.conversation_id,
      user: row.user_id,
      model: row.model,
      prompt: row.prompt_tokens,
      cached: row.cached_tokens,
      completion: row.completion_tokens,
      cost: row.cost_usd,
      priced: row.cost_known,
      failed: row.status === 'failed',
      at: row.started_at.toISOString(),
    })),
    upto,
    more: upto < newest,
  };
}
