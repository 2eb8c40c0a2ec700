import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import {
  ConversationWatcher,
  type RedisServer,
  SilentProxy,
  startRedisServer,
  stopwatch,
  until,
} from '@slipway/testing';
import { skipTest } from '@slipway/testing/jest';
import { type Answer, ConversationApp, thought, type User } from './testing/conversation-app.js';

/** How long nothing comes through. Milliseconds. */
const SILENCE_MS = process.env['SLIPWAY_LONG'] === '1' ? 30_000 : 4_000;
/** After it everything works again within this. Milliseconds. */
const RECOVERY_MS = 5_000;
/**
 * Longest wait for an answer while the database is silent. Milliseconds: one wait for a connection and one for an
 * answer, and a little.
 */
const ANSWER_MS = 17_000;

jest.setTimeout(180_000);

describe('a network that goes silent', () => {
  let app: ConversationApp;
  let user: User;
  let redis: RedisServer | null;
  let toRedis: SilentProxy | undefined;
  let toPostgres: SilentProxy;

  beforeAll(async () => {
    redis = await startRedisServer();
    if (redis !== null) toRedis = await SilentProxy.open(redis.url);
    app = await ConversationApp.start({
      replicas: 2,
      through: async (url) => {
        toPostgres = await SilentProxy.open(url);
        return toPostgres.url;
      },
      env: toRedis === undefined ? {} : { REDIS_URL: toRedis.url },
    });
    user = await app.user();
  });
  afterAll(async () => {
    toPostgres?.heal();
    toRedis?.heal();
    await app?.close();
    await toPostgres?.close();
    await toRedis?.close();
    await redis?.stop();
  });

  const started = async (): Promise<string> => {
    const { id } = await app.conversation(user);
    await app.started(id);
    return id;
  };
  const timed = async <T>(work: Promise<T>): Promise<{ answer: T; ms: number }> => {
    const passed = stopwatch();
    const answer = await work;
    return { answer, ms: passed() };
  };

  it('between app-server and Postgres: every answer comes in time and says what is wrong or is true, nothing is lost or done twice, and all goes on within 5 s', async () => {
    const id = await started();
    const watcher = new ConversationWatcher(app.url, user.cookie, { orgId: user.orgId, conversationId: id });
    try {
      await app.ingest(user, id, [{ producerSeq: 1, event: thought('before') }]);
      await until('the first event', () => watcher.lastSeq === 1);
      const batch = [2, 3, 4].map((producerSeq) => ({ producerSeq, event: thought(`${producerSeq}`) }));
      const key = randomUUID();
      const create = (): Promise<Answer<{ id: string; code: string; detail: string }>> =>
        app.http(user, 'POST', app.path(user), { prompt: 'once' }, { 'idempotency-key': key });
      toPostgres.silence();
      const underWay = [
        timed(app.ingest(user, id, batch)),
        timed(create()),
        timed(app.http(user, 'GET', app.path(user))),
      ];
      const ended = Promise.all(underWay);
      await wait(SILENCE_MS);
      toPostgres.heal();
      const passed = stopwatch();
      await until('a batch is stored', async () => (await app.ingest(user, id, batch)).status === 200, RECOVERY_MS);
      const made = await until(
        'the conversation is there',
        async () => ((answer) => (answer.status === 201 ? answer.body : null))(await create()),
        RECOVERY_MS,
      );
      await until('the reader has all', () => watcher.lastSeq === 4, RECOVERY_MS);
      expect(passed()).toBeLessThan(RECOVERY_MS);
      for (const { answer, ms } of await ended) {
        expect(ms).toBeLessThan(ANSWER_MS + SILENCE_MS);
        if (answer.status < 300) continue;
        // The same create is asked for again meanwhile: the second gets that answer.
        if (answer.body.code === 'idempotency.in-progress') continue;
        expect([answer.status, answer.body]).toMatchObject([
          503,
          { code: 'service.unavailable', detail: expect.stringMatching(/\w+/), retry: 'later' },
        ]);
        expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
      }
      expect((await app.log(id)).map(({ seq, event }) => [seq, event.id])).toEqual([
        [1, expect.any(String)],
        ...batch.map(({ event }, index) => [index + 2, event.id]),
      ]);
      expect(
        (await app.owner.query('SELECT id FROM app.conversation WHERE title LIKE $1 OR id = $2', ['once%', made.id]))
          .rowCount,
      ).toBe(1);
      expect(watcher.gaps).toBe(0);
    } finally {
      watcher.close();
    }
  });

  it('that stays silent is not waited for without end: each request is refused with code, cause and the time to come back', async () => {
    const id = await started();
    toPostgres.silence();
    try {
      const asked = await Promise.all([
        timed(app.ingest(user, id, [{ producerSeq: 1, event: thought('x') }])),
        timed(app.http<{ code?: string }>(user, 'GET', app.path(user))),
        timed(app.http<{ code?: string }>(user, 'GET', app.path(user, id))),
      ]);
      for (const { answer, ms } of asked) {
        expect([answer.status, answer.body]).toMatchObject([
          503,
          { code: 'service.unavailable', detail: expect.stringMatching(/ (log|database) /) },
        ]);
        expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
        expect(ms).toBeLessThan(ANSWER_MS);
      }
    } finally {
      toPostgres.heal();
    }
    await until(
      'all is well',
      async () => (await app.http(user, 'GET', app.path(user, id))).status === 200,
      RECOVERY_MS,
    );
    await until(
      'the event is stored',
      async () => (await app.ingest(user, id, [{ producerSeq: 1, event: thought('x') }])).status === 200,
      RECOVERY_MS,
    );
    expect((await app.log(id)).map(({ seq }) => seq)).toEqual([1]);
  });

  it('between app-server and Redis: requests are answered as ever, readers on the other replica are late by seconds and miss nothing, and hints come again within 5 s', async () => {
    if (toRedis === undefined) return skipTest('no redis-server on PATH: apt-get install redis-server');
    const id = await started();
    const other = new ConversationWatcher(app.replicas[1]?.url ?? '', user.cookie, {
      orgId: user.orgId,
      conversationId: id,
    });
    try {
      await app.ingest(user, id, [{ producerSeq: 1, event: thought('1') }]);
      await until('the first one', () => other.lastSeq === 1);
      expect(toRedis.open).toBeGreaterThan(1);
      const silentAt = performance.now();
      toRedis.silence();
      const { answer, ms } = await timed(app.ingest(user, id, [{ producerSeq: 2, event: thought('2') }]));
      expect([answer.status, ms < 2_000]).toEqual([200, true]);
      const created = await timed(app.conversation(user));
      expect(created.ms).toBeLessThan(2_000);
      await until('late, by the look at the heads', () => other.lastSeq === 2, 6_000);
      await wait(Math.max(0, SILENCE_MS - (performance.now() - silentAt)));
      toRedis.heal();
      let producerSeq = 2;
      await until(
        'an event comes by its hint',
        async () => {
          producerSeq += 1;
          await app.ingest(user, id, [{ producerSeq, event: thought(`${producerSeq}`) }]);
          const passed = stopwatch();
          await until('it', () => other.lastSeq === producerSeq, RECOVERY_MS);
          return passed() < 250;
        },
        RECOVERY_MS,
      );
      expect(other.log.map(({ seq }) => seq)).toEqual(Array.from({ length: producerSeq }, (_, index) => index + 1));
    } finally {
      other.close();
    }
  });
});
