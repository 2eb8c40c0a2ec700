import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { RenewalAnswer, RenewalOutcome } from '@slipway/contracts/credentials';
import { until } from '@slipway/testing';
import { credential, type Origin, TestBroker } from './testing/test-broker.js';

const API = 'api.example.com';
const ISSUER = 'login.example.com';
const LEASE: RenewalAnswer = { state: 'lease', lease: 'lease-1', refreshToken: 'rt-1', clientSecret: 'client-secret' };

describe('access tokens for a refresh token', () => {
  let world: TestBroker;
  let api: Origin;
  let issuer: Origin;
  let respond: (response: ServerResponse) => void;
  let apiStatus = 200;
  beforeAll(async () => {
    world = await TestBroker.start();
    api = await world.origin(API, (request, response) => {
      request.resume().once('end', () => response.writeHead(apiStatus).end('hello'));
    });
    issuer = await world.origin(ISSUER, (request, response) => {
      request.resume().once('end', () => respond(response));
    });
  });
  beforeEach(() => {
    for (const { seen } of [api, issuer]) seen.length = 0;
    for (const list of [world.control.renewals, world.control.rotated]) list.length = 0;
    apiStatus = 200;
    world.control.renew = () => LEASE;
    world.control.keeps = () => true;
    respond = json(200, {
      access_token: 'at-1-0123456789',
      token_type: 'Bearer',
      expires_in: 3600,
      refresh_token: 'rt-2',
    });
  });
  afterAll(() => world?.close());

  const json = (status: number, body: object) => (response: ServerResponse) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  const give = async (more: object = {}) => {
    const one = credential(
      {
        form: 'oauth-refresh-token',
        tokenUrl: `https://${ISSUER}:${issuer.port}/token`,
        clientId: 'slipway',
        places: [{ host: API, port: api.port }],
        ...more,
      },
      { value: '' },
    );
    await world.give(one);
    return one;
  };
  const ask = () => world.ask({ host: API });
  const outcomes = (): RenewalOutcome[] => world.control.rotated.map(({ outcome }) => outcome);

  it('are asked for once with the lease, and are used when what came is kept', async () => {
    const one = await give({ scope: 'read' });
    let keep = (): void => {};
    world.control.keeping = new Promise((resolve) => {
      keep = resolve;
    });
    const asking = Promise.all([ask(), ask(), ask()]);
    await until('the outcome is reported', async () => world.control.rotated.length > 0);
    expect(api.seen).toHaveLength(0);
    keep();
    world.control.keeping = null;
    expect((await asking).map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(new Set(api.seen.map(({ headers }) => headers.authorization))).toEqual(new Set(['Bearer at-1-0123456789']));
    expect(issuer.seen).toHaveLength(1);
    expect(Object.fromEntries(new URLSearchParams(issuer.seen[0]?.body))).toEqual({
      grant_type: 'refresh_token',
      refresh_token: 'rt-1',
      scope: 'read',
    });
    expect(issuer.seen[0]?.headers.authorization).toBe(
      `Basic ${Buffer.from('slipway:client-secret').toString('base64')}`,
    );
    expect(world.control.rotated).toEqual([
      {
        credential: one.id,
        lease: 'lease-1',
        outcome: { outcome: 'issued', accessToken: 'at-1-0123456789', refreshToken: 'rt-2', seconds: 3600 },
      },
    ]);
  });

  it('are those that another replica has got, and are waited for while it does', async () => {
    await give();
    const answers: RenewalAnswer[] = [
      { state: 'busy' },
      { state: 'busy' },
      { state: 'issued', accessToken: 'at-other-0123456789', seconds: 3000 },
    ];
    world.control.renew = () => answers.shift() ?? LEASE;
    expect((await ask()).status).toBe(200);
    expect(api.seen[0]?.headers.authorization).toBe('Bearer at-other-0123456789');
    expect(issuer.seen).toHaveLength(0);
  });

  it('another one is asked for once a place has not taken one', async () => {
    await give();
    apiStatus = 401;
    await ask();
    apiStatus = 200;
    await ask();
    expect(world.control.renewals.map(({ refused }) => refused)).toEqual([
      null,
      createHash('sha256').update('at-1-0123456789').digest('base64'),
    ]);
  });

  it('a report that does not arrive is repeated, and nothing is sent before it has', async () => {
    await give();
    let failures = 2;
    world.control.keeps = () => {
      failures -= 1;
      if (failures >= 0) throw new Error('away');
      return true;
    };
    expect((await ask()).status).toBe(200);
    expect(world.control.rotated).toHaveLength(3);
    expect([issuer.seen.length, api.seen.length]).toEqual([1, 1]);
  });

  it('adversary: a token that is not kept, since the credential was changed meanwhile, is not used', async () => {
    await give();
    world.control.keeps = () => false;
    expect(await ask()).toMatchObject({ status: 503, code: 'credential.undecided' });
    expect(api.seen).toHaveLength(0);
  });

  it('none is asked for while the credential is resting', async () => {
    await give();
    world.control.renew = () => ({ state: 'resting' });
    expect(await ask()).toMatchObject({ status: 403, code: 'credential.resting' });
    expect([issuer.seen.length, api.seen.length]).toEqual([0, 0]);
  });

  const said = (error: string) => json(400, { error, error_description: 'rt-1 is s3cret' });
  it.each<[string, (response: ServerResponse) => void, number, RenewalOutcome]>([
    ['says that the refresh token is not valid', said('invalid_grant'), 403, { outcome: 'refused', isGrant: true }],
    ['does not know the client', said('invalid_client'), 403, { outcome: 'refused', isGrant: false }],
    ['has failed', json(503, {}), 502, { outcome: 'unknown' }],
    ['breaks off', (response) => void response.destroy(), 502, { outcome: 'unknown' }],
    [
      'leads elsewhere',
      (response) => void response.writeHead(302, { location: 'https://evil.example/' }).end(),
      502,
      {
        outcome: 'unknown',
      },
    ],
    ['never ends', (response) => void response.end(`{"a":"${'x'.repeat(200_000)}"}`), 502, { outcome: 'unknown' }],
    ['issues no bearer token', json(200, { access_token: 'at', token_type: 'mac' }), 502, { outcome: 'unknown' }],
    [
      'gives a refresh token that is none',
      json(200, { access_token: 'at-1-0123456789', token_type: 'Bearer', refresh_token: 'a\r\nb' }),
      502,
      { outcome: 'unknown' },
    ],
  ])(
    'adversary: of a server that %s app-server hears what is known, and the place nothing',
    async (_, answer, status, outcome) => {
      await give();
      respond = answer;
      const answered = await ask();
      expect(answered.status).toBe(status);
      expect(answered.text).not.toMatch(/rt-1|s3cret/);
      expect(outcomes()).toEqual([outcome]);
      expect(api.seen).toHaveLength(0);
    },
  );

  it('adversary: a server at an address of the cluster, or with a wrong certificate, gets nothing', async () => {
    world.names.set('inside.example.com', ['10.0.0.7']);
    await give({ tokenUrl: 'https://inside.example.com/token' });
    expect(await ask()).toMatchObject({ status: 502, code: 'credential.unreachable' });
    const wrong = await world.origin(
      'wrong.example.com',
      (_request, response) => response.end(),
      await world.authority.issue('wrong.example.com'),
    );
    await give({ tokenUrl: `https://wrong.example.com:${wrong.port}/token` });
    expect(await ask()).toMatchObject({ status: 502, code: 'credential.unreachable' });
    expect(outcomes()).toEqual([{ outcome: 'unsent' }, { outcome: 'unsent' }]);
    expect(wrong.seen).toHaveLength(0);
  });
});
