import { BUDGET_THRESHOLDS } from '@slipway/contracts/spending';
import type { Columns, SqlPool } from '@slipway/db/sql';
import { Gauge, type Registry } from '@slipway/telemetry/http';
import { system } from '../conversations/conversation.queries.js';

/**
 * Budgets of all organizations together, without a name of any; each worker reads the same. Without a value while the
 * database does not answer.
 */
export function budgetGauges(pool: SqlPool, metrics: Registry): void {
  const reached = new Gauge({
    name: 'budget_organizations',
    help: 'Organizations that have spent at least this share of their budget in its cycle; share is in percent',
    labelNames: ['share'],
    registers: [metrics],
    async collect() {
      const found = await atShares(pool).catch(() => null);
      reached.reset();
      for (const share of found === null ? [] : BUDGET_THRESHOLDS) reached.set({ share }, found?.get(share) ?? 0);
    },
  });
  const stopped = new Gauge({
    name: 'budget_stopped',
    help: 'Organizations and users whose budget is spent until its cycle ends; of is org or user',
    labelNames: ['of'],
    registers: [metrics],
    async collect() {
      const found = await stops(pool).catch(() => null);
      stopped.reset();
      if (found === null) return;
      stopped.set({ of: 'org' }, found.orgs);
      stopped.set({ of: 'user' }, found.users);
    },
  });
}

function atShares(pool: SqlPool): Promise<ReadonlyMap<number, number>> {
  return system(pool, 'metrics', async (client) => {
    const { rows } = await client.query<Columns<'app.budget_notice', 'threshold'> & { count: number }>(
      `SELECT threshold, count(DISTINCT org_id)::int AS count FROM app.budget_notice WHERE user_id = '' AND cycle_start <= current_date AND cycle_end > current_date
       GROUP BY threshold`,
    );
    return new Map(rows.map(({ threshold, count }) => [threshold, count]));
  });
}

function stops(pool: SqlPool): Promise<{ orgs: number; users: number }> {
  return system(pool, 'metrics', async (client) => {
    const { rows } = await client.query<{ orgs: number; users: number }>(
      `SELECT count(*) FILTER (WHERE user_id = '')::int AS orgs, count(*) FILTER (WHERE user_id <> '')::int AS users FROM app.budget_stop WHERE until > now()`,
    );
    return rows[0] ?? { orgs: 0, users: 0 };
  });
}
