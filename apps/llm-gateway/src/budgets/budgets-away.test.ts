import { randomUUID } from 'node:crypto';
import net from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createPool, type SqlPool } from '@slipway/db/sql';
import { createTestDatabase, type TestDatabase, until } from '@slipway/testing';
import { claim, finish, keyWithBudgets, startMoneyReplica, stored } from './testing/race.js';

let database: TestDatabase;
let owner: SqlPool;
beforeAll(async () => {
  database = await createTestDatabase();
  owner = createPool({ url: database.ownerUrl, max: 2, applicationName: 'test', onError: () => {} });
});
afterAll(async () => {
  await owner.end();
  await database.close();
});

const never = new AbortController().signal;

/** The way to Postgres, which can be cut: for whoever goes by it, Postgres has stopped. */
async function openWay(
  target: URL,
): Promise<{ url: string; cut(): Promise<void>; mend(): Promise<void>; close(): Promise<void> }> {
  const sockets = new Set<net.Socket>();
  const server = net.createServer((socket) => {
    const other = net.connect(Number(target.port), target.hostname);
    for (const [one, two] of [
      [socket, other],
      [other, socket],
    ] as const) {
      sockets.add(one);
      one.pipe(two);
      one.on('error', () => {});
      one.on('close', () => {
        sockets.delete(one);
        two.destroy();
      });
    }
  });
  const listen = (port: number): Promise<void> => new Promise((resolve) => server.listen(port, '127.0.0.1', resolve));
  const cut = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      for (const socket of sockets) socket.destroy();
    });
  await listen(0);
  const { port } = server.address() as net.AddressInfo;
  const url = new URL(target);
  url.hostname = '127.0.0.1';
  url.port = String(port);
  return { url: url.href, cut, mend: () => listen(port), close: async () => (server.listening ? cut() : undefined) };
}

describe('while Postgres is away', () => {
  for (const whenAway of ['closed', 'open'] as const) {
    it(`calls go on by what is held, then are ${whenAway === 'closed' ? 'refused' : 'let in'}; when it is back all that was spent is counted, and the limit holds`, async () => {
      const orgId = `org_${randomUUID()}`;
      await owner.query(
        `INSERT INTO gateway.budget (org_id, kind, subject, limit_usd, period) VALUES ($1, 'org', '', 1000, 'month')`,
        [orgId],
      );
      const way = await openWay(new URL(database.urls.gateway));
      const replica = await startMoneyReplica(
        { ...database, urls: { ...database.urls, gateway: way.url } },
        { whenAway },
      );
      try {
        const key = await keyWithBudgets(replica.pool, { orgId, userId: 'usr_a' });
        let spent = 0;
        const spend = async (): Promise<'at once' | 'after asking'> => {
          const admitting = replica.admitter.admit(key, claim(1), never);
          const how = admitting instanceof Promise ? 'after asking' : 'at once';
          finish(replica, key, await admitting, 1);
          spent += 1;
          return how;
        };
        await until('there is a lease', async () => (await spend()) === 'at once');
        await way.cut();
        expect(await spend()).toBe('at once');
        let refused: unknown = null;
        const end = await until('what is held is used up', async () => {
          try {
            return (await spend()) === 'after asking' ? 'let in' : null;
          } catch (error) {
            refused = error;
            return 'refused';
          }
        });
        expect(end).toBe(whenAway === 'closed' ? 'refused' : 'let in');
        if (whenAway === 'closed')
          expect(refused).toMatchObject({ code: 'service.unavailable', more: { retryAfterSeconds: 1 } });
        expect(await replica.ledger.flush()).toBe(false);
        await way.mend();
        await until('all of it is counted', async () => {
          const { rows } = await owner.query<{ spent: string; ledger: number }>(
            'SELECT a.spent, (SELECT count(*)::int FROM gateway.ledger l WHERE l.org_id = $1) AS ledger FROM gateway.budget_account a WHERE a.org_id = $1',
            [orgId],
          );
          return rows[0]?.ledger === spent && Number(rows[0]?.spent) === spent * 1e10;
        });
        await until('calls are let in again', async () => {
          try {
            await spend();
            return true;
          } catch {
            return false;
          }
        });
        await owner.query('UPDATE gateway.budget SET limit_usd = $2 WHERE org_id = $1', [orgId, spent]);
        await stored(replica);
        const refusal = await until('the limit holds', async () => {
          try {
            await spend();
            return null;
          } catch (error) {
            return error as { code: string };
          }
        });
        expect(refusal.code).toBe('budget.exhausted');
      } finally {
        await replica.close();
        await way.close();
      }
    });
  }
});
