import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { CredentialUseDecision } from '@slipway/contracts/credentials';
import { FLUSH, pktLine } from './git/pkt-lines.js';
import { credential, type Origin, TestBroker } from './testing/test-broker.js';

const HOST = 'api.example.com';
const GIT = 'git.example.com';
const says = (decision: CredentialUseDecision['decision']): CredentialUseDecision => ({
  decision,
  request: decision === 'ask' ? 'cuq_1' : null,
});

describe('a place that asks', () => {
  let world: TestBroker;
  let origin: Origin;
  let host: Origin;
  beforeAll(async () => {
    world = await TestBroker.start({ BROKER_HOLD_SECONDS: '3' });
    origin = await world.origin(HOST, (_request, response) => void response.end('fine'));
    host = await world.origin(GIT, (_request, response) => void response.end('taken'));
  });
  beforeEach(() => {
    origin.seen.length = 0;
    host.seen.length = 0;
    world.control.uses.length = 0;
    world.control.decide = () => says('pass');
  });
  afterAll(() => world?.close());
  const give = (place: object, use: object = { form: 'bearer' }) =>
    world.give(credential({ ...use, places: [{ host: HOST, port: origin.port, ...place }] } as never));
  const push = (command: string) =>
    world.ask({
      host: GIT,
      method: 'POST',
      path: '/acme/app.git/git-receive-pack',
      headers: { 'content-type': 'application/x-git-receive-pack-request' },
      body: Buffer.concat([pktLine(command), FLUSH, Buffer.from('PACK')]),
    });
  const ZERO = '0'.repeat(40);
  const ONE = '1'.repeat(40);
  const CAPABILITIES = '\0report-status side-band-64k';

  it('says what the request would send, without a query, a header or a value', async () => {
    await give({ ask: 'each-use' }, { form: 'placeholder' });
    world.control.credentials = world.control.credentials.map((each) => ({ ...each, reference: 'slp_ref_x' }));
    await world.give(...world.control.credentials);
    const body = '{"x":1}';
    const { status } = await world.ask({
      host: HOST,
      method: 'POST',
      path: '/v1/a?key=slp_ref_x&q=private',
      headers: { 'content-type': 'Application/JSON; charset=utf-8', 'content-length': String(body.length) },
      body,
    });
    expect(status).toBe(200);
    const [question] = world.control.uses;
    expect(question).toMatchObject({
      method: 'POST',
      path: '/v1/a',
      queryBytes: 'key=slp_ref_x&q=private'.length,
      bodyBytes: body.length,
      bodyType: 'application/json',
      refs: [],
      place: { host: HOST, ask: 'each-use' },
    });
    expect(JSON.stringify(question)).not.toMatch(/private|s3cret|slp_ref/);
  });

  it('asks nothing elsewhere, and for a limited place without a question', async () => {
    await give({ ask: 'never' });
    expect((await world.ask({ host: HOST })).status).toBe(200);
    expect(world.control.uses).toEqual([]);
    await give({ usesPerConversation: 1 });
    world.control.decide = () => says('spent');
    expect((await world.ask({ host: HOST })).code).toBe('credential.uses-spent');
    expect(origin.seen).toHaveLength(1);
  });

  it('an answer that is lost is asked for again as the same use', async () => {
    await give({ ask: 'first-use' });
    let count = 0;
    world.control.decide = () => {
      count += 1;
      if (count === 1) throw new Error('lost');
      return says(count < 3 ? 'ask' : 'pass');
    };
    expect((await world.ask({ host: HOST })).status).toBe(200);
    expect(world.control.uses).toHaveLength(3);
    expect(new Set(world.control.uses.map(({ use }) => use)).size).toBe(1);
    expect(origin.seen).toHaveLength(1);
  });

  it.each([
    ['denied', 403, 'credential.use-denied', undefined],
    ['too-many', 403, 'credential.asked-too-often', '30'],
    ['changed', 503, 'credential.undecided', '5'],
    ['ask', 403, 'credential.asked', '30'],
  ] as const)('%s: %i %s, and nothing is sent', async (decision, status, code, retry) => {
    await give({ ask: 'first-use' });
    const before = origin.connections();
    world.control.decide = () => says(decision);
    const answer = await world.ask({ host: HOST, method: 'POST', body: 'x' });
    expect([answer.status, answer.code, answer.headers['retry-after']]).toEqual([status, code, retry]);
    expect(origin.connections()).toBe(before);
  });

  it('adversary: a place changed while the request waits lets nothing through', async () => {
    await give({ ask: 'each-use' });
    world.control.decide = () => {
      if (world.control.uses.length > 1) return says('pass');
      world.say(credential({ form: 'bearer', places: [{ host: HOST, port: origin.port, paths: ['/other'] }] }));
      return says('ask');
    };
    expect((await world.ask({ host: HOST, path: '/x' })).code).toBe('credential.undecided');
    expect(world.control.uses).toHaveLength(2);
    expect(origin.seen).toEqual([]);
  });

  it('adversary: a reference beside that of a place that asks, in any order, brings no value along', async () => {
    const made = [{ ask: 'each-use' as const }, {}].map((place, index) => ({
      ...credential({ form: 'placeholder', places: [{ host: HOST, port: origin.port, ...place }] }),
      reference: `slp_ref_${index}`,
    }));
    await world.give(...made);
    world.control.decide = () => says('denied');
    for (const path of ['/?a=slp_ref_0&b=slp_ref_1', '/?a=slp_ref_1&b=slp_ref_0'])
      for (const named of ['nothing', 'slp_ref_1', 'slp_ref_0'])
        expect((await world.ask({ host: HOST, path, headers: { 'x-one': named } })).code).toBe('credential.misplaced');
    expect((await world.ask({ host: HOST, path: '/?a=slp_ref_0' })).code).toBe('credential.use-denied');
    expect((await world.ask({ host: HOST, path: '/?a=slp_ref_1' })).status).toBe(200);
    expect(origin.seen.map(({ url }) => url.includes(made[0]?.value ?? ''))).toEqual([false]);
  });

  it('of several places that fit, the one that asks counts, wherever it stands', async () => {
    const places = [
      { host: HOST, port: origin.port },
      { host: HOST, port: origin.port, paths: ['/admin/**'], usesPerConversation: 1 },
      { host: HOST, port: origin.port, paths: ['/admin/**'], ask: 'first-use' },
    ];
    await world.give(credential({ form: 'bearer', places } as never));
    world.control.decide = () => says('denied');
    expect((await world.ask({ host: HOST, path: '/admin/x' })).code).toBe('credential.use-denied');
    expect(world.control.uses[0]?.place).toMatchObject({ ask: 'first-use' });
    expect((await world.ask({ host: HOST, path: '/other' })).status).toBe(200);
  });

  it('a place with something that this release does not know opens nothing', async () => {
    await give({});
    const [given] = world.control.credentials;
    if (given === undefined) throw new Error('nothing is given');
    const places = given.use.places.map((place) => ({ ...place, asksOfTomorrow: 'always' }));
    world.say({ ...given, use: { ...given.use, places } as typeof given.use });
    await world.ask({ host: 'probe.example.com' });
    const answer = await world.ask({ host: HOST, line: { claim: 'clm_new' } });
    expect([answer.status, answer.code]).toEqual([503, 'credential.undecided']);
    expect(origin.seen).toEqual([]);
  });

  it('of git asks about pushes, whose refusal git prints at each branch; reading passes', async () => {
    const use = {
      form: 'basic',
      places: [{ host: GIT, port: host.port, git: { push: ['refs/heads/**'] }, ask: 'each-use' }],
    } as const;
    await world.give(credential(use as never));
    world.control.decide = () => says('denied');
    expect((await world.ask({ host: GIT, path: '/acme/app.git/info/refs?service=git-receive-pack' })).status).toBe(200);
    // What git sends before a large push, to try the way.
    const probe = await world.ask({
      host: GIT,
      method: 'POST',
      path: '/acme/app.git/git-receive-pack',
      headers: { 'content-type': 'application/x-git-receive-pack-request' },
      body: '0000',
    });
    expect(probe.status).toBe(200);
    expect(world.control.uses).toEqual([]);
    const sent = host.seen.length;
    const refused = await push(`${ZERO} ${ONE} refs/heads/main${CAPABILITIES}`);
    expect(refused.status).toBe(200);
    expect(refused.text).toMatch(/ng refs\/heads\/main slipway: A user has refused to use TOKEN_\d+/);
    expect(host.seen.length).toBe(sent);
    expect(world.control.uses.map(({ refs, method }) => [method, refs])).toEqual([['POST', ['refs/heads/main']]]);
    world.control.decide = () => says('pass');
    expect((await push(`${ZERO} ${ONE} refs/heads/main${CAPABILITIES}`)).text).toBe('taken');
  });
});
