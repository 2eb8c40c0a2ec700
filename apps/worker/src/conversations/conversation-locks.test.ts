import { after, before, describe, it } from 'node:test';
import { createPool, type SqlPool } from '@slipway/db/sql';
import { createLogger } from '@slipway/telemetry';
import { createTestDatabase, type TestDatabase, until } from '@slipway/testing';
import { expect } from 'expect';
import { ConversationLocks } from './conversation-locks.js';

describe('ConversationLocks', () => {
  let database: TestDatabase;
  let owner: SqlPool;
  let locks: ConversationLocks;
  before(async () => {
    database = await createTestDatabase();
    owner = createPool({ url: database.ownerUrl, max: 1, applicationName: 'test', onError: () => {} });
    locks = new ConversationLocks({ databaseUrl: database.urls.app, applicationName: 'test', logger: createLogger('test', 'silent') });
  });
  after(async () => {
    await locks.close();
    await owner.end();
    await database.close();
  });
  const connections = async (): Promise<number[]> =>
    (await owner.query<{ pid: number }>("SELECT pid FROM pg_stat_activity WHERE application_name = 'test-locks' AND datname = current_database()")).rows.map(
      ({ pid }) => pid,
    );

  it('abort every holder when their connection is lost, and go on over one new connection', async () => {
    for (let round = 0; round < 5; round += 1) {
      const holder = await locks.tryLock('a');
      if (holder === null) throw new Error('nobody else holds it');
      const [pid] = await connections();
      await owner.query('SELECT pg_terminate_backend($1)', [pid]);
      await until('the holder is told', () => holder.signal.aborted);
      const next = await locks.tryLock('b');
      expect(next?.signal.aborted).toBe(false);
      await holder.release();
      await until('one connection is left', async () => (await connections()).length === 1);
      expect(next?.signal.aborted).toBe(false);
      await next?.release();
    }
  });
});
