import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { AddressRanges } from '@slipway/outside';
import { AccessTokens } from './forms/access-tokens.js';
import type { HeldCredential } from './judge/credential.js';
import { credential, LINE, type Origin, TestBroker } from './testing/test-broker.js';

const API = 'api.example.com';
const ISSUER = 'login.example.com';

interface TokenResponse {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

describe('access tokens of an OAuth client', () => {
  let world: TestBroker;
  let api: Origin;
  let issuer: Origin;
  let issued = 0;
  let respond: () => TokenResponse;
  /** What the API answers; the request's own token alone by default. */
  let apiAnswer: (authorization: string) => { status: number; body: string };
  beforeAll(async () => {
    world = await TestBroker.start();
    api = await world.origin(API, (request, response) => {
      const { status, body } = apiAnswer(request.headers.authorization ?? '');
      request.resume().once('end', () => response.writeHead(status, { 'content-type': 'text/plain' }).end(body));
    });
    issuer = await world.origin(ISSUER, (request, response) => {
      request.resume().once('end', () => {
        const { status = 200, headers = {}, body } = respond();
        response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
      });
    });
  });
  beforeEach(() => {
    for (const { seen } of [api, issuer]) seen.length = 0;
    issued = 0;
    respond = () => issue();
    apiAnswer = () => ({ status: 200, body: 'hello' });
  });
  afterAll(() => world?.close());

  const issue = (more: object = {}): TokenResponse => {
    issued += 1;
    return {
      body: JSON.stringify({
        access_token: `at-${issued}-0123456789`,
        token_type: 'Bearer',
        expires_in: 3600,
        ...more,
      }),
    };
  };
  const client = (more: object = {}) =>
    credential({
      form: 'oauth-client-credentials',
      tokenUrl: `https://${ISSUER}:${issuer.port}/oauth2/token?tenant=acme`,
      clientId: 'slipway agents',
      places: [{ host: API, port: api.port, paths: ['/v1/**'] }],
      ...more,
    });
  const ask = (path = '/v1/things', headers: Record<string, string> = {}) => world.ask({ host: API, path, headers });

  it('are asked for once for many requests, by the rules of RFC 6749, and sent as bearer tokens', async () => {
    const one = client({ scope: 'read write', audience: 'https://api.example.com' });
    await world.give(one);
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask()));
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
    expect(new Set(api.seen.map(({ headers }) => headers.authorization))).toEqual(new Set(['Bearer at-1-0123456789']));
    expect(issuer.seen).toHaveLength(1);
    const [asked] = issuer.seen;
    expect(asked).toMatchObject({ method: 'POST', url: '/oauth2/token?tenant=acme' });
    expect(Object.fromEntries(new URLSearchParams(asked?.body))).toEqual({
      grant_type: 'client_credentials',
      scope: 'read write',
      audience: 'https://api.example.com',
    });
    const [id, secret] = Buffer.from(asked?.headers.authorization?.slice(6) ?? '', 'base64')
      .toString()
      .split(':');
    expect([id, new URLSearchParams(`v=${secret}`).get('v')]).toEqual(['slipway+agents', one.value]);
    // The secret goes to no place, and the token to no other.
    expect(JSON.stringify(api.seen)).not.toContain(one.value);
    expect(await ask('/elsewhere')).toMatchObject({ status: 403, code: 'credential.misplaced' });
    expect(await ask('/v1/things', { authorization: 'Bearer mine' })).toMatchObject({ code: 'credential.foreign' });
    expect(api.seen).toHaveLength(20);
  });

  it('are asked for in the body where the server wants it, and again when they are over', async () => {
    respond = () => issue({ expires_in: '0' });
    const one = client({ clientAuth: 'body' });
    await world.give(one);
    await ask();
    await ask();
    expect(api.seen.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer at-1-0123456789',
      'Bearer at-2-0123456789',
    ]);
    expect(issuer.seen[0]?.headers.authorization).toBeUndefined();
    expect(Object.fromEntries(new URLSearchParams(issuer.seen[0]?.body))).toEqual({
      grant_type: 'client_credentials',
      client_id: 'slipway agents',
      client_secret: one.value,
    });
  });

  it('another one is asked for after the place has refused one, and after a change of the organization', async () => {
    await world.give(client());
    apiAnswer = () => ({ status: 401, body: 'expired' });
    expect((await ask()).status).toBe(401);
    apiAnswer = () => ({ status: 200, body: 'hello' });
    await ask();
    expect(api.seen.at(-1)?.headers.authorization).toBe('Bearer at-2-0123456789');
    await world.give(client());
    await ask();
    expect(api.seen.at(-1)?.headers.authorization).toBe('Bearer at-3-0123456789');
    await world.give();
    expect((await ask()).status).toBe(403);
    expect(issuer.seen).toHaveLength(3);
  });

  it('(B4) a token that a host sends back is masked, and its credential rests', async () => {
    const one = client();
    await world.give(one);
    apiAnswer = (authorization) => ({ status: 200, body: `you are ${authorization}` });
    expect((await ask()).text).toBe(`you are Bearer <secret:${one.name}>`);
    expect(await ask()).toMatchObject({ status: 403, code: 'credential.resting' });
  });

  it('a server that refuses is not asked in a loop, and nothing reaches the place', async () => {
    respond = () => ({ status: 401, body: JSON.stringify({ error: 'invalid_client', error_description: 's3cret' }) });
    const one = client();
    await world.give(one);
    const [first, second] = [await ask(), await ask()];
    for (const answer of [first, second])
      expect(answer).toMatchObject({
        status: 403,
        code: 'credential.rejected',
        text: expect.stringContaining(`${ISSUER} issues no access token for ${one.name}: invalid_client.`),
      });
    expect(first.text).not.toContain('s3cret');
    expect([issuer.seen.length, api.seen.length]).toEqual([1, 0]);
  });

  for (const [what, answer] of [
    ['answers no JSON', { body: '<html>' }],
    ['answers without a token', { body: '{"token_type":"Bearer"}' }],
    ['issues another type of token', { body: '{"access_token":"abcdefghij","token_type":"DPoP"}' }],
    ['issues one that would end the header', { body: '{"access_token":"a\\r\\nHost: evil","token_type":"Bearer"}' }],
    ['leads elsewhere', { status: 302, headers: { location: 'https://evil.example/' }, body: '' }],
    ['has failed', { status: 503, body: '' }],
    ['never ends', { body: `{"a":"${'x'.repeat(200_000)}"}` }],
  ] as const)
    it(`a hostile or broken server that ${what} has nothing sent to the place`, async () => {
      respond = () => answer;
      await world.give(client());
      expect(await ask()).toMatchObject({ status: 502, code: 'credential.unreachable' });
      expect([issuer.seen.length, api.seen.length]).toEqual([1, 0]);
    });

  it('(B6) a server at an address of the cluster, or with a wrong certificate, gets no secret', async () => {
    world.names.set('inside.example.com', ['10.0.0.7']);
    await world.give(client({ tokenUrl: 'https://inside.example.com/token' }));
    expect(await ask()).toMatchObject({ status: 502, code: 'credential.unreachable' });
    const other = await world.origin(
      'wrong.example.com',
      (_request, response) => response.end(),
      await world.authority.issue('wrong.example.com'),
    );
    await world.give(client({ tokenUrl: `https://wrong.example.com:${other.port}/token` }));
    expect(await ask()).toMatchObject({ status: 502, code: 'credential.unreachable' });
    expect([other.seen.length, api.seen.length]).toEqual([0, 0]);
  });

  it('one that nothing uses for a minute is forgotten, one in use is kept for its time, another secret has its own', async () => {
    let now = 0;
    const tokens = new AccessTokens({
      upstream: {
        addresses: { cluster: AddressRanges.read(''), permitted: AddressRanges.read('127.0.0.1') },
        resolve: async () => ['127.0.0.1'],
        idleMs: 10_000,
      },
      refreshing: { issue: () => Promise.reject(new Error('of another form')) },
      now: () => now,
    });
    const line = { ...LINE, host: API, port: api.port };
    const given = client();
    const held = (value: string): HeldCredential => ({
      ...given,
      value: Buffer.from(value),
      identity: null,
      endsAt: Number.POSITIVE_INFINITY,
    });
    const [one, other] = [held('one-secret'), held('other-secret')];
    const of = async (each: HeldCredential) => (await tokens.of(line, { credential: each, used: [each] }))?.value;
    const first = await of(one);
    expect([first, await of(other), await of(one)]).toEqual(['at-1-0123456789', 'at-2-0123456789', 'at-1-0123456789']);
    expect(await tokens.of(line, { credential: one, used: [] })).toBeNull();
    for (; now < 3_570_000; now += 59_000) expect(await of(one)).toBe(first);
    expect([await of(one), await of(other)]).toEqual(['at-3-0123456789', 'at-4-0123456789']);
    now += 60_000;
    expect(await of(other)).toBe('at-5-0123456789');
    await tokens.close();
  });
});
