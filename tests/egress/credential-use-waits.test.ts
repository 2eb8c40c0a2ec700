import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { until } from '@slipway/testing';
import type { User } from '../../apps/app-server/dist/testing/conversation-app.js';
import { UsesWorld, type UsingSandbox } from './uses-world.ts';

jest.setTimeout(120_000);
const PUBLISH = { method: 'PUT', path: '/npm/left-pad', body: '{"x":1}' };

describe('a request that waits for a user', () => {
  let world: UsesWorld;
  let ada: User;
  beforeAll(async () => {
    world = await UsesWorld.start(30);
    ada = await world.app.user('Ada');
  });
  afterAll(() => world?.close());

  it('goes on with the yes, and ends with the no', async () => {
    const credential = await world.credential(ada, { ask: 'each-use' });
    const sandbox = await world.sandbox(ada);
    const before = world.seen().length;
    const waiting = world.ask(sandbox, PUBLISH);
    const request = await world.waiting(ada, sandbox);
    expect(world.seen().length).toBe(before);
    await world.answer(ada, sandbox, request);
    expect((await waiting).status).toBe(200);
    const again = world.ask(sandbox, { ...PUBLISH, path: '/npm/other' });
    await world.answer(ada, sandbox, await world.waiting(ada, sandbox), { decision: 'deny' });
    expect((await again).code).toBe('credential.use-denied');
    expect(world.seen().length).toBe(before + 1);
    await world.remove(ada, credential);
  });

  it('adversary: a broker that goes away meanwhile has sent nothing, and the yes is still for one request', async () => {
    const credential = await world.credential(ada, { ask: 'each-use' });
    const sandbox = await world.sandbox(ada);
    const before = world.seen().length;
    const dying = await world.another();
    const waiting = world.ask(sandbox, PUBLISH, dying).catch(() => ({ status: 0 }));
    const request = await world.waiting(ada, sandbox);
    await dying.close();
    expect((await waiting).status).toBe(0);
    await world.answer(ada, sandbox, request);
    expect(world.seen().length).toBe(before);
    expect((await world.ask(sandbox, PUBLISH)).status).toBe(200);
    expect(world.seen().length).toBe(before + 1);
    await world.remove(ada, credential);
  });

  it('without app-server nothing leaves; a request that waits goes on when it is back', async () => {
    const credential = await world.credential(ada, { ask: 'each-use' });
    const sandbox = await world.sandbox(ada);
    const before = world.seen().length;
    const waiting = world.ask(sandbox, PUBLISH);
    const request = await world.waiting(ada, sandbox);
    const impatient = await world.another({ BROKER_HOLD_SECONDS: '0' });
    await world.app.restart(0);
    await world.answer(ada, sandbox, request);
    expect((await waiting).status).toBe(200);
    expect(world.seen().length).toBe(before + 1);
    // Whatever is remembered of the place opens nothing by itself.
    await world.app.replicas[0]?.close();
    const away = await world.ask(sandbox, PUBLISH, impatient);
    expect([away.status, away.code]).toEqual([503, 'credential.undecided']);
    expect(world.seen().length).toBe(before + 1);
    await world.app.restart(0);
    await impatient.close();
    await until('app-server is back', () =>
      world.requests(ada, sandbox).then(
        () => true,
        () => false,
      ),
    );
    await world.remove(ada, credential);
  });

  it('adversary: a repeated question is one use, and another request with its id is none', async () => {
    const credential = await world.credential(ada, { methods: ['PUT'], usesPerConversation: 2 });
    const sandbox = await world.sandbox(ada);
    const use = randomUUID();
    const question = {
      ...sandbox,
      host: 'registry.example.com',
      port: world.origin.port,
      credential: credential.id,
      place: credential.use.places[0],
      use,
      method: 'PUT',
      path: '/a',
      queryBytes: null,
      queryHash: null,
      bodyBytes: 0,
      bodyType: null,
      refs: [],
    };
    const many = await Promise.all(Array.from({ length: 20 }, () => world.decide(question)));
    expect(new Set(many.map(({ decision }) => decision))).toEqual(new Set(['pass']));
    for (const other of [{ path: '/b' }, { method: 'POST' }, { bodyBytes: 1 }, { claim: 'clm_other' }])
      expect((await world.decide({ ...question, ...other })).decision).toBe('changed');
    expect((await world.decide({ ...question, use: randomUUID() })).decision).toBe('pass');
    expect((await world.decide({ ...question, use: randomUUID() })).decision).toBe('spent');
    const eve = await world.app.user('Eve');
    expect((await world.decide({ ...question, org: eve.orgId, use: randomUUID() })).decision).toBe('changed');
    const wider = { ...question.place, usesPerConversation: 900 };
    expect((await world.decide({ ...question, place: wider, use: randomUUID() })).decision).toBe('changed');
    await world.remove(ada, credential);
  });

  it('adversary: a key without the scope answers nothing', async () => {
    const credential = await world.credential(ada, { ask: 'each-use' });
    const sandbox = await world.sandbox(ada);
    const waiting = world.ask(sandbox, PUBLISH);
    const request = await world.waiting(ada, sandbox);
    expect(await byKey(sandbox, request, ['conversation:read'])).toBe(403);
    expect(await byKey(sandbox, request, ['conversation:read', 'egress:answer'])).toBe(200);
    expect((await waiting).status).toBe(200);
    await world.remove(ada, credential);
  });

  it('a credential that has ended is refused in words, and cuts what is open within a second', async () => {
    const credential = await world.credential(ada, {}, { expiresAt: new Date(Date.now() + 86_400_000).toISOString() });
    expect(credential).toMatchObject({ expired: false });
    const sandbox = await world.sandbox(ada);
    const get = () => world.ask(sandbox, { path: '/x' });
    expect((await get()).status).toBe(200);
    const socket = await world.broker.secure({ host: 'registry.example.com', ...sandbox });
    socket.write(`GET /y HTTP/1.1\r\nHost: registry.example.com:${world.origin.port}\r\n\r\n`);
    await once(socket, 'data');
    const ended = new Promise<number>((resolve) => socket.once('close', () => resolve(performance.now())));
    const end = new Date(Date.now() + 1_500).toISOString();
    expect((await world.change(ada, credential, { expiresAt: end })).status).toBe(200);
    const at = performance.now();
    // Given anew with its end, and cut by the broker's own clock: nobody says anything then.
    expect((await ended) - at).toBeLessThan(10_000);
    expect([(await get()).status, (await get()).code]).toEqual([403, 'credential.expired']);
    const shown = await world.app.http(ada, 'GET', `/api/v1/orgs/${ada.orgId}/credentials/${credential.id}`);
    expect(shown.body).toMatchObject({ expired: true, expiresAt: end });
    await world.change(ada, credential, { expiresAt: null });
    await until('it is used again', async () => (await get()).status === 200);
    await world.remove(ada, credential);
  });

  async function byKey(sandbox: UsingSandbox, request: { id: string; host: string; port: number }, scopes: string[]) {
    const key = await world.app.http<{ token: string }>(ada, 'POST', `/api/v1/orgs/${ada.orgId}/api-keys`, {
      name: randomBytes(4).toString('hex'),
      scopes,
    });
    const { status } = await world.app.http(
      null,
      'POST',
      `/api/v1/orgs/${ada.orgId}/conversations/${sandbox.conversation}/egress-requests/${request.id}`,
      { decision: 'allow', host: request.host, port: request.port },
      { authorization: `Bearer ${key.body.token}` },
    );
    return status;
  }
});
