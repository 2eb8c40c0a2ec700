import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { asSystem, createPool, inOrg, type PoolClient, type SqlPool, transactionTime } from '@slipway/db/sql';
import { isUniqueViolation, userStore } from '@slipway/db/store';
import { createTestDatabase, type TestDatabase } from './test-database.js';

describe('the user store', () => {
  let database: TestDatabase;
  let pool: SqlPool;
  beforeAll(async () => {
    database = await createTestDatabase();
    pool = createPool({ url: database.urls.app, max: 6, applicationName: 'test', onError: () => {} });
    await asSystem(pool, 'slipway_app_system', 'test', async (client) => {
      for (const id of ['mine', 'theirs']) {
        await client.query(`INSERT INTO app.org (id, slug, name, kind) VALUES ($1, $1, $1, 'company')`, [id]);
        await client.query(`INSERT INTO app.user_account (id, issuer, subject, name) VALUES ($1, 'i', $1, $1)`, [
          `usr_${id}`,
        ]);
        await client.query(`INSERT INTO app.membership (org_id, user_id, role) VALUES ($1, $2, 'owner')`, [
          id,
          `usr_${id}`,
        ]);
      }
    });
  });
  afterAll(async () => {
    await pool?.end();
    await database?.close();
  });

  const members = (client: PoolClient | SqlPool): Promise<string[]> =>
    userStore(client, (store) => store.membership.findMany({ select: { userId: true } })).then((rows) =>
      rows.map(({ userId }) => userId),
    );

  it('sees the rows of the organization of its transaction, whatever runs beside it', async () => {
    const seen = await Promise.all(
      Array.from({ length: 40 }, async (_, index) => {
        const org = index % 2 === 0 ? 'mine' : 'theirs';
        return [org, await inOrg(pool, org, (client) => members(client))] as const;
      }),
    );
    for (const [org, users] of seen) expect(users).toEqual([`usr_${org}`]);
    expect(await members(pool)).toEqual([]);
  });

  it('finds one row for each of many that ask at the same moment in their own organizations', async () => {
    const names = await Promise.all(
      ['mine', 'theirs', 'mine', 'theirs'].map((org) =>
        inOrg(pool, org, (client) =>
          userStore(client, (store) =>
            store.membership.findUnique({ where: { orgId_userId: { orgId: 'mine', userId: 'usr_mine' } } }),
          ),
        ),
      ),
    );
    expect(names.map((row) => row?.orgId ?? null)).toEqual(['mine', null, 'mine', null]);
  });

  it('writes in the transaction of its caller: what that takes back was never written', async () => {
    const failed = inOrg(pool, 'mine', async (client) => {
      await userStore(client, (store) => store.org.updateMany({ where: { id: 'mine' }, data: { name: 'renamed' } }));
      const { rows } = await client.query<{ name: string }>(`SELECT name FROM app.org WHERE id = 'mine'`);
      expect(rows).toEqual([{ name: 'renamed' }]);
      throw new Error('no');
    });
    await expect(failed).rejects.toThrow('no');
    await inOrg(pool, 'mine', async (client) => {
      expect(
        await userStore(client, (store) => store.org.findUnique({ select: { name: true }, where: { id: 'mine' } })),
      ).toEqual({ name: 'mine' });
    });
  });

  it('writes nothing into another organization', async () => {
    const stray = inOrg(pool, 'mine', (client) =>
      userStore(client, (store) =>
        store.membership.createMany({ data: { orgId: 'theirs', userId: 'usr_mine', role: 'owner' } }),
      ),
    );
    await expect(stray).rejects.toThrow();
    const changed = await inOrg(pool, 'mine', (client) =>
      userStore(client, (store) => store.org.updateMany({ data: { name: 'all' } })),
    );
    expect(changed.count).toBe(1);
    await inOrg(pool, 'mine', (client) =>
      userStore(client, (store) => store.org.updateMany({ data: { name: 'mine' } })),
    );
  });

  it('goes on after a statement that failed, and knows a value that must be unique', async () => {
    const taken = await inOrg(pool, 'mine', (client) =>
      userStore(client, (store) => store.org.updateMany({ where: { id: 'mine' }, data: { slug: 'theirs' } })),
    ).catch((error: unknown) => error);
    expect(isUniqueViolation(taken)).toBe(true);
    expect(await inOrg(pool, 'mine', (client) => members(client))).toEqual(['usr_mine']);
  });

  it('makes several statements of one a savepoint of the transaction', async () => {
    const role = await inOrg(pool, 'mine', async (client) => {
      const org = await userStore(client, (store) =>
        store.org.update({
          where: { id: 'mine' },
          data: {
            memberships: {
              update: { where: { orgId_userId: { orgId: 'mine', userId: 'usr_mine' } }, data: { role: 'admin' } },
            },
          },
          select: { memberships: { select: { role: true } } },
        }),
      );
      await userStore(client, (store) =>
        store.membership.updateMany({ where: { orgId: 'mine' }, data: { role: 'owner' } }),
      );
      return org.memberships[0]?.role;
    });
    expect(role).toBe('admin');
  });

  it('refuses a statement that goes on after its end', async () => {
    let late: Promise<unknown> | null = null;
    let release = (): void => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    await inOrg(pool, 'mine', (client) =>
      userStore(client, async (store) => {
        late = held.then(() => store.org.findMany());
        late.catch(() => {});
      }),
    );
    release();
    await expect(late).rejects.toThrow();
  });

  it('has the time that SQL calls now()', async () => {
    await inOrg(pool, 'mine', async (client) => {
      const { rows } = await client.query<{ now: Date }>('SELECT now()');
      expect(await transactionTime(client)).toEqual(rows[0]?.now);
    });
  });

  it('is in memory only where it is used', async () => {
    const program = `
      import { registerHooks } from 'node:module';
      const loaded = [];
      registerHooks({ load: (url, context, next) => { loaded.push(url); return next(url, context); } });
      await import(${JSON.stringify(import.meta.resolve('@slipway/db/store'))});
      console.log(loaded.some((url) => url.includes('db/dist/store')), loaded.filter((url) => /@prisma|generated/.test(url)).length);`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program]);
    expect(stdout.trim()).toBe('true 0');
  });
});
