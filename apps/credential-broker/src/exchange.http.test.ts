import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { BrokerLine } from '@slipway/contracts/credentials';
import { credential, type Origin, TestBroker } from './testing/test-broker.js';

const API = 'api.example.com';
const STS = 'sts.example.com';
const TYPES = 'urn:ietf:params:oauth:token-type:';

/** A token of workload identity as far as the broker reads it. */
const workload = (sub: string, id: string): string =>
  `eyJhbGciOiJFUzI1NiJ9.${Buffer.from(JSON.stringify({ sub, jti: id })).toString('base64url')}.c2lnbmF0dXJl`;

describe('tokens of workload identity that are exchanged', () => {
  let world: TestBroker;
  let api: Origin;
  let sts: Origin;
  let issued = 0;
  let respond: () => { status?: number; body: object };
  beforeAll(async () => {
    world = await TestBroker.start();
    api = await world.origin(API, (request, response) => {
      request.resume().once('end', () => response.end('hello'));
    });
    sts = await world.origin(STS, (request, response) => {
      request.resume().once('end', () => {
        const { status = 200, body } = respond();
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      });
    });
  });
  beforeEach(() => {
    for (const { seen } of [api, sts]) seen.length = 0;
    issued = 0;
    respond = () => ({ body: issue() });
  });
  afterAll(() => world?.close());

  const issue = (more: object = {}): object => {
    issued += 1;
    return {
      access_token: `exchanged-${issued}-0123456789`,
      issued_token_type: `${TYPES}access_token`,
      token_type: 'Bearer',
      expires_in: 3600,
      ...more,
    };
  };
  const give = async (more: object = {}, given: object = {}) => {
    const one = credential(
      {
        form: 'token-exchange',
        tokenUrl: `https://${STS}:${sts.port}/v1/token`,
        subjectAudience: 'https://sts.example.com/slipway',
        places: [{ host: API, port: api.port }],
        ...more,
      },
      { value: '', identity: workload('org:org_1:env::repo:', 'jti-1'), ...given },
    );
    await world.give(one);
    return one;
  };
  const ask = (line: Partial<BrokerLine> = {}) => world.ask({ host: API, line });
  const sent = () => api.seen.map(({ headers }) => headers.authorization);

  it('are sent by the rules of RFC 8693, and what comes back is a bearer token', async () => {
    const one = await give({ audience: '//pool', resource: 'https://api.example.com/', scope: 'read' });
    expect((await ask()).status).toBe(200);
    expect(sent()).toEqual(['Bearer exchanged-1-0123456789']);
    const [asked] = sts.seen;
    expect(asked).toMatchObject({ method: 'POST', url: '/v1/token' });
    expect(asked?.headers.authorization).toBeUndefined();
    expect(Object.fromEntries(new URLSearchParams(asked?.body))).toEqual({
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token: one.identity,
      subject_token_type: `${TYPES}jwt`,
      requested_token_type: `${TYPES}access_token`,
      audience: '//pool',
      resource: 'https://api.example.com/',
      scope: 'read',
    });
    expect(JSON.stringify(api.seen)).not.toContain(one.identity);
  });

  it('are sent with the client, where the server wants one', async () => {
    await give({ clientId: 'slipway', clientAuth: 'basic' }, { value: 'client-secret' });
    await ask();
    expect(sts.seen[0]?.headers.authorization).toBe(`Basic ${Buffer.from('slipway:client-secret').toString('base64')}`);
    await give({ clientId: 'public' });
    await ask();
    expect(sts.seen[1]?.headers.authorization).toBeUndefined();
    expect(new URLSearchParams(sts.seen[1]?.body).get('client_id')).toBe('public');
  });

  it('adversary: no conversation or sandbox is served with what was issued for another one, nor for another subject', async () => {
    const one = await give();
    for (const line of [{}, {}, { conversation: 'cnv_2' }, { claim: 'clm_2' }, {}]) await ask(line);
    expect(sts.seen).toHaveLength(3);
    expect(sent().map((text) => text?.split('-')[1])).toEqual(['1', '1', '2', '3', '1']);
    // Another token of the same conversation is no reason to ask again; another subject is.
    world.control.ttlMs = 0;
    for (const [sub, count] of [
      ['org:org_1:env::repo:', 1],
      ['org:org_1:env:production:repo:', 2],
    ] as const) {
      await world.give({ ...one, identity: workload('org:org_1:env::repo:', 'jti-1') });
      sts.seen.length = 0;
      await ask();
      world.control.credentials = [{ ...one, identity: workload(sub, 'jti-2') }];
      await ask();
      expect([sub, sts.seen.length]).toEqual([sub, count]);
    }
    world.control.ttlMs = 60_000;
  });

  it('a token that is sent back is masked', async () => {
    const one = await give();
    respond = () => ({ body: issue({ access_token: 'hello' + 'x'.repeat(20) }) });
    expect((await ask()).text).toBe('hello');
    const echo = await world.origin('echo.example.com', (request, response) =>
      response.end(`you are ${request.headers.authorization}`),
    );
    const other = await give({ places: [{ host: 'echo.example.com', port: echo.port }] });
    expect((await world.ask({ host: 'echo.example.com' })).text).toBe(`you are Bearer <secret:${other.name}>`);
    expect(one.name).not.toBe(other.name);
  });

  it.each([
    ['does not say what it has issued', { issued_token_type: undefined }],
    ['has issued an identity token', { issued_token_type: `${TYPES}id_token` }],
    ['has issued what is no bearer token', { token_type: 'N_A' }],
    ['has issued one that would end the header', { access_token: 'a\r\nHost: evil' }],
    ['has issued one that is too long', { access_token: 'a'.repeat(20_000) }],
  ])('adversary: a server that %s has nothing sent to the place', async (_, more) => {
    respond = () => ({ body: issue(more) });
    await give();
    expect(await ask()).toMatchObject({ status: 502, code: 'credential.unreachable' });
    expect(api.seen).toHaveLength(0);
  });

  it('adversary: the token in an error of the server is in no answer', async () => {
    const one = await give();
    respond = () => ({ status: 400, body: { error: 'invalid_request', error_description: one.identity } });
    const answer = await ask();
    expect(answer).toMatchObject({
      status: 403,
      code: 'credential.rejected',
      text: expect.stringContaining(`${STS} issues no access token for ${one.name}: invalid_request.`),
    });
    expect(answer.text).not.toContain(one.identity);
    expect(api.seen).toHaveLength(0);
  });

  it('adversary: a token URL at an address of the cluster gets no token', async () => {
    world.names.set('inside.example.com', ['10.0.0.7']);
    await give({ tokenUrl: 'https://inside.example.com/token' });
    expect(await ask()).toMatchObject({ status: 502, code: 'credential.unreachable' });
  });
});
