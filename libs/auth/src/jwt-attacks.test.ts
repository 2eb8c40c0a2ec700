import { generateKeyPairSync } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { SlipwayError } from '@slipway/errors';
import { afterTest } from '@slipway/testing/jest';
import { type JWTPayload, SignJWT } from 'jose';
import { IngestTokens } from './ingest-token/ingest-token.js';
import { IssuerKeys } from './issuer-keys.js';
import { OidcIssuer } from './oidc-issuer.js';
import { SessionCookie } from './session-cookie.js';
import { CLIENT_ID, KEY_ID, ScriptedIssuer } from './testing/scripted-issuer.js';

type Forge = (issuer: ScriptedIssuer, claims: JWTPayload) => Promise<string> | string;

const stranger = generateKeyPairSync('rsa', { modulusLength: 2048 });
const curve = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const encoded = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const publicPem = (issuer: ScriptedIssuer, type: 'spki' | 'pkcs1'): string =>
  issuer.signing.publicKey.export({ format: 'pem', type }).toString();

/** Each is wrong in one thing alone. */
const ATTACKS: Readonly<Record<string, Forge>> = {
  'alg none, without a signature': (_, claims) => `${encoded({ alg: 'none' })}.${encoded(claims)}.`,
  'alg None, with the key’s id': (_, claims) => `${encoded({ alg: 'None', kid: KEY_ID })}.${encoded(claims)}.`,
  'alg none, with a signature that was right': async (issuer, claims) =>
    `${encoded({ alg: 'none', kid: KEY_ID })}.${encoded(claims)}.${(await issuer.sign(claims)).split('.')[2]}`,
  'HS256 with the public key as the secret': (issuer, claims) =>
    issuer.sign(claims, { alg: 'HS256' }, bytes(publicPem(issuer, 'spki'))),
  'HS256 with the public key in its other form': (issuer, claims) =>
    issuer.sign(claims, { alg: 'HS256' }, bytes(publicPem(issuer, 'pkcs1'))),
  'HS256 with the modulus as the secret': (issuer, claims) =>
    issuer.sign(claims, { alg: 'HS256' }, bytes(issuer.keys[0]?.n ?? '')),
  'another key under the issuer’s id': (issuer, claims) => issuer.sign(claims, {}, stranger.privateKey),
  'another key under its own id': (issuer, claims) => issuer.sign(claims, { kid: 'mine' }, stranger.privateKey),
  'another key, without any id': (issuer, claims) => issuer.sign(claims, { kid: undefined }, stranger.privateKey),
  'a key id that is a path': (issuer, claims) =>
    issuer.sign(claims, { kid: '../../../../dev/null' }, stranger.privateKey),
  'a key id that is SQL': (issuer, claims) => issuer.sign(claims, { kid: "x' UNION SELECT 'key" }, stranger.privateKey),
  'a key id that every object has': (issuer, claims) => issuer.sign(claims, { kid: '__proto__' }, stranger.privateKey),
  'its own key in the header': (issuer, claims) =>
    issuer.sign(claims, { jwk: stranger.publicKey.export({ format: 'jwk' }) }, stranger.privateKey),
  'its own address of keys in the header': (issuer, claims) =>
    issuer.sign(claims, { jku: `${issuer.url}/stolen-jku`, x5u: `${issuer.url}/stolen-x5u` }, stranger.privateKey),
  'a key that the issuer publishes for encryption': (issuer, claims) =>
    issuer.sign(claims, { kid: 'for-encryption' }, stranger.privateKey),
  'changed after it was signed': async (issuer, claims) => {
    const [header, , signature] = (await issuer.sign(claims)).split('.');
    return `${header}.${encoded({ ...claims, sub: 'eve' })}.${signature}`;
  },
  'two signatures for one': async (issuer, claims) =>
    `${await issuer.sign(claims)}.${(await issuer.sign(claims)).split('.')[2]}`,
  'another realm of the same server': (issuer, claims) =>
    issuer.sign({ ...claims, iss: issuer.url.replace('slipway', 'other') }),
  'another issuer': (issuer, claims) => issuer.sign({ ...claims, iss: 'https://login.example/realms/slipway' }),
  'no issuer': (issuer, { iss: _, ...claims }) => issuer.sign(claims),
  'expired longer ago than clocks differ': (issuer, claims) =>
    issuer.sign({ ...claims, exp: Math.floor(Date.now() / 1000) - 400, iat: Math.floor(Date.now() / 1000) - 700 }),
  'without an end': (issuer, { exp: _, ...claims }) => issuer.sign(claims),
  'an end that is no number': (issuer, claims) => issuer.sign({ ...claims, exp: '9999999999' as unknown as number }),
  'no JWT': () => 'slipway',
  'a JWT of three empty parts': () => '..',
};

/** Of tokens that name whom they are for. */
const FOR_OTHERS: Readonly<Record<string, Forge>> = {
  'for another client': (issuer, claims) => issuer.sign({ ...claims, aud: 'other-client', azp: 'other-client' }),
  'for nobody': (issuer, { aud: _, ...claims }) => issuer.sign(claims),
  'for the beginning of our name': (issuer, claims) => issuer.sign({ ...claims, aud: CLIENT_ID.slice(0, -1) }),
};

describe('tokens of the issuer that are not what they should be', () => {
  let scripted: ScriptedIssuer;
  let issuer: OidcIssuer;
  beforeAll(async () => {
    scripted = await ScriptedIssuer.listen();
    scripted.keys.push({
      ...stranger.publicKey.export({ format: 'jwk' }),
      kid: 'for-encryption',
      use: 'enc',
      alg: 'RSA-OAEP',
    });
    scripted.keys.push({ ...curve.publicKey.export({ format: 'jwk' }), kid: 'curve', use: 'sig', alg: 'ES256' });
  });
  afterAll(() => scripted?.close());
  beforeEach(() => {
    issuer = new OidcIssuer({
      issuerUrl: scripted.url,
      clientId: CLIENT_ID,
      clientSecret: 'a secret of the client',
      redirectUri: 'http://127.0.0.1:9/callback',
    });
  });

  async function finish(forge: { id?: Forge; access?: Forge }): Promise<unknown> {
    const { transaction } = await issuer.begin();
    const right: Forge = (from, claims) => from.sign(claims);
    scripted.tokens = {
      id_token: await (forge.id ?? right)(scripted, scripted.claims('ID', transaction.nonce)),
      access_token: await (forge.access ?? right)(scripted, scripted.claims('Bearer')),
    };
    return issuer.finish(new URLSearchParams({ code: 'a-code', state: transaction.state }).toString(), transaction);
  }

  it('are the only ones that are refused', async () => {
    expect(await finish({})).toMatchObject({
      identity: { subject: 'ada', issuerSession: 'session-1', emailVerified: false },
    });
    expect(await issuer.verifyLogoutToken(await scripted.sign(scripted.claims('Logout')))).toMatchObject({
      subject: 'ada',
      issuerSession: 'session-1',
    });
    expect(await issuer.refresh({ idToken: 'before', refreshToken: 'refresh' })).toMatchObject({
      accessToken: scripted.tokens.access_token,
    });
  });

  it('sign no user in as an id token', async () => {
    const more: Readonly<Record<string, Forge>> = {
      ...FOR_OTHERS,
      'an access token in its place': (from) => from.sign(from.claims('Bearer')),
      'for us among others, issued to another': (from, claims) =>
        from.sign({ ...claims, aud: [CLIENT_ID, 'other-client'], azp: 'other-client' }),
      'of another kind, as it says': (from, claims) => from.sign({ ...claims, typ: 'Bearer' }),
      'of a curve, under its own right key': (from, claims) =>
        from.sign(claims, { alg: 'ES256', kid: 'curve' }, curve.privateKey),
    };
    for (const [name, id] of Object.entries({ ...ATTACKS, ...more }))
      expect([name, await finish({ id }).catch((error: unknown) => (error as SlipwayError).code)]).toEqual([
        name,
        'auth.sign-in-failed',
      ]);
  });

  it('sign no user in as Keycloak’s access token', async () => {
    // Opaque to us: a token that is not Keycloak's JWT is sent back to the issuer, and to no other server.
    const opaque = ['no JWT', 'a JWT of three empty parts'];
    const more: Readonly<Record<string, Forge>> = {
      'issued to another client': (from, claims) => from.sign({ ...claims, azp: 'other-client' }),
      'an id token in its place': (from) => from.sign(from.claims('ID')),
    };
    for (const [name, access] of Object.entries({ ...ATTACKS, ...more }))
      if (!opaque.includes(name))
        expect([name, await finish({ access }).catch((error: unknown) => (error as SlipwayError).code)]).toEqual([
          name,
          'auth.sign-in-failed',
        ]);
  });

  it('renew no session, and end none', async () => {
    for (const [name, forge] of Object.entries(ATTACKS)) {
      scripted.tokens = {
        id_token: await forge(scripted, scripted.claims('ID')),
        access_token: await scripted.sign(scripted.claims('Bearer')),
      };
      const answer = await issuer
        .refresh({ idToken: 'before', refreshToken: 'refresh' })
        .catch((error: unknown) => (error as SlipwayError).code);
      expect([name, answer]).toEqual([name, 'auth.unavailable']);
    }
  });

  it('end no session as a logout token', async () => {
    const more: Readonly<Record<string, Forge>> = {
      ...FOR_OTHERS,
      'an id token': (from) => from.sign(from.claims('ID', 'a nonce')),
      'an access token': (from) => from.sign(from.claims('Bearer')),
      'with a nonce': (from, claims) => from.sign({ ...claims, nonce: 'a nonce' }),
      'without the event': (from, { events: _, ...claims }) => from.sign(claims),
      'with another event': (from, claims) =>
        from.sign({ ...claims, events: { 'http://schemas.openid.net/event/other': {} } }),
      'with an event that is no object': (from, claims) =>
        from.sign({ ...claims, events: { 'http://schemas.openid.net/event/backchannel-logout': true } }),
      'of nobody’s session': (from, { sub: _, sid: __, ...claims }) => from.sign(claims),
      'without an id of its own': (from, { jti: _, ...claims }) => from.sign(claims),
      'without its time': async (from, claims) =>
        `${(await from.sign(claims)).split('.')[0]}.${encoded({ ...claims, iat: undefined })}.AA`,
      'of another kind, as its header says': (from, claims) => from.sign(claims, { typ: 'at+jwt' }),
    };
    for (const [name, forge] of Object.entries({ ...ATTACKS, ...more }))
      expect([name, await issuer.verifyLogoutToken(await forge(scripted, scripted.claims('Logout')))]).toEqual([
        name,
        'refused',
      ]);
  });

  it('lead us to no address that they name', () => {
    expect(scripted.requests.filter((request) => request.includes('stolen'))).toEqual([]);
  });
});

describe('the keys of an issuer', () => {
  it('are asked for once a second at most, however many key ids are made up; a key that is new within that second is waited for', async () => {
    const scripted = await ScriptedIssuer.listen();
    afterTest(() => scripted.close());
    let now = 0;
    const waits: Array<() => void> = [];
    const wait = (milliseconds: number): Promise<void> => {
      if (milliseconds === 0) return Promise.resolve();
      return new Promise((resolve) => {
        waits.push(() => {
          now += milliseconds;
          resolve();
        });
      });
    };
    const keys = new IssuerKeys(`${scripted.url}/protocol/openid-connect/certs`, () => now, wait);
    await Promise.all(Array.from({ length: 20 }, (_, count) => keys.withKey(`made-up-${count}`)));
    now = 300;
    const asked = Promise.all(
      Array.from({ length: 20 }, (_, count) => keys.withKey(count === 0 ? 'next' : `again-${count}`)),
    );
    scripted.keys = [
      ...scripted.keys,
      { ...stranger.publicKey.export({ format: 'jwk' }), kid: 'next', use: 'sig', alg: 'RS256' },
    ];
    await keys.withKey(KEY_ID);
    expect([keys.rsaKey('next'), waits.length, scripted.keysAsked]).toEqual([undefined, 1, 1]);
    waits[0]?.();
    await asked;
    expect([
      keys.rsaKey('next') !== undefined,
      keys.rsaKey(KEY_ID) !== undefined,
      now,
      waits.length,
      scripted.keysAsked,
    ]).toEqual([true, true, 1_000, 1, 2]);
  });

  it('that were withdrawn are trusted a minute longer and no more, and while they cannot be had nothing is said to be wrong', async () => {
    const scripted = await ScriptedIssuer.listen();
    let now = 0;
    const keys = new IssuerKeys(`${scripted.url}/protocol/openid-connect/certs`, () => now);
    await keys.withKey(KEY_ID);
    scripted.keys = [];
    now = 59_000;
    await keys.withKey(KEY_ID);
    expect(keys.rsaKey(KEY_ID)).toBeDefined();
    now = 60_001;
    await keys.withKey(KEY_ID);
    expect(keys.rsaKey(KEY_ID)).toBeUndefined();
    console.log('the issuer goes away');
    await scripted.close();
    now = 130_000;
    await expect(keys.withKey(KEY_ID)).rejects.toThrow('fetch failed');
  });
});

describe('our own tokens', () => {
  const SECRET = 'a secret of ours of at least thirty-two characters';
  const cookie = new SessionCookie(SECRET);
  const ingest = new IngestTokens(SECRET);
  const soon = (): number => Math.floor(Date.now() / 1000) + 300;

  /** A token of another kind or another key, or of none, made of right claims. */
  const forged = async (claims: JWTPayload, audience: string): Promise<Record<string, string>> => {
    const all = { ...claims, aud: audience, exp: soon() };
    const sign = (
      payload: JWTPayload,
      alg = 'HS256',
      key: Uint8Array | typeof stranger.privateKey = bytes(SECRET),
    ): Promise<string> => new SignJWT(payload).setProtectedHeader({ alg }).sign(key);
    return {
      'alg none': `${encoded({ alg: 'none' })}.${encoded(all)}.`,
      'another secret': await sign(all, 'HS256', bytes('another secret of at least thirty-two characters')),
      'an empty secret': await sign(all, 'HS256', new Uint8Array(32)),
      'another algorithm with the right secret': await sign(all, 'HS512', bytes(SECRET.padEnd(64, ' '))),
      'a key of a pair': await sign(all, 'RS256', stranger.privateKey),
      'for another use': await sign({ ...all, aud: 'slipway-other' }),
      'for no use': await sign({ ...claims, exp: soon() }),
      expired: await sign({ ...all, exp: soon() - 301 }),
      'without an end': await sign({ ...claims, aud: audience }),
      'changed after it was signed': (await sign(all)).replace(
        /\.[^.]+\./,
        `.${encoded({ ...all, sid: 'ses_other', conversation: 'other' })}.`,
      ),
    };
  };

  it('are no session’s cookie when anything about them is wrong', async () => {
    expect(await cookie.verify(await cookie.sign('ses_1', new Date(soon() * 1000)))).toBe('ses_1');
    for (const [name, token] of Object.entries(await forged({ sid: 'ses_1' }, 'slipway-session')))
      expect([name, await cookie.verify(token)]).toEqual([name, null]);
    expect(
      await cookie.verify(
        await ingest.sign({ org: 'org_1', conversation: '00000000-0000-4000-8000-000000000000', epoch: 1 }, 60),
      ),
    ).toBeNull();
  });

  it('hand in no events when anything about them is wrong', async () => {
    const claims = { org: 'org_1', conversation: '00000000-0000-4000-8000-000000000000', epoch: 1 };
    expect(await ingest.verify(await ingest.sign(claims, 60))).toMatchObject(claims);
    for (const [name, token] of Object.entries(await forged(claims, 'slipway-ingest')))
      expect([name, await ingest.verify(token).catch((error: unknown) => (error as SlipwayError).code)]).toEqual([
        name,
        'auth.missing',
      ]);
    await expect(ingest.verify(await cookie.sign('ses_1', new Date(soon() * 1000)))).rejects.toBeInstanceOf(
      SlipwayError,
    );
  });
});
