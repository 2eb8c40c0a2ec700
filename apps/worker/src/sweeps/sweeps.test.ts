import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { inOrg } from '@slipway/db/sql';
import { createIds, systemClock } from '@slipway/domain';
import { createLogger } from '@slipway/telemetry';
import { Registry } from '@slipway/telemetry/http';
import { ConversationLocks } from '../conversations/conversation-locks.js';
import { type Harness, ORG, openHarness } from '../testing/harness.js';
import { Sweeps } from './sweeps.js';
import { letRest, lostConversations, removeExpired, removeOldDeliveries, staleOutboxJobs } from './sweeps.queries.js';
import { workGauges } from './work-gauges.js';

const logger = createLogger('sweeps-test', 'silent');

describe('sweeps', () => {
  let harness: Harness;
  const locks: ConversationLocks[] = [];
  const sweeps = (): Sweeps => {
    const own = new ConversationLocks({
      databaseUrl: harness.database.urls.app,
      applicationName: 'sweeps-test',
      logger,
    });
    locks.push(own);
    return new Sweeps(
      harness.pool,
      harness.queue,
      own,
      createIds(systemClock),
      { idleSeconds: 60, hookProviders: ['github'] },
      logger,
    );
  };
  beforeAll(async () => {
    harness = await openHarness();
  });
  afterAll(async () => {
    for (const own of locks) await own.close();
    await harness.close();
  });

  it('pause a sandbox unused for the idle time, and not one with a message waiting', async () => {
    const idle = await harness.create();
    const waited = await harness.create();
    const fresh = await harness.create();
    for (const { id } of [idle, waited, fresh]) await harness.start(id);
    for (const { id } of [idle, waited]) await harness.age(id, 61);
    await harness.send(waited.id, 'still here');
    const leader = sweeps();
    await leader.tick();
    await leader.close();
    const desired = await Promise.all([idle, waited, fresh].map(async ({ id }) => (await harness.row(id)).desired));
    expect(desired).toEqual(['rest', 'run', 'run']);
    expect(await harness.jobs(idle.id)).toEqual(['conversation-pause']);
    await harness.rest(idle.id);
    expect((await harness.row(idle.id)).sandboxStatus).toBe('PAUSED');
  });

  it('leave a sandbox alone in which a user works without a message to the agent', async () => {
    const [typing, left] = [await harness.create(), await harness.create()];
    for (const [{ id }, seconds] of [
      [typing, 5],
      [left, 61],
    ] as const) {
      await harness.start(id);
      await harness.age(id, 61);
      const session = harness.peers.sessions.get(id);
      if (session === undefined) throw new Error('it has no session');
      session.userIdleSeconds = seconds;
    }
    const leader = sweeps();
    await leader.tick();
    await leader.close();
    expect(await Promise.all([typing, left].map(async ({ id }) => (await harness.row(id)).desired))).toEqual([
      'run',
      'rest',
    ]);
  });

  it('leave a sandbox alone in whose VS Code or on whose ports a user worked within the idle time and the minute that a note holds back', async () => {
    const [used, noted, longAgo, never] = await Promise.all([
      harness.create(),
      harness.create(),
      harness.create(),
      harness.create(),
    ]);
    for (const { id } of [used, noted, longAgo, never]) {
      await harness.start(id);
      await harness.age(id, 3_600);
    }
    for (const [{ id }, seconds] of [
      [used, 10],
      [noted, 100],
      [longAgo, 125],
      [never, null],
    ] as const)
      await inOrg(harness.pool, ORG, (client) =>
        client.query(
          `INSERT INTO app.sandbox_grant (id, org_id, user_id, conversation_id, port, ticket_expires_at, expires_at, revoked_at, used_at)
           VALUES ($1::text, $2, 'usr_a', $1::uuid, 60001, now(), now() + interval '1 hour', now(), now() - $3 * interval '1 second')`,
          [id, ORG, seconds],
        ),
      );
    const leader = sweeps();
    await leader.tick();
    await leader.close();
    expect(
      await Promise.all([used, noted, longAgo, never].map(async ({ id }) => (await harness.row(id)).desired)),
    ).toEqual(['run', 'run', 'rest', 'rest']);
    // One that is used between the check and the lock stays up too.
    await inOrg(harness.pool, ORG, (client) =>
      client.query('UPDATE app.sandbox_grant SET used_at = now() WHERE conversation_id = $1', [longAgo.id]),
    );
    await harness.desire(longAgo.id, 'run');
    expect(
      await letRest(harness.pool, { orgId: ORG, id: longAgo.id }, 60, '0198c0de-0000-7000-8000-0000000000aa'),
    ).toBe(false);
    expect((await harness.row(longAgo.id)).desired).toBe('run');
  });

  it('leave one without a task alone while the client that started it works there with an agent of its own', async () => {
    const [used, left] = [await harness.create(), await harness.create()];
    for (const [{ id }, seconds] of [
      [used, 5],
      [left, 61],
    ] as const) {
      await inOrg(harness.pool, ORG, (client) =>
        client.query('DELETE FROM app.inbox_message WHERE conversation_id = $1', [id]),
      );
      await harness.start(id);
      await harness.age(id, 61);
      const session = harness.peers.sessions.get(id);
      if (session === undefined) throw new Error('it has no session');
      session.idleSeconds = seconds;
    }
    const leader = sweeps();
    await leader.tick();
    await leader.close();
    expect(await Promise.all([used, left].map(async ({ id }) => (await harness.row(id)).desired))).toEqual([
      'run',
      'rest',
    ]);
  });

  it('are done by one worker at a time, and by the next one as soon as that one is gone', async () => {
    const { id } = await harness.create();
    const first = sweeps();
    await first.tick();
    const second = sweeps();
    await harness.age(id, 60);
    await second.tick();
    expect((await staleOutboxJobs(harness.pool)).map((job) => job.key)).toContain(id);
    await harness.age(id, 60);
    await first.close();
    await second.tick();
    expect((await staleOutboxJobs(harness.pool)).map((job) => job.key)).not.toContain(id);
    await second.close();
  });

  it('find a conversation whose lease is over, and none that is paused or has failed', async () => {
    const [lost, rests] = [await harness.create(), await harness.create()];
    for (const { id } of [lost, rests]) {
      await harness.start(id);
      await harness.expireLease(id);
    }
    await harness.desire(rests.id, 'rest');
    const found = (await lostConversations(harness.pool)).map((each) => each.id);
    expect(found).toContain(lost.id);
    expect(found).not.toContain(rests.id);
  });

  it('pending work is exported to Prometheus: outbox jobs and their age by queue, starts by state, leases that are over', async () => {
    const metrics = new Registry();
    // No lease of the conversations above ends meanwhile.
    await inOrg(harness.pool, ORG, (client) =>
      client.query("UPDATE app.conversation SET lease_until = now() + interval '1 hour' WHERE lease_until > now()"),
    );
    workGauges(harness.pool, metrics);
    const value = async (name: string): Promise<number> =>
      Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(await metrics.metrics())?.[1]);
    const [started, queued] = ['conversations_wanted{start="READY"}', 'outbox_jobs{queue="conversation-start"}'];
    const before = [await value(started), await value(queued), await value('conversations_lease_over')].map((number) =>
      Number.isNaN(number) ? 0 : number,
    );
    const ready = await harness.create();
    await harness.start(ready.id);
    await harness.expireLease(ready.id);
    await harness.create();
    expect([await value(started), await value(queued), await value('conversations_lease_over')]).toEqual(
      before.map((number) => number + 1),
    );
    expect(await value('outbox_oldest_seconds{queue="conversation-start"}')).toBeGreaterThan(0);
    expect(await value('outbox_oldest_seconds{queue="conversation-snapshot"}')).toBe(0);
  });

  it('remove deliveries and claims of deeds after fourteen days, and nothing younger', async () => {
    await inOrg(harness.pool, ORG, async (client) => {
      await client.query(
        "INSERT INTO app.org_data_key (org_id, version, wrapped, master_id) VALUES ($1, 99, '\\x00', 'm')",
        [ORG],
      );
      await client.query(
        `INSERT INTO app.integration_connection (id, org_id, provider, kind, name, host, signature, own, settings, created_by, created_by_label)
         VALUES ('c', $1, 'p', 'k', 'n', 'h', 's', '{}', '{}', 'u', 'u')`,
        [ORG],
      );
      for (const [id, days] of [
        ['old', 15],
        ['young', 13],
      ] as const) {
        await client.query(
          `INSERT INTO app.integration_delivery (id, org_id, connection_id, delivery_id, event, sealed, key_version, bytes, received_at)
           VALUES ($1, $2, 'c', $1, 'e', '\\x00', 99, 1, now() - $3 * interval '1 day')`,
          [id, ORG, days],
        );
        await client.query(
          `INSERT INTO app.integration_dedupe (org_id, provider, host, semantic_key, delivery_id, created_at) VALUES ($2, 'p', 'h', $1, 'd', now() - $3 * interval '1 day')`,
          [id, ORG, days],
        );
      }
    });
    expect(await removeOldDeliveries(harness.pool)).toBe(2);
    const left = await inOrg(harness.pool, ORG, (client) =>
      client.query<{ id: string }>(
        'SELECT id FROM app.integration_delivery UNION ALL SELECT semantic_key FROM app.integration_dedupe',
      ),
    );
    expect(left.rows.map(({ id }) => id)).toEqual(['young', 'young']);
  });

  it('remove what has expired, and nothing younger', async () => {
    await harness.pool.query(`INSERT INTO app.session (id, user_id, tokens, access_expires_at, expires_at) VALUES
      ('old', 'u', '', now(), now() - interval '1 second'), ('young', 'u', '', now(), now() + interval '1 hour')`);
    await removeExpired(harness.pool);
    expect((await harness.pool.query<{ id: string }>('SELECT id FROM app.session')).rows.map((row) => row.id)).toEqual([
      'young',
    ]);
  });
});
