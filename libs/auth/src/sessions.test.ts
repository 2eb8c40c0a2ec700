import { after, before, describe, it } from 'node:test';
import { createPool, type SqlPool } from '@slipway/db/sql';
import { type Clock, createIds } from '@slipway/domain';
import { SlipwayError } from '@slipway/errors';
import { createLogger } from '@slipway/telemetry';
import { createTestDatabase, type TestDatabase, until } from '@slipway/testing';
import { expect } from 'expect';
import type { Identity, Tokens } from './oidc-issuer.js';
import { SecretBox } from './secret-box/secret-box.js';
import { SESSION_LIFE_MS, Sessions, slugOf } from './sessions.js';

const IDENTITY: Identity = {
  issuer: 'https://issuer.example',
  subject: 'ada',
  name: 'Ada Byron',
  email: 'ada@example.test',
  emailVerified: true,
  issuerSession: 'sid-1',
  provider: null,
};
const TOKENS: Tokens = { accessToken: 'access-token-1', idToken: 'id-token-1', refreshToken: 'refresh-token-1', accessSeconds: 60 };

/** Time that stands still until it is moved. */
class StoppedClock implements Clock {
  private at = Date.now();
  now(): Date {
    return new Date(this.at);
  }
  advance(milliseconds: number): void {
    this.at += milliseconds;
  }
}

/** An issuer's token endpoint, answering as a test says. */
class ScriptedIssuer {
  calls = 0;
  answer: () => Promise<Tokens | 'refused'> = async () => ({
    accessToken: `access-token-${this.calls + 1}`,
    idToken: `id-token-${this.calls + 1}`,
    refreshToken: `refresh-token-${this.calls + 1}`,
    accessSeconds: 60,
  });
  refresh = async (): Promise<Tokens | 'refused'> => {
    this.calls += 1;
    await new Promise((resolve) => setImmediate(resolve));
    return this.answer();
  };
}

describe('Sessions', () => {
  let database: TestDatabase;
  let pool: SqlPool;
  const box = new SecretBox('an encryption key of thirty-two characters');
  const logger = createLogger('test', 'silent');

  before(async () => {
    database = await createTestDatabase();
    pool = createPool({ url: database.urls.app, max: 10, applicationName: 'test', onError: () => {} });
  });
  after(async () => {
    await pool?.end();
    await database?.close();
  });

  function replica(issuer: ScriptedIssuer, clock: Clock): Sessions {
    return new Sessions(pool, box, issuer, clock, createIds(clock), logger);
  }

  it('keeps tokens where nobody who reads the table can read them', async () => {
    const sessions = replica(new ScriptedIssuer(), new StoppedClock());
    const { sessionId } = await sessions.start(IDENTITY, TOKENS);
    const { rows } = await pool.query<{ tokens: Buffer }>('SELECT tokens FROM app.session WHERE id = $1', [sessionId]);
    expect(rows[0]?.tokens.toString('latin1')).not.toContain('token-1');
    expect(await sessions.end(sessionId)).toBe('id-token-1');
  });

  it('twenty requests on two replicas with tokens that are due refresh them once', async () => {
    const clock = new StoppedClock();
    const issuer = new ScriptedIssuer();
    const [one, two] = [replica(issuer, clock), replica(issuer, clock)];
    const { sessionId } = await one.start(IDENTITY, TOKENS);
    await Promise.all([one.find(sessionId), two.find(sessionId)]);
    clock.advance(61_000);
    const people = await Promise.all(Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? one : two).find(sessionId)));
    expect(people.every((person) => person?.name === 'Ada Byron')).toBe(true);
    expect(issuer.calls).toBe(1);
    clock.advance(30_000);
    await one.find(sessionId);
    expect(issuer.calls).toBe(1);
    expect(await two.end(sessionId)).toBe('id-token-2');
  });

  it('an issuer that does not answer signs nobody out, is not asked by every request, and is asked again later', async () => {
    const clock = new StoppedClock();
    const issuer = new ScriptedIssuer();
    const sessions = replica(issuer, clock);
    const { sessionId } = await sessions.start(IDENTITY, TOKENS);
    const works = issuer.answer;
    issuer.answer = async () => {
      throw new SlipwayError('auth.unavailable', 'down');
    };
    clock.advance(61_000);
    for (let request = 0; request < 5; request += 1) expect(await sessions.find(sessionId)).not.toBeNull();
    expect(issuer.calls).toBe(1);
    clock.advance(16_000);
    expect(await sessions.find(sessionId)).not.toBeNull();
    expect(issuer.calls).toBe(2);
    issuer.answer = works;
    clock.advance(16_000);
    expect(await sessions.find(sessionId)).not.toBeNull();
    expect(issuer.calls).toBe(3);
    clock.advance(20_000);
    await sessions.find(sessionId);
    expect(issuer.calls).toBe(3);
  });

  it('a replica that dies while it refreshes leaves the session whole, and another refreshes', async () => {
    const clock = new StoppedClock();
    const dying = new ScriptedIssuer();
    dying.answer = () => new Promise(() => {});
    const { sessionId } = await replica(dying, clock).start(IDENTITY, TOKENS);
    clock.advance(61_000);
    void replica(dying, clock).find(sessionId);
    await until('the refresh that never ends has begun', () => dying.calls === 1);
    const issuer = new ScriptedIssuer();
    const survivor = replica(issuer, clock);
    expect(await survivor.find(sessionId)).not.toBeNull();
    expect(issuer.calls).toBe(0);
    clock.advance(16_000);
    expect(await survivor.find(sessionId)).not.toBeNull();
    expect(issuer.calls).toBe(1);
  });

  it('a sign-in that the issuer has ended is over for every request that waited', async () => {
    const clock = new StoppedClock();
    const issuer = new ScriptedIssuer();
    issuer.answer = async () => 'refused';
    const sessions = replica(issuer, clock);
    const { sessionId } = await sessions.start(IDENTITY, TOKENS);
    clock.advance(61_000);
    expect(await Promise.all(Array.from({ length: 5 }, () => sessions.find(sessionId)))).toEqual([null, null, null, null, null]);
    expect(issuer.calls).toBe(1);
    expect(await sessions.find(sessionId)).toBeNull();
  });

  it('a sign-out while a refresh runs stays a sign-out', async () => {
    const clock = new StoppedClock();
    const issuer = new ScriptedIssuer();
    const gate = Promise.withResolvers<void>();
    issuer.answer = async () => {
      await gate.promise;
      return TOKENS;
    };
    const sessions = replica(issuer, clock);
    const { sessionId } = await sessions.start(IDENTITY, TOKENS);
    clock.advance(61_000);
    const waiting = sessions.find(sessionId);
    await until('the refresh has begun', () => issuer.calls === 1);
    await sessions.end(sessionId);
    gate.resolve();
    await waiting;
    expect(await sessions.find(sessionId)).toBeNull();
  });

  it('without a refresh token, or with an encryption key that has changed, a session lives to its own end and no longer', async () => {
    const clock = new StoppedClock();
    const issuer = new ScriptedIssuer();
    const { sessionId } = await replica(issuer, clock).start(IDENTITY, { ...TOKENS, refreshToken: null });
    const other = await replica(issuer, clock).start(IDENTITY, TOKENS);
    const rekeyed = new Sessions(pool, new SecretBox('another encryption key of 32 characters!'), issuer, clock, createIds(clock), logger);
    clock.advance(61_000);
    expect(await rekeyed.find(sessionId)).not.toBeNull();
    expect(await rekeyed.find(other.sessionId)).not.toBeNull();
    expect(issuer.calls).toBe(0);
    clock.advance(SESSION_LIFE_MS);
    expect(await rekeyed.find(sessionId)).toBeNull();
  });

  it('an ended session is over at once here and within a second elsewhere', async () => {
    const clock = new StoppedClock();
    const issuer = new ScriptedIssuer();
    const [here, elsewhere] = [replica(issuer, clock), replica(issuer, clock)];
    const { sessionId } = await here.start(IDENTITY, TOKENS);
    await Promise.all([here.find(sessionId), elsewhere.find(sessionId)]);
    await here.end(sessionId);
    expect(await here.find(sessionId)).toBeNull();
    clock.advance(1_001);
    expect(await elsewhere.find(sessionId)).toBeNull();
  });

  it('forgets nothing of a person between sign-ins, and takes over a new name', async () => {
    const sessions = replica(new ScriptedIssuer(), new StoppedClock());
    const first = await sessions.start(IDENTITY, TOKENS);
    const second = await sessions.start({ ...IDENTITY, name: 'Ada Lovelace' }, TOKENS);
    expect(second.userId).toBe(first.userId);
    const person = await sessions.find(second.sessionId);
    expect(person).toMatchObject({ name: 'Ada Lovelace', orgs: [{ slug: 'ada-byron', kind: 'personal', role: 'owner' }] });
    expect(person?.orgs[0]?.permissions).toContain('conversation:create');
    const stranger = await sessions.start({ ...IDENTITY, issuer: 'https://other.example' }, TOKENS);
    expect(stranger.userId).not.toBe(first.userId);
  });
});

describe('slugOf', () => {
  it('makes an address of any name', () => {
    expect(['Ada Byron', '  Zoë   O’Neil ', '李明', '---', 'a'.repeat(60), `${'a'.repeat(39)} b`].map(slugOf)).toEqual([
      'ada-byron',
      'zoe-o-neil',
      'personal',
      'personal',
      'a'.repeat(40),
      'a'.repeat(39),
    ]);
  });

  it('never makes an address that the product needs for itself', () => {
    expect(['Login', 'API', ' metrics '].map(slugOf)).toEqual(['login-org', 'api-org', 'metrics-org']);
  });
});
