import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { freePort } from '@slipway/testing';
import { ConversationApp } from '../../testing/conversation-app.js';
import { BudgetMails } from './budget-mails.js';

describe('mails about budgets', () => {
  let app: ConversationApp;
  beforeAll(async () => {
    // No process takes them: they stay where the test reads them.
    app = await ConversationApp.start({ replicas: 2, env: { SMTP_URL: `smtp://127.0.0.1:${await freePort()}` } });
  });
  afterAll(() => app?.close());

  const look = async (): Promise<void> => {
    await Promise.all(app.replicas.map((replica) => replica.app.get(BudgetMails, { strict: false }).look()));
  };
  const mailed = async (orgId: string): Promise<string[]> => {
    const { rows } = await app.owner.query<{ line: string }>(
      `SELECT recipient || ': ' || subject AS line FROM app.outgoing_mail WHERE org_id = $1 AND subject LIKE '%of a budget%' ORDER BY created_at, line`,
      [orgId],
    );
    return rows.map(({ line }) => line);
  };

  it('go out once for each limit and poll, to the user and the owners and admins, whichever process polls', async () => {
    const [ada, bob, eve] = [await app.user('Ada'), await app.user('Bob'), await app.user('Eve')];
    for (const [user, email, verified] of [
      [ada, 'ada@example.test', true],
      [bob, 'bob@example.test', true],
      [eve, 'eve@example.test', false],
    ] as const)
      await app.owner.query('UPDATE app.user_account SET email = $2, email_verified = $3 WHERE id = $1', [
        user.userId,
        email,
        verified,
      ]);
    for (const [user, role] of [
      [bob, 'member'],
      [eve, 'admin'],
    ] as const)
      await app.owner.query('INSERT INTO app.membership (org_id, user_id, role) VALUES ($1, $2, $3)', [
        ada.orgId,
        user.userId,
        role,
      ]);
    const spend = async (cost: number): Promise<void> => {
      await app.owner.query(
        `INSERT INTO app.usage_day VALUES ($1, $2, $3, '', 'm', '', 1, 0, 0, 0, 0, $4, 0) ON CONFLICT (org_id, day, user_id, repository, model) DO UPDATE SET cost_usd = app.usage_day.cost_usd + excluded.cost_usd`,
        [ada.orgId, new Date().toISOString().slice(0, 10), bob.userId, cost],
      );
      await app.pool.query('SELECT app.settle_budget($1, now())', [ada.orgId]);
    };
    await app.http(ada, 'PATCH', `/api/v1/orgs/${ada.orgId}/budgets`, { memberLimitUsd: '10' });
    await look();
    expect(await mailed(ada.orgId)).toEqual([]);
    await spend(8.5);
    await look();
    await look();
    const first = [
      'ada@example.test: 80 % of a budget is spent: Bob in Ada',
      'bob@example.test: 80 % of a budget is spent: Bob in Ada',
    ];
    expect(await mailed(ada.orgId)).toEqual(first);
    await spend(2);
    await look();
    expect(await mailed(ada.orgId)).toEqual([...first, ...first.map((line) => line.replace('80 %', '100 %'))]);
  });
});
