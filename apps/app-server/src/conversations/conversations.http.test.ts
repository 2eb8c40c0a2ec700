import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  Conversation,
  MAX_PROMPT_LENGTH,
  MAX_QUEUED_MESSAGES,
  type QueuedMessage,
} from '@slipway/contracts/conversations';
import { Problem } from '@slipway/contracts/errors';
import { until } from '@slipway/testing';
import { type Answer, ConversationApp, insisted, type User } from '../testing/conversation-app.js';

const withoutRequestId = ({ status, body }: Answer): unknown => ({ status, body: { ...body, requestId: undefined } });

describe('conversations over HTTP', () => {
  let app: ConversationApp;
  let user: User;

  beforeAll(async () => {
    app = await ConversationApp.start();
    user = await app.user('Ada');
  });
  afterAll(() => app?.close());

  describe('201', () => {
    it('stores conversation, first message, job and record of who asked, in one transaction', async () => {
      const answer = await app.http(user, 'POST', app.path(user), {
        prompt: '\n  Fix the tests  \nof main',
        repository: 'https://example.test/a/b.git',
        branch: 'main',
      });
      expect(answer.status).toBe(201);
      const made = Conversation.parse(answer.body);
      expect(made).toMatchObject({
        title: 'Fix the tests',
        status: 'starting',
        sandboxStatus: 'STARTING',
        model: 'slipway-demo',
        head: 0,
        costUsd: '0',
        createdBy: { id: user.userId, label: 'Ada' },
      });
      expect(made.queued).toMatchObject([{ position: 1, state: 'queued', text: 'Fix the tests  \nof main' }]);
      expect(answer.headers.get('location')).toBe(app.path(user, made.id));
      const { rows } = await app.owner.query(
        `SELECT (SELECT count(*) FROM app.outbox WHERE queue = 'conversation-start' AND key = $1::text)::int AS jobs,
                (SELECT count(*) FROM app.audit_entry WHERE action = 'conversation.create' AND target = $1::text AND actor_id = $2 AND request_id = $3)::int AS audits`,
        [made.id, user.userId, answer.headers.get('x-request-id')],
      );
      expect(rows[0]).toEqual({ jobs: 1, audits: 1 });
      // The queue gets it after the answer.
      await until(
        'a job in the queue',
        async () => (await app.owner.query('SELECT 1 FROM bullmq.job LIMIT 1')).rowCount === 1,
      );
    });

    it('answers a repeated Idempotency-Key with the same conversation', async () => {
      const headers = { 'idempotency-key': randomUUID() };
      const [first, second] = [
        await app.http(user, 'POST', app.path(user), { prompt: 'x' }, headers),
        await app.http(user, 'POST', app.path(user), { prompt: 'x' }, headers),
      ];
      expect(second.body['id']).toBe(first.body['id']);
      expect((await app.http(user, 'POST', app.path(user), { prompt: 'y' }, headers)).status).toBe(422);
    });

    it('runs again for an Idempotency-Key whose process died before it answered, and finds what that one made', async () => {
      const headers = { 'idempotency-key': randomUUID() };
      const first = await app.http(user, 'POST', app.path(user), { prompt: 'x' }, headers);
      const died = `UPDATE app.idempotency_key SET status = NULL, response = jsonb_build_object('reserved', $2::text), created_at = now() - interval '61 seconds' WHERE key = $1`;
      await app.owner.query(died, [headers['idempotency-key'], first.body['id']]);
      const second = await app.http(user, 'POST', app.path(user), { prompt: 'x' }, headers);
      expect([second.status, second.body['id']]).toEqual([201, first.body['id']]);
      const { rows } = await app.owner.query('SELECT 1 FROM app.inbox_message WHERE conversation_id = $1', [
        first.body['id'],
      ]);
      expect(rows).toHaveLength(1);

      const messages = app.path(user, String(first.body['id']), '/messages');
      const keyed = { 'idempotency-key': randomUUID() };
      const sent = await app.http(user, 'POST', messages, { text: 'more' }, keyed);
      await app.owner.query(died, [keyed['idempotency-key'], sent.body['id']]);
      expect((await app.http(user, 'POST', messages, { text: 'more' }, keyed)).body['id']).toBe(sent.body['id']);
    });

    it('with Prefer: wait it answers when the start has ended, or the time is up', async () => {
      const answer = await app.http(user, 'POST', app.path(user), { prompt: 'x' }, { prefer: 'wait=1' });
      expect(answer.headers.get('preference-applied')).toBe('wait=1');
      expect(answer.body['status']).toBe('starting');
    });
  });

  it('the short form creates in the personal organization and lists it', async () => {
    const ben = await app.user('Ben');
    const made = await app.http(ben, 'POST', '/api/conversations', {
      initial_user_msg: 'hello',
      repository: 'octo/cat',
    });
    expect(made).toMatchObject({ status: 200, body: { status: 'ok' } });
    const list = await app.http(ben, 'GET', '/api/conversations');
    expect(list.body).toMatchObject({
      results: [
        {
          conversation_id: made.body['conversation_id'],
          title: 'hello',
          selected_repository: 'https://github.com/octo/cat',
        },
      ],
      next_page_id: null,
    });
  });

  it('pages the list by cursor without missing or repeating one, newest first, also while new ones come', async () => {
    const cleo = await app.user('Cleo');
    const made: string[] = [];
    for (let index = 0; index < 7; index += 1) made.push((await app.conversation(cleo, `n${index}`)).id);
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const page: Answer<{ data: Array<{ id: string }>; page: { nextCursor: string | null } }> = await app.http(
        cleo,
        'GET',
        `${app.path(cleo)}?limit=3${cursor === null ? '' : `&cursor=${cursor}`}`,
      );
      expect(page.status).toBe(200);
      seen.push(...page.body.data.map(({ id }) => id));
      cursor = page.body.page.nextCursor;
      await app.conversation(cleo, 'newer');
    } while (cursor !== null);
    expect(seen).toEqual(made.reverse());
    expect((await app.http(cleo, 'GET', `${app.path(cleo)}?status=failed`)).body).toEqual({
      data: [],
      page: { nextCursor: null },
    });
  });

  describe('400', () => {
    const bad: Array<[string, unknown]> = [
      ['no prompt', {}],
      ['an empty prompt', { prompt: '  ' }],
      ['a prompt that is too long', { prompt: 'x'.repeat(MAX_PROMPT_LENGTH + 1) }],
      ['a NUL', { prompt: 'a\u0000b' }],
      ['an unknown field', { prompt: 'x', what: 1 }],
      ['a repository that is no URL', { prompt: 'x', repository: 'ssh://a/b' }],
      ['a token in a URL', { prompt: 'x', repository: 'https://user:token@example.test/a' }],
      ['a token in the query of a URL', { prompt: 'x', repository: 'https://example.test/a.git?private_token=x' }],
      ['a URL with a blank', { prompt: 'x', repository: 'https://example.test/ a' }],
      ['a branch that is an option', { prompt: 'x', repository: 'https://example.test/a', branch: '--upload-pack=x' }],
      ['a branch without a repository', { prompt: 'x', branch: 'main' }],
      ['a body that is not JSON', '{'],
      ['a body that is a list', []],
    ];
    for (const [what, body] of bad)
      it(`for ${what}`, async () => {
        const answer = await app.http(user, 'POST', app.path(user), body);
        expect(answer.status).toBe(400);
        expect(answer.headers.get('content-type')).toContain('application/problem+json');
        expect(['request.invalid', 'request.not-json']).toContain(Problem.parse(answer.body).code);
      });
    it('for a cursor or a limit that was not given out', async () => {
      for (const query of [
        'cursor=abc',
        'limit=0',
        'limit=201',
        'status=odd',
        `cursor=${Buffer.from('["x","y"]').toString('base64url')}`,
      ])
        expect((await app.http(user, 'GET', `${app.path(user)}?${query}`)).status).toBe(400);
    });
    it('for a message id that belongs to another message', async () => {
      const id = randomUUID();
      const one = await app.conversation(user);
      expect((await app.http(user, 'POST', app.path(user, one.id, '/messages'), { id, text: 'a' })).status).toBe(202);
      expect((await app.http(user, 'POST', app.path(user, one.id, '/messages'), { id, text: 'b' })).status).toBe(400);
    });
  });

  it('202 for a message id that another organization has used: other organizations’ ids stay hidden', async () => {
    const id = randomUUID();
    for (const someone of [user, await app.user()]) {
      const conversation = await app.conversation(someone);
      expect(
        (await app.http(someone, 'POST', app.path(someone, conversation.id, '/messages'), { id, text: 'a' })).status,
      ).toBe(202);
    }
  });

  it('401 without a session, on every operation', async () => {
    const { id } = await app.conversation(user);
    for (const [method, rest] of [
      ['GET', ''],
      ['POST', '/messages'],
      ['POST', '/stop'],
      ['POST', '/pause'],
      ['POST', '/resume'],
      ['GET', '/events'],
      ['GET', '/changes'],
      ['GET', '/diff'],
      ['GET', '/trajectory'],
    ] as const)
      expect(
        await app.http(null, method, app.path(user, id, rest), method === 'POST' ? { text: 'x' } : undefined),
      ).toMatchObject({
        status: 401,
        body: { code: 'auth.missing' },
      });
  });

  it('403 for a viewer who wants to change something, and for a request from another site', async () => {
    const { id } = await app.conversation(user);
    const viewer = await app.user('Viewer');
    await app.owner.query(`INSERT INTO app.membership (org_id, user_id, role) VALUES ($1, $2, 'viewer')`, [
      user.orgId,
      viewer.userId,
    ]);
    expect((await app.http(viewer, 'GET', app.path(user, id))).status).toBe(200);
    for (const [path, body] of [
      [app.path(user), { prompt: 'x' }],
      [app.path(user, id, '/messages'), { text: 'x' }],
      [app.path(user, id, '/stop'), undefined],
    ] as const)
      expect(await app.http(viewer, 'POST', path, body)).toMatchObject({
        status: 403,
        body: { code: 'permission.denied' },
      });
    expect(
      await app.http(user, 'POST', app.path(user, id, '/stop'), undefined, { origin: 'https://evil.example' }),
    ).toMatchObject({
      status: 403,
      body: { code: 'request.cross-site' },
    });
  });

  it('404, the same for a foreign conversation as for a missing one, on every operation', async () => {
    const stranger = await app.user();
    const foreign = (await app.conversation(stranger)).id;
    for (const [method, rest, body] of [
      ['GET', '', undefined],
      ['POST', '/messages', { text: 'x' }],
      ['DELETE', `/messages/${randomUUID()}`, undefined],
      ['POST', '/stop', undefined],
      ['POST', '/pause', undefined],
      ['POST', '/resume', undefined],
      ['GET', '/events', undefined],
      ['GET', `/blobs/${'0'.repeat(64)}`, undefined],
      ['GET', '/changes', undefined],
      ['GET', '/diff', undefined],
      ['GET', '/trajectory', undefined],
    ] as const) {
      const answers = await Promise.all(
        [foreign, randomUUID(), 'not-an-id'].map((id) => app.http(user, method, app.path(user, id, rest), body)),
      );
      expect(answers.map(({ status }) => status)).toEqual([404, 404, 404]);
      expect(withoutRequestId(answers[0] as Answer)).toEqual(withoutRequestId(answers[1] as Answer));
      expect((await app.http(user, method, app.path(stranger, foreign, rest), body)).status).toBe(404);
    }
    const stream = await app.http(user, 'GET', app.path(user, foreign, '/events'), undefined, {
      accept: 'text/event-stream',
    });
    expect(stream).toMatchObject({ status: 404, body: { code: 'resource.not-found' } });
    expect(await app.http(user, 'POST', app.path(user), { prompt: 'x', model: 'no-such-model' })).toMatchObject({
      status: 404,
      body: { code: 'model.unknown' },
    });
  });

  it('413 for a body of more than a megabyte', async () => {
    expect(await app.http(user, 'POST', app.path(user), { prompt: 'x'.repeat(1_100_000) })).toMatchObject({
      status: 413,
      body: { code: 'request.too-large' },
    });
  });

  describe('messages', () => {
    const send = (id: string, body: unknown) =>
      app.http<QueuedMessage>(user, 'POST', app.path(user, id, '/messages'), body);

    it('202: are queued in order; the same id again is the same message', async () => {
      const { id } = await app.conversation(user);
      const message = { id: randomUUID(), text: 'second' };
      expect(await send(id, message)).toMatchObject({
        status: 202,
        body: { id: message.id, position: 2, state: 'queued' },
      });
      expect(await send(id, { text: 'third' })).toMatchObject({ status: 202, body: { position: 3 } });
      expect(await send(id, message)).toMatchObject({ status: 202, body: { id: message.id, position: 2 } });
      const { queued } = (await app.http<Conversation>(user, 'GET', app.path(user, id))).body;
      expect(queued.map(({ position, text }) => [position, text])).toEqual([
        [1, 'Do something'],
        [2, 'second'],
        [3, 'third'],
      ]);
    });

    it('20 at once with one id are one message', async () => {
      const { id } = await app.conversation(user);
      const message = { id: randomUUID(), text: 'once' };
      const answers = await Promise.all(Array.from({ length: 20 }, () => send(id, message)));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([202]));
      expect((await app.http<Conversation>(user, 'GET', app.path(user, id))).body.queued.length).toBe(2);
    });

    it('start a paused conversation, and reach a running sandbox', async () => {
      const { id } = await app.conversation(user);
      await app.owner.query(`DELETE FROM app.outbox`);
      await app.owner.query(`UPDATE app.conversation SET desired = 'rest', sandbox_status = 'PAUSED' WHERE id = $1`, [
        id,
      ]);
      await send(id, { text: 'wake up' });
      const state = async () =>
        (
          await app.owner.query<{ desired: string; queues: string[] }>(
            `SELECT desired, (SELECT array_agg(queue ORDER BY queue) FROM app.outbox WHERE key = $1::text) AS queues FROM app.conversation WHERE id = $1::uuid`,
            [id],
          )
        ).rows[0];
      expect(await state()).toEqual({ desired: 'run', queues: ['conversation-start'] });
      await app.owner.query(`DELETE FROM app.outbox`);
      await app.started(id, 1, { url: 'http://127.0.0.1:9', key: 'k'.repeat(20) });
      await send(id, { text: 'and on' });
      expect(await state()).toEqual({ desired: 'run', queues: ['conversation-deliver'] });
    });

    it(`429 after ${MAX_QUEUED_MESSAGES} that wait`, async () => {
      const { id } = await app.conversation(user);
      const answers = await Promise.all(
        Array.from({ length: MAX_QUEUED_MESSAGES + 5 }, (_, index) => insisted(() => send(id, { text: `m${index}` }))),
      );
      expect(answers.filter(({ status }) => status === 202).length).toBe(MAX_QUEUED_MESSAGES - 1);
      expect(answers.find(({ status }) => status === 429)).toMatchObject({ body: { code: 'conversation.queue-full' } });
    });

    it('204: can be taken back while they are queued, and 409 after', async () => {
      const { id } = await app.conversation(user);
      const message = { id: randomUUID(), text: 'oops' };
      await send(id, message);
      const path = app.path(user, id, `/messages/${message.id}`);
      expect((await app.http(user, 'DELETE', path)).status).toBe(204);
      expect((await app.http(user, 'DELETE', path)).status).toBe(204);
      expect((await app.http<Conversation>(user, 'GET', app.path(user, id))).body.queued.length).toBe(1);
      const first = (await app.http<Conversation>(user, 'GET', app.path(user, id))).body.queued[0] as QueuedMessage;
      await app.owner.query(`UPDATE app.inbox_message SET state = 'delivered' WHERE id = $1`, [first.id]);
      expect(await app.http(user, 'DELETE', app.path(user, id, `/messages/${first.id}`))).toMatchObject({
        status: 409,
        body: { code: 'conversation.busy' },
      });
      expect((await app.http(user, 'DELETE', app.path(user, id, `/messages/${randomUUID()}`))).status).toBe(404);
    });
  });
});
