import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ConversationEvent } from '@slipway/contracts/events';
import { runtimeState } from '@slipway/domain';
import { ConversationApp, executionStatus, thought, type User } from '../../testing/conversation-app.js';

const MIB = 2 ** 20;
const BLOCK = 64 * 1024;
const RESERVE = MIB;
/** Most that a conversation which is being paused takes of the reserve. Bytes. */
const ENDING = 4 * BLOCK;

describe('an organization whose storage is limited', () => {
  let app: ConversationApp;
  beforeAll(async () => {
    app = await ConversationApp.start({ replicas: 2 });
  });
  afterAll(() => app?.close());

  const limit = (user: User, bytes: number): Promise<unknown> =>
    app.owner.query(
      'INSERT INTO app.org_storage (org_id, limit_bytes) VALUES ($1, $2) ON CONFLICT (org_id) DO UPDATE SET limit_bytes = excluded.limit_bytes',
      [user.orgId, bytes],
    );
  const used = async (user: User): Promise<number> =>
    Number(
      (await app.owner.query('SELECT used_bytes FROM app.org_storage WHERE org_id = $1', [user.orgId])).rows[0]
        ?.used_bytes ?? 0,
    );
  /** Bytes in the tables, whatever the counters say. */
  const stored = async (user: User): Promise<number> => {
    const { rows } = await app.owner.query<{ bytes: string }>(
      `SELECT coalesce(sum(m.log_bytes + m.blob_bytes + m.snapshot_bytes), 0) AS bytes FROM app.conversation c, app.measure_storage(c.org_id, c.id) m WHERE c.org_id = $1`,
      [user.orgId],
    );
    return Number(rows[0]?.bytes);
  };
  const row = async (id: string) =>
    (
      await app.owner.query<{ desired: string; status_state: object; log_bytes: string; jobs: string[] | null }>(
        'SELECT desired, status_state, log_bytes, (SELECT array_agg(queue ORDER BY queue) FROM app.outbox WHERE key = c.id::text) AS jobs FROM app.conversation c WHERE id = $1',
        [id],
      )
    ).rows[0];
  const batch = (
    from: number,
    count: number,
    bytes: number,
  ): Array<{ producerSeq: number; event: ConversationEvent }> =>
    Array.from({ length: count }, (_, index) => ({
      producerSeq: from + index,
      event: thought(
        randomUUID()
          .repeat(Math.ceil(bytes / 36))
          .slice(0, bytes),
      ),
    }));
  /** What a sandbox does that sends without end: on and on from what was acknowledged. */
  const flood = async (
    user: User,
    id: string,
    rounds: number,
    count: number,
    bytes: number,
  ): Promise<Array<{ status: number; code: string | undefined }>> => {
    const answers: Array<{ status: number; code: string | undefined }> = [];
    let next = 1;
    for (let round = 0; round < rounds; round += 1) {
      const answer = await app.ingest(user, id, batch(next, count, bytes), 1, round % 2);
      answers.push({ status: answer.status, code: answer.body.code });
      if (answer.status === 200) next += count;
    }
    return answers;
  };

  it('counts what it keeps, never less than there is: a row of the organization is written once a block', async () => {
    const user = await app.user();
    const { id } = await app.conversation(user);
    await app.started(id);
    expect(await used(user)).toBe(BLOCK);
    await flood(user, id, 3, 10, 1_000);
    expect(await used(user)).toBe(BLOCK);
    await flood(user, id, 1, 2, 40_000);
    const bytes = await stored(user);
    expect(Number((await row(id))?.log_bytes)).toBeGreaterThan(30_000);
    expect(await used(user)).toBe(Math.ceil(bytes / BLOCK) * BLOCK);
  });

  it('a hostile sandbox that writes without end fills its own organization’s storage and no other', async () => {
    const [hostile, modest] = [await app.user(), await app.user()];
    await limit(hostile, 2 * MIB);
    const [theirs, other] = [await app.conversation(hostile), await app.conversation(modest)];
    await app.started(theirs.id);
    await app.started(other.id);
    const answers = await flood(hostile, theirs.id, 60, 20, 8_000);
    expect(answers[0]).toEqual({ status: 200, code: undefined });
    expect(new Set(answers.slice(-20).map(({ code }) => code))).toEqual(new Set(['storage.exhausted']));
    expect(await stored(hostile)).toBeLessThanOrEqual(2 * MIB + ENDING + BLOCK);
    expect(await used(hostile)).toBeLessThanOrEqual(2 * MIB + ENDING + BLOCK);
    expect((await flood(modest, other.id, 1, 20, 8_000))[0]?.status).toBe(200);
    expect(await app.conversation(modest)).toMatchObject({ status: 'starting' });
  });

  it('a hostile sandbox that sends payloads, or tiny events whose rows are larger than their text, keeps to the same limit', async () => {
    for (const [count, bytes] of [
      [1, 300_000],
      [400, 1],
    ] as const) {
      const user = await app.user();
      await limit(user, MIB);
      const { id } = await app.conversation(user);
      await app.started(id);
      const answers = await flood(user, id, 12, count, bytes);
      expect(answers.at(-1)?.code).toBe('storage.exhausted');
      expect(await stored(user)).toBeLessThanOrEqual(MIB + ENDING + BLOCK);
    }
  });

  it('pauses the conversation once, says why and what to do, and keeps the events of its ending', async () => {
    const user = await app.user();
    await limit(user, MIB);
    const { id } = await app.conversation(user);
    await app.started(id);
    const filled = await app.ingest(user, id, batch(1, 30, 30_000));
    expect(filled.status).toBe(200);
    const refused = await app.ingest(user, id, batch(31, 10, 30_000));
    expect([refused.status, refused.body]).toMatchObject([402, { code: 'storage.exhausted', retry: 'never' }]);
    await app.ingest(user, id, batch(31, 10, 30_000));
    expect(await row(id)).toMatchObject({ desired: 'rest', jobs: expect.arrayContaining(['conversation-pause']) });
    // The agent halts: what it says last comes, small as it is, and its pause is no reason to forget why.
    const pause: ConversationEvent = {
      id: randomUUID(),
      timestamp: new Date().toISOString(),
      source: 'user',
      kind: 'PauseEvent',
    };
    const last = [
      ...batch(31, 1, 90_000),
      { producerSeq: 32, event: executionStatus('paused') },
      { producerSeq: 33, event: pause },
    ];
    expect((await app.ingest(user, id, last)).status).toBe(200);
    const log = await app.log(id);
    expect(log.filter(({ event }) => event.kind === 'ConversationErrorEvent')).toHaveLength(1);
    const state = (await row(id))?.status_state as Parameters<typeof runtimeState>[0]['state'];
    expect(runtimeState({ state, startStatus: 'READY', steps: [], sandboxStatus: 'PAUSED' })).toMatchObject({
      status: 'STOPPED',
      code: 'storage.exhausted',
      cause: expect.stringMatching(/^The organization uses .* of its 1 MiB of storage\.$/),
      nextStep: expect.stringContaining('Delete conversations'),
    });
    // A payload that was refused left nothing behind.
    const { rows } = await app.owner.query(
      'SELECT 1 FROM app.blob b WHERE org_id = $1 AND NOT EXISTS (SELECT 1 FROM app.conversation_blob r WHERE r.sha256 = b.sha256)',
      [user.orgId],
    );
    expect(rows).toEqual([]);
  });

  it('refuses new conversations, messages and resuming with the cause, also a hundred at once, and the platform still says what it has to', async () => {
    const user = await app.user();
    const { id } = await app.conversation(user);
    await app.started(id);
    await limit(user, 10 * BLOCK);
    const many = await Promise.all(
      Array.from({ length: 40 }, () =>
        app.http<{ code?: string }>(user, 'POST', app.path(user), { prompt: 'x'.repeat(20_000) }),
      ),
    );
    expect(many.filter(({ status }) => status === 201).length).toBeLessThanOrEqual(9);
    expect(new Set(many.filter(({ status }) => status !== 201 && status !== 503).map(({ body }) => body.code))).toEqual(
      new Set(['storage.exhausted']),
    );
    expect(await used(user)).toBeLessThanOrEqual(10 * BLOCK);
    while ((await app.http(user, 'POST', app.path(user), { prompt: 'one more' })).status === 201);
    for (const [path, body] of [
      ['/messages', { text: 'go on' }],
      ['/resume', undefined],
    ] as const)
      expect((await app.http(user, 'POST', app.path(user, id, path), body)).body).toMatchObject({
        code: 'storage.exhausted',
        status: 402,
      });
    expect((await app.http(user, 'POST', app.path(user, id, '/stop'))).status).toBe(202);
  });

  it('keeps no more than limit and reserve however many conversations end at once', async () => {
    const user = await app.user();
    const conversations = await Promise.all(Array.from({ length: 12 }, () => app.conversation(user)));
    for (const { id } of conversations) await app.started(id);
    await limit(user, 12 * BLOCK);
    await Promise.all(conversations.map(({ id }) => flood(user, id, 12, 1, 60_000)));
    expect(await used(user)).toBeLessThanOrEqual(12 * BLOCK + RESERVE + 12 * BLOCK);
    expect(await used(user)).toBeGreaterThan(12 * BLOCK);
    expect(await stored(user)).toBeLessThanOrEqual(await used(user));
  });
});
