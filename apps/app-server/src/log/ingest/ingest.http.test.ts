import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ERRORS } from '@slipway/contracts/errors';
import { type ConversationEvent, MAX_EVENT_BYTES, MAX_INGEST_BYTES } from '@slipway/contracts/events';
import { ConversationApp, executionStatus, thought, type User } from '../../testing/conversation-app.js';

describe('POST /ingest/v1/conversations/:conversation/events', () => {
  let app: ConversationApp;
  let user: User;
  const batch = (from: number, ...texts: string[]) =>
    texts.map((text, index) => ({ producerSeq: from + index, event: thought(text) }));
  const started = async (epoch = 1): Promise<string> => {
    const { id } = await app.conversation(user);
    await app.started(id, epoch);
    return id;
  };

  beforeAll(async () => {
    app = await ConversationApp.start();
    user = await app.user();
  });
  afterAll(() => app?.close());

  it('stores a batch once, in order, and acknowledges it again when it is repeated', async () => {
    const id = await started();
    const events = batch(1, 'a', 'b', 'c');
    for (let time = 0; time < 3; time += 1) {
      const answer = await app.ingest(user, id, events);
      expect(answer).toMatchObject({ status: 200, body: { ackedProducerSeq: 3, head: 3 } });
    }
    expect((await app.log(id)).map(({ seq, event }) => [seq, event.id])).toEqual(
      events.map(({ event }, index) => [index + 1, event.id]),
    );
  });

  it('refuses a batch after a hole with 409 and the position to go on from', async () => {
    const id = await started();
    await app.ingest(user, id, batch(1, 'a'));
    expect(await app.ingest(user, id, batch(3, 'c'))).toMatchObject({
      status: 409,
      body: { code: 'ingest.gap', ackedProducerSeq: 1, head: 1 },
    });
  });

  it('refuses a sandbox that has been replaced, and stores nothing of it', async () => {
    const id = await started(2);
    expect(await app.ingest(user, id, batch(1, 'zombie'), 1)).toMatchObject({
      status: 409,
      body: { code: 'ingest.stale-epoch', ackedProducerSeq: 0, head: 0 },
    });
    expect(await app.log(id)).toEqual([]);
  });

  it('takes an id that is in the log already, or twice in a batch, as stored', async () => {
    const id = await started();
    const same = thought('same');
    const answer = await app.ingest(user, id, [
      { producerSeq: 1, event: same },
      { producerSeq: 2, event: thought('between') },
      { producerSeq: 3, event: same },
    ]);
    expect(answer).toMatchObject({ status: 200, body: { ackedProducerSeq: 3, head: 2 } });
    await app.started(id, 2);
    expect(await app.ingest(user, id, [{ producerSeq: 1, event: same }], 2)).toMatchObject({
      status: 200,
      body: { ackedProducerSeq: 1, head: 2 },
    });
  });

  it('reduces the status from events that are new, and from those only', async () => {
    const id = await started();
    const running = [{ producerSeq: 1, event: executionStatus('running') }];
    await app.ingest(user, id, running);
    const status = async () => (await app.http(user, 'GET', app.path(user, id))).body['status'];
    expect(await status()).toBe('working');
    await app.ingest(user, id, [{ producerSeq: 2, event: executionStatus('finished') }]);
    expect(await status()).toBe('finished');
    await app.ingest(user, id, running);
    expect(await status()).toBe('finished');
    const { rows } = await app.owner.query(
      `SELECT payload FROM app.outbox WHERE queue = 'conversation-snapshot' AND key = $1`,
      [id],
    );
    expect(rows).toEqual([{ payload: { orgId: user.orgId, conversationId: id } }]);
  });

  it('says of the runtime what ended the last run and what to do, until another one begins', async () => {
    const id = await started();
    const runtime = async () => (await app.http(user, 'GET', app.path(user, id))).body['runtime'];
    await app.owner.query("UPDATE app.conversation SET sandbox_status = 'RUNNING' WHERE id = $1", [id]);
    const { id: eventId, timestamp } = executionStatus('');
    const error: ConversationEvent = {
      id: eventId,
      timestamp,
      source: 'environment',
      kind: 'ConversationErrorEvent',
      code: 'model.auth',
      detail: 'The key is wrong.',
    };
    await app.ingest(user, id, [
      { producerSeq: 1, event: executionStatus('running') },
      { producerSeq: 2, event: error },
      { producerSeq: 3, event: executionStatus('error') },
    ]);
    const { nextStep } = ERRORS['model.auth'];
    expect(await runtime()).toEqual({
      status: 'ERROR_LLM_AUTHENTICATION',
      code: 'model.auth',
      cause: 'The key is wrong.',
      nextStep,
    });
    await app.ingest(user, id, [{ producerSeq: 4, event: executionStatus('running') }]);
    expect(await runtime()).toEqual({ status: 'READY' });
  });

  it('takes no cost from a sandbox: what it says of it is not the conversation’s, which is the ledger’s', async () => {
    const id = await started();
    const stats = {
      ...executionStatus(''),
      key: 'stats',
      value: { accumulated_cost: 0.0421, prompt_tokens: 1200, completion_tokens: 34, model: 'm' },
    };
    await app.ingest(user, id, [{ producerSeq: 1, event: stats }]);
    expect((await app.http(user, 'GET', app.path(user, id))).body).toMatchObject({
      costUsd: '0',
      promptTokens: 0,
      completionTokens: 0,
    });
  });

  it('an empty batch renews the lease', async () => {
    const id = await started();
    await app.owner.query(`UPDATE app.conversation SET lease_until = now() - interval '1 minute' WHERE id = $1`, [id]);
    expect((await app.ingest(user, id, [])).status).toBe(200);
    const { rows } = await app.owner.query<{ fresh: boolean }>(
      `SELECT lease_until > now() AS fresh FROM app.conversation WHERE id = $1`,
      [id],
    );
    expect(rows[0]?.fresh).toBe(true);
  });

  it('moves long strings out of an event, and gives a sandbox the whole text back', async () => {
    const id = await started();
    const long = `${'🚢 text '.repeat(20_000)}end`;
    const event = thought(long);
    await app.ingest(user, id, [{ producerSeq: 1, event }]);
    const stored = JSON.stringify((await app.log(id))[0]?.event);
    expect(Buffer.byteLength(stored)).toBeLessThan(MAX_EVENT_BYTES);
    const [, sha256] = /\[blob sha256:([0-9a-f]{64}) \d+ bytes\]/.exec(stored) ?? [];
    const blob = await app.http<string>(user, 'GET', app.path(user, id, `/blobs/${sha256}`));
    expect(blob.status).toBe(200);
    expect(blob.body).toBe(long);
    const back = await fetch(`${app.url}/ingest/v1/conversations/${id}/events?after=0&limit=10`, {
      headers: { authorization: `Bearer ${await app.token(user, id)}` },
    });
    expect(await back.json()).toEqual({
      data: [{ conversationId: id, epoch: 1, seq: 1, event }],
      page: { head: 1, nextAfter: null },
    });
    const stranger = await app.user();
    const theirs = await app.conversation(stranger);
    expect((await app.http(stranger, 'GET', app.path(stranger, theirs.id, `/blobs/${sha256}`))).status).toBe(404);
  });

  it('keeps what an agent wrote byte for byte, also keys that JavaScript treats as its own', async () => {
    const id = await started();
    const body = `{"epoch":1,"events":[{"producerSeq":1,"event":{"id":"${randomUUID()}","kind":"ActionEvent","timestamp":"2026-01-01T00:00:00Z","source":"agent","thought":[],"action":{"kind":"X","__proto__":{"a":1},"constructor":"c","text":"\\u0000\\ud800"},"tool_name":"x","tool_call_id":"x","tool_call":{"id":"x","name":"x","arguments":"{}"},"llm_response_id":"r","security_risk":"LOW"}}]}`;
    const response = await fetch(`${app.url}/ingest/v1/conversations/${id}/events`, {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', authorization: `Bearer ${await app.token(user, id)}` },
    });
    expect([response.status, await response.json()]).toEqual([200, { ackedProducerSeq: 1, head: 1 }]);
    const page = await (
      await fetch(`${app.url}${app.path(user, id, '/events')}`, { headers: { cookie: user.cookie } })
    ).text();
    expect(page).toContain('"__proto__":{"a":1}');
    expect(page).toContain('\\u0000\\ud800');
  });

  it('takes failures in any words: half a character and NUL in them hold up no log, and are shown as what they are not', async () => {
    const id = await started();
    const words = ['\u0000 of a provider', `half \ud83d`, `${'a'.repeat(999)}😀`];
    const said = { timestamp: '2026-01-01T00:00:00Z', source: 'environment' } as const;
    const events: ConversationEvent[] = words.flatMap((detail) => [
      { ...said, id: randomUUID(), kind: 'ConversationErrorEvent', code: 'model.unavailable', detail },
      {
        ...said,
        id: randomUUID(),
        kind: 'ConversationStateUpdateEvent',
        key: 'llm_retry',
        value: { code: 'model.unavailable', detail, attempt: 1, wait_ms: 1 },
      },
    ]);
    const answer = await app.ingest(
      user,
      id,
      events.map((event, index) => ({ producerSeq: index + 1, event })),
    );
    expect(answer).toMatchObject({ status: 200, body: { head: events.length } });
    const { rows } = await app.owner.query('SELECT status_state FROM app.conversation WHERE id = $1', [id]);
    expect(rows[0].status_state).toMatchObject({
      failure: { detail: 'a'.repeat(999) },
      retry: { detail: 'a'.repeat(999) },
    });
  });

  it('refuses what is no batch: 400, 401, 404, 413', async () => {
    const id = await started();
    const token = await app.token(user, id);
    const post = async (
      body: string,
      headers: Record<string, string> = { authorization: `Bearer ${token}` },
      conversation = id,
    ) => {
      const response = await fetch(`${app.url}/ingest/v1/conversations/${conversation}/events`, {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json', ...headers },
      });
      return { status: response.status, code: ((await response.json()) as { code: string }).code };
    };
    expect(await post('{')).toEqual({ status: 400, code: 'request.not-json' });
    expect(await post('{}')).toEqual({ status: 400, code: 'request.invalid' });
    expect(await post('{"epoch":2,"events":[]}')).toEqual({ status: 400, code: 'request.invalid' });
    expect(await post(JSON.stringify({ epoch: 1, events: [...batch(1, 'a'), ...batch(3, 'c')] }))).toEqual({
      status: 400,
      code: 'request.invalid',
    });
    expect(await post('{"epoch":1,"events":[]}', {})).toEqual({ status: 401, code: 'auth.missing' });
    // Not even read without a token.
    expect(await post('{', {})).toEqual({ status: 401, code: 'auth.missing' });
    expect(await post('{"epoch":1,"events":[]}', { authorization: `Bearer ${token}x` })).toEqual({
      status: 401,
      code: 'auth.missing',
    });
    expect(await post('{"epoch":1,"events":[]}', { authorization: `Bearer ${token}` }, randomUUID())).toEqual({
      status: 404,
      code: 'resource.not-found',
    });
    expect(await post(' '.repeat(MAX_INGEST_BYTES + 1))).toEqual({ status: 413, code: 'request.too-large' });
    const deep = `${'{"a":'.repeat(200_000)}1${'}'.repeat(200_000)}`;
    const event = JSON.stringify({ ...executionStatus('running'), value: null }).replace(
      '"value":null',
      `"value":${deep}`,
    );
    expect(await post(`{"epoch":1,"events":[{"producerSeq":1,"event":${event}}]}`)).toEqual({
      status: 400,
      code: 'request.invalid',
    });
    expect(await app.log(id)).toEqual([]);
  });
});
