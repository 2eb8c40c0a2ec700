import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Conversation, MAX_QUEUED_MESSAGES, type QueuedMessage } from '@slipway/contracts/conversations';
import { claimInbox } from '@slipway/db/conversations';
import { until } from '@slipway/testing';
import { ConversationApp, executionStatus, thought, type User } from '../testing/conversation-app.js';

const AFTER_TURN = { prefer: 'delivery=after-turn' };

describe('the queue of messages over HTTP', () => {
  let app: ConversationApp;
  let user: User;
  let sandbox: Awaited<ReturnType<ConversationApp['fakeSandbox']>>;

  beforeAll(async () => {
    app = await ConversationApp.start();
    user = await app.user('Ada');
    sandbox = await app.fakeSandbox(() => ({ status: 200 }));
  });
  afterAll(() => app?.close());

  const send = async (id: string, text: string) =>
    (await app.http<QueuedMessage>(user, 'POST', app.path(user, id, '/messages'), { text }, AFTER_TURN)).body;
  const queue = async (id: string) => (await app.http<Conversation>(user, 'GET', app.path(user, id))).body.queued;
  const texts = async (id: string) => (await queue(id)).map(({ text }) => text);
  const edit = (id: string, message: string, body: unknown, by: User = user) =>
    app.http<QueuedMessage>(by, 'PATCH', app.path(user, id, `/messages/${message}`), body);
  const order = (id: string, ids: readonly string[]) =>
    app.http<{ data: QueuedMessage[] }>(user, 'PUT', app.path(user, id, '/messages/order'), { ids });
  const jobs = async (id: string) =>
    (
      await app.owner.query<{ queue: string }>(
        `SELECT queue FROM app.outbox WHERE key = $1 AND queue IN ('conversation-deliver', 'conversation-start')`,
        [id],
      )
    ).rows.map((row) => row.queue);
  const claim = (id: string) => claimInbox(app.pool, user.orgId, id);

  /** A conversation whose agent works on its first message. */
  const working = async (): Promise<string> => {
    const { id } = await app.conversation(user);
    await app.started(id, 1, sandbox);
    await app.owner.query(`UPDATE app.inbox_message SET state = 'consumed' WHERE conversation_id = $1`, [id]);
    await app.ingest(user, id, [{ producerSeq: 1, event: executionStatus('running') }]);
    await app.owner.query('DELETE FROM app.outbox WHERE key = $1', [id]);
    return id;
  };

  it('keeps what is sent while the agent works until its turn ends, and hands over one a turn', async () => {
    const id = await working();
    await send(id, 'one');
    await send(id, 'two');
    expect(await queue(id)).toMatchObject([
      { text: 'one', state: 'queued', held: true, version: 1, createdById: user.userId },
      { text: 'two', state: 'queued', held: true },
    ]);
    expect(await jobs(id)).toEqual([]);
    expect((await claim(id)).messages).toEqual([]);
    await app.ingest(user, id, [{ producerSeq: 2, event: executionStatus('finished') }]);
    expect(await jobs(id)).toEqual(['conversation-deliver']);
    expect((await claim(id)).messages.map(({ text }) => text)).toEqual(['one']);
    // More of the same turn's events release nothing further.
    await app.ingest(user, id, [{ producerSeq: 3, event: executionStatus('finished') }]);
    expect((await claim(id)).claimed).toBe(0);
    // A short turn comes in one batch.
    await app.ingest(user, id, [
      { producerSeq: 4, event: executionStatus('running') },
      { producerSeq: 5, event: executionStatus('finished') },
    ]);
    expect((await claim(id)).messages.map(({ text }) => text)).toEqual(['one', 'two']);
  });

  it('puts what is sent between two turns behind what waits', async () => {
    const id = await working();
    const one = await send(id, 'one');
    await send(id, 'two');
    await app.ingest(user, id, [{ producerSeq: 2, event: executionStatus('finished') }]);
    // It is on its way to the agent.
    await app.owner.query('DELETE FROM app.outbox WHERE key = $1', [id]);
    expect(await send(id, 'three')).toMatchObject({ held: true });
    expect(await jobs(id)).toEqual(['conversation-deliver']);
    expect((await claim(id)).messages.map(({ text }) => text)).toEqual(['one']);
    expect(await send(id, 'four')).toMatchObject({ held: true });
    // The agent has it, and has not begun.
    await app.ingest(user, id, [{ producerSeq: 3, event: { ...thought('one', one.id), source: 'user' } }]);
    expect(await send(id, 'five')).toMatchObject({ held: true });
    const taken: string[] = [];
    for (let producerSeq = 4; producerSeq < 14; producerSeq += 2) {
      await app.ingest(user, id, [
        { producerSeq, event: executionStatus('running') },
        { producerSeq: producerSeq + 1, event: executionStatus('finished') },
      ]);
      taken.push((await claim(id)).messages.at(-1)?.text ?? '');
    }
    expect(taken).toEqual(['two', 'three', 'four', 'five', 'five']);
    expect(await send(id, 'six')).toMatchObject({ held: false });
  });

  it('hands over at once what is sent without that preference, before what waits', async () => {
    const id = await working();
    await send(id, 'waits');
    await app.http(user, 'POST', app.path(user, id, '/messages'), { text: 'steers' });
    expect(await texts(id)).toEqual(['steers', 'waits']);
    expect(await jobs(id)).toEqual(['conversation-deliver']);
    expect((await claim(id)).messages.map(({ text }) => text)).toEqual(['steers']);
  });

  it('keeps it after a stop or a failure; what is sent then goes first', async () => {
    const id = await working();
    await send(id, 'later');
    await app.ingest(user, id, [{ producerSeq: 2, event: executionStatus('error') }]);
    expect((await claim(id)).claimed).toBe(0);
    await send(id, 'instead');
    expect(await texts(id)).toEqual(['instead', 'later']);
    expect((await claim(id)).messages.map(({ text }) => text)).toEqual(['instead']);
  });

  it('edits a message under its version, and refuses one that was taken, changed, or is of another user', async () => {
    const id = await working();
    const message = await send(id, 'frist');
    expect(await edit(id, message.id, { text: ' first ', version: 1 })).toMatchObject({
      status: 200,
      body: { text: 'first', version: 2 },
    });
    expect(await edit(id, message.id, { text: 'first', version: 1 })).toMatchObject({ status: 200 });
    expect(await edit(id, message.id, { text: 'else', version: 1 })).toMatchObject({
      status: 409,
      body: { code: 'message.changed' },
    });
    const [member, admin] = [await app.user('Ben'), await app.user('Cay')];
    for (const [each, role] of [
      [member, 'member'],
      [admin, 'admin'],
    ] as const)
      await app.owner.query(`INSERT INTO app.membership (org_id, user_id, role) VALUES ($1, $2, $3)`, [
        user.orgId,
        each.userId,
        role,
      ]);
    expect(await edit(id, message.id, { text: 'not mine', version: 2 }, member)).toMatchObject({
      status: 403,
      body: { code: 'message.not-yours' },
    });
    expect(await edit(id, message.id, { text: 'by an admin', version: 2 }, admin)).toMatchObject({ status: 200 });
    await app.ingest(user, id, [{ producerSeq: 2, event: executionStatus('finished') }]);
    expect((await claim(id)).messages.map(({ text }) => text)).toEqual(['by an admin']);
    expect(await edit(id, message.id, { text: 'too late', version: 3 })).toMatchObject({
      status: 409,
      body: { code: 'message.already-taken' },
    });
    expect(await edit(id, randomUUID(), { text: 'x', version: 1 })).toMatchObject({ status: 404 });
    for (const body of [{ text: '', version: 1 }, { text: 'x' }, { text: 'x', version: 1, more: 1 }])
      expect(await edit(id, message.id, body)).toMatchObject({ status: 400, body: { code: 'request.invalid' } });
  });

  it('orders what waits: ids that are left out follow, and one that was taken changes nothing', async () => {
    const id = await working();
    const [a, b, c] = [await send(id, 'a'), await send(id, 'b'), await send(id, 'c')];
    expect((await order(id, [c.id, a.id])).body.data.map(({ text }) => text)).toEqual(['c', 'a', 'b']);
    expect((await order(id, [b.id, c.id, a.id])).status).toBe(200);
    await app.ingest(user, id, [{ producerSeq: 2, event: executionStatus('finished') }]);
    expect((await claim(id)).messages.map(({ text }) => text)).toEqual(['b']);
    expect(await order(id, [a.id, b.id])).toMatchObject({ status: 409, body: { code: 'message.already-taken' } });
    expect(await order(id, [randomUUID()])).toMatchObject({ status: 404 });
    expect(await order(id, [])).toMatchObject({ status: 400 });
    expect(await texts(id)).toEqual(['b', 'c', 'a']);
  });

  it('now: interrupts the agent and puts the message before all others', async () => {
    const id = await working();
    await send(id, 'a');
    const b = await send(id, 'b');
    const before = sandbox.asked.length;
    const answer = await app.http(user, 'POST', app.path(user, id, `/messages/${b.id}/now`));
    expect(answer).toMatchObject({ status: 202, body: { id: b.id, position: 1, held: false } });
    expect(sandbox.asked.slice(before)).toEqual([`POST /api/conversations/${id}/interrupt`]);
    expect(await jobs(id)).toEqual(['conversation-deliver']);
    expect((await claim(id)).messages.map(({ text }) => text)).toEqual(['b']);
    expect(await app.http(user, 'POST', app.path(user, id, `/messages/${b.id}/now`))).toMatchObject({
      status: 409,
      body: { code: 'message.already-taken' },
    });
    expect(await texts(id)).toEqual(['b', 'a']);
  });

  it('counts the storage of a text that grows', async () => {
    const id = await working();
    const message = await send(id, 'x');
    const bytes = async () =>
      Number(
        (await app.owner.query<{ n: string }>('SELECT log_bytes AS n FROM app.conversation WHERE id = $1', [id]))
          .rows[0]?.n,
      );
    const before = await bytes();
    await edit(id, message.id, { text: 'x'.repeat(1_001), version: 1 });
    expect((await bytes()) - before).toBe(1_000);
  });

  it(`holds ${MAX_QUEUED_MESSAGES} at most`, async () => {
    const id = await working();
    for (let index = 0; index < MAX_QUEUED_MESSAGES; index += 1) await send(id, `m${index}`);
    expect(await app.http(user, 'POST', app.path(user, id, '/messages'), { text: 'x' })).toMatchObject({
      status: 429,
      body: { code: 'conversation.queue-full' },
    });
  });

  it('hands over by itself what a replica of the version before has queued', async () => {
    const id = await working();
    await app.owner.query(
      `INSERT INTO app.inbox_message (id, org_id, conversation_id, text, created_by, created_by_label) VALUES (gen_random_uuid(), $1, $2, 'old', 'u', 'u')`,
      [user.orgId, id],
    );
    expect((await claim(id)).messages.map(({ text }) => text)).toEqual(['old']);
    await until('the queue to be read', async () => (await texts(id)).length === 1);
  });
});
