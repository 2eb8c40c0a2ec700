import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { BudgetStops, LedgerPage, OrgLimits, PromptPolicies } from '@slipway/contracts/models';
import { createPool, type SqlPool } from '@slipway/db/sql';
import { createLogger } from '@slipway/telemetry';
import { createTestDatabase, type TestDatabase } from '@slipway/testing';
import fc from 'fast-check';
import pg from 'pg';
import { UsageSweep } from './usage-sweep.js';

type Row = LedgerPage['rows'][number];

/** The gateway's routes over a ledger in memory; `pageSize` rows at a time. */
class Ledger {
  readonly rows: Row[] = [];
  readonly applied = new Map<string, BudgetStops['stops']>();
  readonly limits = new Map<string, OrgLimits>();
  away = false;
  constructor(private readonly pageSize = 3) {}

  async ledger(after: number): Promise<LedgerPage> {
    if (this.away) throw new Error('away');
    const rows = this.rows.slice(after, after + this.pageSize);
    return { rows, upto: after + rows.length, more: after + rows.length < this.rows.length };
  }

  async replaceBudgetStops(orgId: string, stops: BudgetStops['stops']): Promise<void> {
    if (this.away) throw new Error('away');
    this.applied.set(orgId, stops);
  }

  readonly policies: PromptPolicies['policies'][] = [];

  async replacePromptPolicies(policies: PromptPolicies['policies']): Promise<void> {
    if (this.away) throw new Error('away');
    this.policies.push(policies);
  }

  async replaceLimits(orgId: string, limits: OrgLimits): Promise<void> {
    if (this.away) throw new Error('away');
    this.limits.set(orgId, limits);
  }
}

describe('counting what is spent', () => {
  let database: TestDatabase;
  let owner: pg.Pool;
  let pool: SqlPool;
  let ledger: Ledger;
  let now: Date;
  const never = new AbortController().signal;
  const sweep = (): UsageSweep =>
    new UsageSweep(pool, ledger, { now: () => now }, { tryLock: async () => null }, createLogger('test', 'silent'));

  beforeAll(async () => {
    database = await createTestDatabase();
    owner = new pg.Pool({ connectionString: database.ownerUrl, max: 2 });
    pool = createPool({ url: database.urls.app, max: 4, applicationName: 'test', onError: () => {} });
  });
  afterAll(async () => {
    await pool.end();
    await owner.end();
    await database.close();
  });

  const fresh = async (): Promise<string> => {
    ledger = new Ledger();
    now = new Date('2026-11-22T12:00:00Z');
    await owner.query('UPDATE app.usage_cursor SET position = 0, read_at = NULL');
    return `org_${randomUUID()}`;
  };
  const row = (org: string, more: Partial<Row> = {}): Row => ({
    org,
    conversation: randomUUID(),
    user: 'usr_ada',
    model: 'm',
    prompt: 10,
    cached: 4,
    completion: 2,
    cost: '0.1000000001',
    priced: true,
    failed: false,
    at: now.toISOString(),
    ...more,
  });
  const conversation = async (org: string, repository: string | null): Promise<string> => {
    const id = randomUUID();
    await owner.query(
      `INSERT INTO app.conversation (id, org_id, created_by, created_by_label, title, model, repository) VALUES ($1, $2, 'usr_ada', 'Ada', 't', 'm', $3)`,
      [id, org, repository],
    );
    return id;
  };

  it('adds each call once to its day, user, repository and model, whatever is repeated, by as many workers as there are', async () => {
    const org = await fresh();
    const [known, none, foreign] = [
      await conversation(org, 'https://git.test/a'),
      await conversation(org, null),
      await conversation('org_other', 'https://git.test/secret'),
    ];
    ledger.rows.push(
      row(org, { conversation: known }),
      row(org, { conversation: known, at: '2026-11-21T23:59:59.999Z', cost: '0', priced: false }),
      row(org, { conversation: none, failed: true }),
      row(org, { conversation: foreign, user: 'usr_bob' }),
      row(org, { conversation: known, model: 'n' }),
    );
    await Promise.allSettled([sweep().run(never), sweep().run(never), sweep().run(never)]);
    await sweep().run(never);
    ledger.rows.push(row(org, { conversation: known }));
    await sweep().run(never);
    await sweep().run(never);
    const { rows } = await owner.query(
      `SELECT day::text, user_id, user_label, repository, model, requests::int, failed::int, prompt_tokens::int, cached_tokens::int, completion_tokens::int, cost_usd, unpriced::int
       FROM app.usage_day WHERE org_id = $1 ORDER BY day, user_id, repository, model`,
      [org],
    );
    expect(rows.map((each) => Object.values(each as object).join(' '))).toEqual([
      '2026-11-21 usr_ada Ada https://git.test/a m 1 0 10 4 2 0.0000000000 1',
      '2026-11-22 usr_ada Ada  m 1 1 10 4 2 0.1000000001 0',
      '2026-11-22 usr_ada Ada https://git.test/a m 2 0 20 8 4 0.2000000002 0',
      '2026-11-22 usr_ada Ada https://git.test/a n 1 0 10 4 2 0.1000000001 0',
      '2026-11-22 usr_bob   m 1 0 10 4 2 0.1000000001 0',
    ]);
  });

  it('says one number of a conversation everywhere, whatever its calls came to, in pages of any size', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            which: fc.integer({ min: 0, max: 3 }),
            user: fc.constantFrom('usr_ada', 'usr_bob', null),
            ticks: fc.integer({ min: 0, max: 1_000_000_000 }),
            failed: fc.boolean(),
            day: fc.constantFrom('2026-11-20', '2026-11-21'),
            model: fc.constantFrom('m', 'n'),
            page: fc.boolean(),
          }),
          { minLength: 1, maxLength: 40 },
        ),
        async (calls) => {
          const org = await fresh();
          const ids = [
            await conversation(org, 'https://git.test/a'),
            await conversation(org, null),
            await conversation(org, null),
            randomUUID(),
          ];
          const cost = (ticks: number): string => (ticks / 1e10).toFixed(10);
          for (const { which, user, ticks, failed, day, model, page } of calls) {
            ledger.rows.push(
              row(org, {
                conversation: ids[which] ?? '',
                user,
                cost: cost(ticks),
                failed,
                model,
                at: `${day}T10:00:00.000Z`,
              }),
            );
            if (page) await sweep().run(never);
          }
          await sweep().run(never);
          const { rows } = await owner.query<{ id: string; header: string | null; page: string }>(
            `SELECT u.conversation_id AS id, c.cost_usd AS header, sum(u.cost_usd) AS page FROM app.usage_conversation u LEFT JOIN app.conversation c ON c.id = u.conversation_id
             WHERE u.org_id = $1 GROUP BY 1, 2`,
            [org],
          );
          for (const { id, header, page } of rows) {
            const spent = calls.reduce((sum, { which, ticks }) => sum + (ids[which] === id ? ticks : 0), 0);
            expect([id, page, header]).toEqual([id, cost(spent), id === ids[3] ? null : cost(spent)]);
          }
          const sums = (table: string): Promise<{ rows: unknown[] }> =>
            owner.query(
              `SELECT day, user_id, repository, model, sum(requests) AS requests, sum(failed) AS failed, sum(prompt_tokens) AS prompt, sum(cost_usd) AS cost
               FROM app.${table} WHERE org_id = $1 GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4`,
              [org],
            );
          expect((await sums('usage_conversation')).rows).toEqual((await sums('usage_day')).rows);
        },
      ),
      { numRuns: 30 },
    );
  });

  it('sends the gateway whom to refuse and why, again until acknowledged, and when the limit is raised', async () => {
    const org = await fresh();
    await owner.query(`INSERT INTO app.budget (org_id, member_limit_usd) VALUES ($1, 5)`, [org]);
    ledger.rows.push(row(org, { conversation: await conversation(org, null), cost: '4.9999' }));
    await sweep().run(never);
    expect(ledger.applied.get(org)).toBeUndefined();
    ledger.rows.push(row(org, { cost: '0.0001' }));
    const one = sweep();
    ledger.replaceBudgetStops = async () => Promise.reject(new Error('away'));
    await expect(one.run(never)).rejects.toThrow('away');
    ledger.replaceBudgetStops = Ledger.prototype.replaceBudgetStops.bind(ledger);
    await one.run(never);
    expect(ledger.applied.get(org)).toEqual([
      {
        user: 'usr_ada',
        reason:
          'The budget of Ada of 5 USD a month is used up. It begins again on 1 December 2026 at 00:00 UTC; until then an admin can raise it.',
        until: '2026-12-01T00:00:00.000Z',
      },
    ]);
    await owner.query('UPDATE app.budget SET member_limit_usd = 6 WHERE org_id = $1', [org]);
    await sweep().run(never);
    expect(ledger.applied.get(org)).toEqual([]);
  });

  it('sends the gateway limits after each change, again until acknowledged, and before it counts anything', async () => {
    const org = await fresh();
    await owner.query(
      `INSERT INTO app.budget (org_id, org_limit_usd, member_limit_usd, reset_day) VALUES ($1, 100, 12.5, 7)`,
      [org],
    );
    await owner.query(
      `INSERT INTO app.budget_override (org_id, user_id, limit_usd, changed_by) VALUES ($1, 'usr_a', 3, 'x'), ($1, 'usr_b', NULL, 'x')`,
      [org],
    );
    ledger.away = true;
    await expect(sweep().run(never)).rejects.toThrow('away');
    ledger.away = false;
    ledger.ledger = async () => Promise.reject(new Error('no ledger'));
    await expect(sweep().run(never)).rejects.toThrow('no ledger');
    ledger.ledger = Ledger.prototype.ledger.bind(ledger);
    const applied = {
      resetDay: 7,
      allowUnpriced: false,
      orgLimitUsd: '100',
      memberLimitUsd: '12.5',
      overrides: [
        { user: 'usr_a', limitUsd: '3' },
        { user: 'usr_b', limitUsd: null },
      ],
    };
    expect(ledger.limits.get(org)).toEqual(applied);
    ledger.limits.clear();
    await sweep().run(never);
    expect(ledger.limits.get(org)).toBeUndefined();
    await owner.query(`DELETE FROM app.budget_override WHERE org_id = $1 AND user_id = 'usr_a'`, [org]);
    await sweep().run(never);
    expect(ledger.limits.get(org)).toEqual({ ...applied, overrides: [{ user: 'usr_b', limitUsd: null }] });
    await owner.query('UPDATE app.budget SET enabled = false WHERE org_id = $1', [org]);
    await sweep().run(never);
    expect(ledger.limits.get(org)).toEqual({
      resetDay: 7,
      orgLimitUsd: null,
      memberLimitUsd: null,
      overrides: [],
      allowUnpriced: false,
    });
  });

  it('sends the gateway the prompt policies, all at once, again until acknowledged, and after each change', async () => {
    const org = await fresh();
    const one = sweep();
    const round = async (): Promise<void> => {
      now = new Date(now.getTime() + 10_000);
      await one.run(never).catch(() => {});
    };
    await owner.query(
      "INSERT INTO app.org (id, slug, name, kind, settings) VALUES ($1, $1, 'n', 'company', '{\"promptLogDays\": 7}')",
      [org],
    );
    ledger.away = true;
    await round();
    ledger.away = false;
    await round();
    await round();
    expect(ledger.policies).toEqual([[{ org, days: 7 }]]);
    await owner.query(`UPDATE app.org SET settings = '{"promptLogDays": null}' WHERE id = $1`, [org]);
    await round();
    expect(ledger.policies).toEqual([[{ org, days: 7 }], []]);
  });

  it('whatever is spent, changed and reset: a notice comes once a cycle and threshold, none is missed, and blocked is who has spent the limit', async () => {
    const people = ['usr_a', 'usr_b'];
    const money = fc.integer({ min: 0, max: 60 });
    const step = fc.oneof(
      {
        weight: 5,
        arbitrary: fc.record({ kind: fc.constant('spend' as const), user: fc.constantFrom(...people), amount: money }),
      },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('month' as const) }) },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant('org' as const), limit: fc.option(money) }) },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant('member' as const), limit: fc.option(money) }) },
      {
        weight: 2,
        arbitrary: fc.record({
          kind: fc.constant('override' as const),
          user: fc.constantFrom(...people),
          limit: fc.option(fc.option(money)),
        }),
      },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('enabled' as const), enabled: fc.boolean() }) },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
        const org = await fresh();
        let month = 0;
        const spent = new Map<string, number>();
        const overrides = new Map<string, number | null>();
        const budget = { org: 100 as number | null, member: 40 as number | null, enabled: true };
        /** `month user threshold` of every limit of which so much was spent at the time. */
        const due = new Set<string>();
        await owner.query(`INSERT INTO app.budget (org_id, org_limit_usd, member_limit_usd) VALUES ($1, 100, 40)`, [
          org,
        ]);
        await owner.query(
          `INSERT INTO app.membership (org_id, user_id, role) SELECT $1, unnest($2::text[]), 'member'`,
          [org, people],
        );
        for (const each of steps) {
          if (each.kind === 'spend') {
            const at = new Date(Date.UTC(2026, month, 15)).toISOString();
            await owner.query(
              `INSERT INTO app.usage_day VALUES ($1, $2::timestamptz::date, $3, '', 'm', '', 1, 0, 0, 0, 0, $4, 0)
               ON CONFLICT (org_id, day, user_id, repository, model) DO UPDATE SET cost_usd = app.usage_day.cost_usd + excluded.cost_usd`,
              [org, at, each.user, each.amount],
            );
            spent.set(each.user, (spent.get(each.user) ?? 0) + each.amount);
          } else if (each.kind === 'month') {
            month += 1;
            spent.clear();
          } else if (each.kind === 'org') {
            budget.org = each.limit;
            await owner.query('UPDATE app.budget SET org_limit_usd = $2 WHERE org_id = $1', [org, each.limit]);
          } else if (each.kind === 'member') {
            budget.member = each.limit;
            await owner.query('UPDATE app.budget SET member_limit_usd = $2 WHERE org_id = $1', [org, each.limit]);
          } else if (each.kind === 'enabled') {
            budget.enabled = each.enabled;
            await owner.query('UPDATE app.budget SET enabled = $2 WHERE org_id = $1', [org, each.enabled]);
          } else if (each.limit === null) {
            overrides.delete(each.user);
            await owner.query('DELETE FROM app.budget_override WHERE org_id = $1 AND user_id = $2', [org, each.user]);
          } else {
            overrides.set(each.user, each.limit);
            await owner.query(
              `INSERT INTO app.budget_override (org_id, user_id, limit_usd, changed_by) VALUES ($1, $2, $3, 'a') ON CONFLICT (org_id, user_id) DO UPDATE SET limit_usd = excluded.limit_usd`,
              [org, each.user, each.limit],
            );
          }
          const moment = new Date(Date.UTC(2026, month, 15, 12));
          for (let times = 0; times < 2; times += 1)
            await pool.query('SELECT app.settle_budget($1, $2)', [org, moment]);

          const subjects: Array<[user: string, limit: number | null, spent: number]> = [
            ['', budget.org, [...spent.values()].reduce((sum, amount) => sum + amount, 0)],
            ...people.map((user): [string, number | null, number] => [
              user,
              overrides.has(user) ? (overrides.get(user) as number | null) : budget.member,
              spent.get(user) ?? 0,
            ]),
          ];
          const limited = budget.enabled
            ? subjects.flatMap(([user, limit, amount]) => (limit === null ? [] : [{ user, limit, amount }]))
            : [];
          // A limit of nothing is reached all at once.
          for (const { user, limit, amount } of limited)
            for (const share of [50, 80, 90, 100])
              if (amount * 100 >= limit * share && (limit > 0 || share === 100)) due.add(`${month} ${user} ${share}`);
          const { rows: stops } = await owner.query<{ user_id: string }>(
            'SELECT user_id FROM app.budget_stop WHERE org_id = $1 AND until > $2',
            [org, moment],
          );
          expect(stops.map(({ user_id }) => user_id).sort()).toEqual(
            limited
              .filter(({ limit, amount }) => amount >= limit)
              .map(({ user }) => user)
              .sort(),
          );
          const { rows: notices } = await owner.query<{ notice: string }>(
            `SELECT (extract(month FROM cycle_start) - 1 + 12 * (extract(year FROM cycle_start) - 2026)) || ' ' || user_id || ' ' || threshold AS notice FROM app.budget_notice WHERE org_id = $1`,
            [org],
          );
          expect(notices.map(({ notice }) => notice).sort()).toEqual([...due].sort());
        }
      }),
      { numRuns: 40 },
    );
  });
});
