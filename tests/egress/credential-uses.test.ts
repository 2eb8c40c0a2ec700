import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { User } from '../../apps/app-server/dist/testing/conversation-app.js';
import { UsesWorld, VALUE } from './uses-world.ts';

jest.setTimeout(120_000);
const PUBLISH = {
  method: 'PUT',
  path: '/npm/left-pad',
  body: '{"x":1}',
  headers: { 'content-type': 'application/json' },
};

describe('a place of a credential that asks', () => {
  let world: UsesWorld;
  let ada: User;
  beforeAll(async () => {
    world = await UsesWorld.start(0);
    ada = await world.app.user('Ada');
  });
  afterAll(() => world?.close());
  const member = async (role: string): Promise<User> => {
    const user = await world.app.user(role);
    await world.app.owner.query('INSERT INTO app.membership (org_id, user_id, role) VALUES ($1, $2, $3)', [
      ada.orgId,
      user.userId,
      role,
    ]);
    return { ...user, orgId: ada.orgId };
  };

  it('adversary: 200 racing requests by two brokers: as many pass as users said yes, and none else', async () => {
    const credential = await world.credential(ada, { methods: ['PUT'], ask: 'each-use' });
    const sandbox = await world.sandbox(ada);
    const before = world.seen().length;
    expect(await world.race(sandbox, PUBLISH, 50)).toBe(0);
    for (let yes = 1; yes <= 3; yes += 1) {
      const request = await world.waiting(ada, sandbox);
      expect(request.use).toMatchObject({
        credential: { id: credential.id, name: credential.name },
        ask: 'each-use',
        place: 'PUT /**',
        method: 'PUT',
        path: '/npm/left-pad',
        bodyBytes: PUBLISH.body.length,
        bodyType: 'application/json',
        refs: [],
      });
      expect((await world.answer(ada, sandbox, request)).status).toBe(200);
      const passed = await world.raceUntil(
        async () => (await world.taken(sandbox)).yeses === yes,
        sandbox,
        PUBLISH,
        200,
      );
      expect(passed).toBeLessThanOrEqual(1);
      expect(await world.taken(sandbox)).toEqual({ yeses: yes, uses: yes });
    }
    expect(world.seen().length - before).toBeLessThanOrEqual(3);
    expect(world.seen().length - before).toBeGreaterThan(0);
    // One card at a time, however many ask.
    expect((await world.requests(ada, sandbox)).map(({ state }) => state)).toEqual([
      'waiting',
      'allowed',
      'allowed',
      'allowed',
    ]);
    await world.remove(ada, credential);
  });

  it('adversary: usesPerConversation is never exceeded by racing requests, and each conversation has its own', async () => {
    const credential = await world.credential(ada, { methods: ['PUT'], usesPerConversation: 7 });
    const [one, other] = [await world.sandbox(ada), await world.sandbox(ada)];
    const until = (line: typeof one, uses: number) =>
      world.raceUntil(async () => (await world.taken(line)).uses === uses, line, PUBLISH, 60);
    const passed = await Promise.all([until(one, 7), until(other, 7)]);
    expect(Math.max(...passed)).toBeLessThanOrEqual(7);
    expect([(await world.taken(one)).uses, (await world.taken(other)).uses]).toEqual([7, 7]);
    const refused = await world.ask(one, PUBLISH);
    expect([refused.status, refused.code]).toEqual([403, 'credential.uses-spent']);
    // What was used before counts for the next limit.
    const use = { form: 'bearer', places: [world.place({ methods: ['PUT'], usesPerConversation: 8 })] };
    expect((await world.change(ada, credential, { use, value: VALUE })).status).toBe(200);
    expect(await until(one, 8)).toBeLessThanOrEqual(1);
    expect((await world.taken(one)).uses).toBe(8);
    await world.remove(ada, credential);
  });

  it('adversary: a sandbox that changes path, query, type or size after the question gets nothing for the yes', async () => {
    const credential = await world.credential(ada, { methods: ['PUT'], ask: 'each-use' });
    const sandbox = await world.sandbox(ada);
    const before = world.seen().length;
    const asked = await world.ask(sandbox, PUBLISH);
    expect([asked.status, asked.code, asked.headers['retry-after']]).toEqual([403, 'credential.asked', '30']);
    await world.answer(ada, sandbox, await world.waiting(ada, sandbox));
    for (const other of [
      { ...PUBLISH, path: '/npm/other' },
      { ...PUBLISH, path: '/npm/left-pad?tag=latest' },
      { ...PUBLISH, body: `${PUBLISH.body} ` },
      { ...PUBLISH, headers: { 'content-type': 'text/plain' } },
    ])
      expect((await world.ask(sandbox, other)).code).toMatch(/^credential\.asked(-too-often)?$/);
    expect((await world.ask({ ...sandbox, claim: 'clm_other' }, PUBLISH)).status).toBe(403);
    expect(world.seen().length).toBe(before);
    expect((await world.ask(sandbox, PUBLISH)).status).toBe(200);
    expect((await world.ask(sandbox, PUBLISH)).status).toBe(403);
    await world.remove(ada, credential);
  });

  it('asks for a first use once: for its path, or for its place for the conversation', async () => {
    const credential = await world.credential(ada, { paths: ['/v1/**'], ask: 'first-use' });
    const sandbox = await world.sandbox(ada);
    const get = (path: string) => world.ask(sandbox, { path });
    expect((await get('/v1/a')).code).toBe('credential.asked');
    await world.answer(ada, sandbox, await world.waiting(ada, sandbox), { scope: 'once' });
    expect([(await get('/v1/a')).status, (await get('/v1/a?page=2')).status]).toEqual([200, 200]);
    expect((await get('/v1/b')).code).toBe('credential.asked');
    await world.answer(ada, sandbox, await world.waiting(ada, sandbox), { scope: 'conversation' });
    expect([(await get('/v1/b')).status, (await get('/v1/c')).status]).toEqual([200, 200]);
    // Of this conversation and this place alone.
    expect((await world.ask(await world.sandbox(ada), { path: '/v1/b' })).code).toBe('credential.asked');
    const use = { form: 'bearer', places: [world.place({ paths: ['/v1/**'], methods: ['GET'], ask: 'first-use' })] };
    await world.change(ada, credential, { use, value: VALUE });
    expect((await get('/v1/b')).code).toBe('credential.asked');
    await world.remove(ada, credential);
  });

  it('a yes for once is over after a minute, and a no holds for an hour', async () => {
    const credential = await world.credential(ada, { ask: 'first-use' });
    const sandbox = await world.sandbox(ada);
    const get = () => world.ask(sandbox, { path: '/x' });
    const later = (seconds: number) =>
      world.app.owner.query(
        'UPDATE app.credential_request SET decided_at = decided_at - make_interval(secs => $2) WHERE conversation_id = $1',
        [sandbox.conversation, seconds],
      );
    await get();
    await world.answer(ada, sandbox, await world.waiting(ada, sandbox));
    await later(59);
    expect((await get()).status).toBe(200);
    await later(2);
    expect((await get()).code).toBe('credential.asked');
    const request = await world.waiting(ada, sandbox);
    await world.answer(ada, sandbox, request, { decision: 'deny', reason: 'not this one' });
    expect((await get()).code).toBe('credential.use-denied');
    await later(3_500);
    expect((await get()).code).toBe('credential.use-denied');
    await later(200);
    expect((await get()).code).toBe('credential.asked');
    await world.remove(ada, credential);
  });

  it('adversary: answers that are not one: twice, of others, wider than the place, after a change', async () => {
    const credential = await world.credential(ada, { methods: ['PUT'], ask: 'each-use' });
    const sandbox = await world.sandbox(ada);
    await world.ask(sandbox, PUBLISH);
    const request = await world.waiting(ada, sandbox);
    const stranger = await world.app.user('Eve');
    expect((await world.answer(await member('viewer'), sandbox, request)).status).toBe(403);
    expect((await world.answer(stranger, sandbox, request)).status).toBe(404);
    expect((await world.answer(stranger, { ...sandbox, org: stranger.orgId }, request)).status).toBe(404);
    for (const more of [
      { scope: 'conversation' },
      { scope: 'organization' },
      { scope: 'conversation', paths: ['/**'] },
    ])
      expect((await world.answer(ada, sandbox, request, more)).body.code).toBe('request.invalid');
    expect((await world.answer(ada, sandbox, request, { host: 'evil.example.com' })).status).toBe(409);
    // Another value is no other use; another place is.
    await world.change(ada, credential, { value: VALUE });
    const use = { form: 'bearer', places: [world.place({ methods: ['PUT', 'POST'], ask: 'each-use' })] };
    await world.change(ada, credential, { use, value: VALUE });
    expect((await world.answer(ada, sandbox, request)).body.code).toBe('credential.changed');
    await world.ask(sandbox, PUBLISH);
    const next = (await world.requests(ada, sandbox)).find(({ id, state }) => state === 'waiting' && id !== request.id);
    if (next === undefined) throw new Error('nothing is asked');
    const key = 'one-key-of-one-answer';
    const both = [await world.answer(ada, sandbox, next, {}, key), await world.answer(ada, sandbox, next, {}, key)];
    expect(both.map(({ status }) => status)).toEqual([200, 200]);
    expect((await world.answer(ada, sandbox, next)).body.code).toBe('egress.already-answered');
    expect(await world.race(sandbox, PUBLISH, 4)).toBeLessThanOrEqual(1);
    const { rows } = await world.app.owner.query(
      `SELECT actor_id, detail FROM app.audit_entry WHERE action = 'credential-use.allow' AND target LIKE $1`,
      [`%${next.id}`],
    );
    expect(rows).toEqual([
      {
        actor_id: ada.userId,
        detail: expect.objectContaining({ credential: credential.id, method: 'PUT', scope: 'once' }),
      },
    ]);
    await world.remove(ada, credential);
  });

  it('adversary: under four eyes whoever the agent works for does not say yes', async () => {
    const set = (on: boolean) =>
      world.app.owner.query(
        `UPDATE app.org SET settings = settings || jsonb_build_object('fourEyes', $2::boolean) WHERE id = $1`,
        [ada.orgId, on],
      );
    const credential = await world.credential(ada, { ask: 'first-use' });
    const sandbox = await world.sandbox(ada);
    await set(true);
    await world.ask(sandbox, { path: '/x' });
    const request = await world.waiting(ada, sandbox);
    expect((await world.answer(ada, sandbox, request)).body.code).toBe('conversation.four-eyes');
    const others = await Promise.all(Array.from({ length: 4 }, () => member('member')));
    const answers = await Promise.all(others.map((user) => world.answer(user, sandbox, request)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409]);
    expect((await world.ask(sandbox, { path: '/x' })).status).toBe(200);
    await set(false);
    await world.remove(ada, credential);
  });

  it('adversary: a sandbox that asks for everything gets four cards', async () => {
    const credential = await world.credential(ada, { ask: 'each-use' });
    const sandbox = await world.sandbox(ada);
    const codes = new Map<string | undefined, number>();
    for (let index = 0; index < 12; index += 1) {
      const { code } = await world.ask(sandbox, { path: `/${index}` });
      codes.set(code, (codes.get(code) ?? 0) + 1);
    }
    expect(Object.fromEntries(codes)).toEqual({ 'credential.asked': 4, 'credential.asked-too-often': 8 });
    await world.remove(ada, credential);
  });
});
