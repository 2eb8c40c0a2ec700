import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createPool, type SqlPool } from '@slipway/db/sql';
import { type Clock, createIds } from '@slipway/domain';
import { SlipwayError } from '@slipway/errors';
import { createLogger, runInContext } from '@slipway/telemetry';
import { createTestDatabase, type TestDatabase, until } from '@slipway/testing';
import { type Identity, OidcIssuer, type Tokens } from './oidc-issuer.js';
import { SecretBox } from './secret-box/secret-box.js';
import { SESSION_LIFE_MS, Sessions, slugOf } from './sessions.js';
import { SEEN_EVERY_MS } from './sessions-seen.js';

const IDENTITY: Identity = {
  issuer: 'https://issuer.example',
  subject: 'ada',
  name: 'Ada Byron',
  email: 'ada@example.test',
  emailVerified: true,
  issuerSession: 'sid-1',
  provider: null,
  authenticatedAt: null,
  secondFactor: false,
};
const TOKENS: Tokens = {
  accessToken: 'access-token-1',
  idToken: 'id-token-1',
  refreshToken: 'refresh-token-1',
  accessSeconds: 60,
};

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

async function listen(handle: RequestListener): Promise<Server> {
  const server = createServer(handle);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}

describe('Sessions', () => {
  let database: TestDatabase;
  let pool: SqlPool;
  let owner: SqlPool;
  const box = new SecretBox('an encryption key of thirty-two characters');
  const logger = createLogger('test', 'silent');

  beforeAll(async () => {
    database = await createTestDatabase();
    pool = createPool({ url: database.urls.app, max: 10, applicationName: 'test', onError: () => {} });
    owner = createPool({ url: database.ownerUrl, max: 1, applicationName: 'test', onError: () => {} });
  });
  afterAll(async () => {
    await pool?.end();
    await owner?.end();
    await database?.close();
  });

  function replica(issuer: ScriptedIssuer, clock: Clock): Sessions {
    return new Sessions(pool, box, issuer, clock, createIds(clock), logger);
  }

  it('keeps tokens encrypted in the table', async () => {
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
    const people = await Promise.all(
      Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? one : two).find(sessionId)),
    );
    expect(people.every((user) => user?.name === 'Ada Byron')).toBe(true);
    expect(issuer.calls).toBe(1);
    clock.advance(30_000);
    await one.find(sessionId);
    expect(issuer.calls).toBe(1);
    expect(await two.end(sessionId)).toBe('id-token-2');
  });

  it('fifty callers at each of three replicas with tokens that are due refresh them once, and all go on', async () => {
    const clock = new StoppedClock();
    const issuer = new ScriptedIssuer();
    const replicas = [replica(issuer, clock), replica(issuer, clock), replica(issuer, clock)];
    const { sessionId } = await (replicas[0] as Sessions).start(IDENTITY, TOKENS);
    for (let round = 1; round <= 3; round += 1) {
      clock.advance(61_000);
      const people = await Promise.all(
        Array.from({ length: 150 }, (_, index) => (replicas[index % 3] as Sessions).find(sessionId)),
      );
      expect(people.filter((user) => user === null)).toEqual([]);
      expect(issuer.calls).toBe(round);
    }
  });

  it('no failure of the issuer ends a session, whatever it answers instead of tokens; only its word that the grant is over does', async () => {
    const page = '<!doctype html><title>Bad gateway</title><h1>502</h1>';
    const json = (status: number, body: unknown) => ({ status, type: 'application/json', body: JSON.stringify(body) });
    const answers: ReadonlyArray<
      readonly [string, { status: number; type: string; body: string } | 'hang' | 'reset', boolean]
    > = [
      ['500', json(500, { error: 'server_error' }), true],
      ['503 of a proxy', { status: 503, type: 'text/html', body: page }, true],
      ['502 of a proxy, in JSON', json(502, { message: 'upstream' }), true],
      ['a page with 200', { status: 200, type: 'text/html', body: page }, true],
      ['a page with 400', { status: 400, type: 'text/html', body: page }, true],
      ['nonsense with 200', json(200, { hello: 'world' }), true],
      ['half of an answer', { status: 200, type: 'application/json', body: '{"access_token":"a' }, true],
      ['invalid_client', json(401, { error: 'invalid_client' }), true],
      ['unauthorized_client', json(400, { error: 'unauthorized_client' }), true],
      ['temporarily_unavailable', json(400, { error: 'temporarily_unavailable' }), true],
      ['429', json(429, { error: 'slow_down' }), true],
      ['a connection that breaks', 'reset', true],
      ['no answer at all', 'hang', true],
      ['invalid_grant', json(400, { error: 'invalid_grant' }), false],
    ];
    await Promise.all(
      answers.map(async ([what, answer, stays]) => {
        const server = await listen((request, response) => {
          if (request.url?.includes('openid-configuration') === true) {
            const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}/realms/slipway`;
            const metadata = {
              issuer,
              token_endpoint: `${issuer}/token`,
              authorization_endpoint: `${issuer}/auth`,
              jwks_uri: `${issuer}/keys`,
            };
            return void response.setHeader('content-type', 'application/json').end(JSON.stringify(metadata));
          }
          if (answer === 'reset') return void request.socket.destroy();
          if (answer !== 'hang') response.writeHead(answer.status, { 'content-type': answer.type }).end(answer.body);
        });
        try {
          const issuerUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/realms/slipway`;
          const issuer = new OidcIssuer({
            issuerUrl,
            clientId: 'c',
            clientSecret: 's',
            redirectUri: 'http://127.0.0.1/cb',
          });
          const clock = new StoppedClock();
          const sessions = new Sessions(pool, box, issuer, clock, createIds(clock), logger);
          const { sessionId } = await sessions.start({ ...IDENTITY, subject: what }, TOKENS);
          for (let round = 0; round < (answer === 'hang' ? 1 : 2); round += 1) {
            clock.advance(61_000);
            expect([what, (await sessions.find(sessionId)) !== null]).toEqual([what, stays]);
          }
          // And no other replica holds it for ended.
          expect([what, (await replica(new ScriptedIssuer(), clock).find(sessionId)) !== null]).toEqual([what, stays]);
        } finally {
          server.closeAllConnections();
          server.close();
        }
      }),
    );
  }, 180_000);

  it('begin and end with an entry in the audit of the personal organization each, and a new one takes the place of the one before in one step', async () => {
    const sessions = replica(new ScriptedIssuer(), new StoppedClock());
    const identity = { ...IDENTITY, subject: 'audited', issuerSession: 'sid-audited', provider: 'github' };
    const first = await sessions.start(identity, TOKENS, {
      userAgent: 'Browser/1',
      address: '192.0.2.7',
      replaces: null,
    });
    const second = await sessions.start(identity, TOKENS, {
      userAgent: 'x'.repeat(5_000),
      address: '192.0.2.8',
      replaces: first.sessionId,
    });
    expect(await sessions.find(first.sessionId)).toBeNull();
    expect(
      (await sessions.list(second.userId, 10)).map(({ id, address, userAgent }) => [id, address, userAgent?.length]),
    ).toEqual([[second.sessionId, '192.0.2.8', 400]]);
    await sessions.end(second.sessionId);
    await sessions.end(second.sessionId);
    const third = await sessions.start(identity, TOKENS);
    expect(await sessions.endByIssuer({ issuer: IDENTITY.issuer, subject: 'audited', issuerSession: null })).toBe(1);
    const { rows } = await owner.query(
      `SELECT action, target, actor_kind, actor_label, coalesce(detail->>'reason', detail->>'provider') AS why FROM app.audit_entry
       WHERE org_id = (SELECT org_id FROM app.membership WHERE user_id = $1) AND action LIKE 'session.%' ORDER BY (SELECT seq FROM app.audit_chain c WHERE c.entry_id = audit_entry.id)`,
      [second.userId],
    );
    expect(
      rows.map(({ action, target, actor_kind, actor_label, why }) => [action, target, actor_kind, actor_label, why]),
    ).toEqual([
      ['session.start', first.sessionId, 'user', 'Ada Byron', 'github'],
      ['session.start', second.sessionId, 'user', 'Ada Byron', 'github'],
      ['session.end', first.sessionId, 'user', 'Ada Byron', 'replaced'],
      ['session.end', second.sessionId, 'user', 'Ada Byron', 'signed-out'],
      ['session.start', third.sessionId, 'user', 'Ada Byron', 'github'],
      ['session.end', third.sessionId, 'system', 'Sign-in', 'ended-by-issuer'],
    ]);
  });

  it('the issuer ends by its own session that one alone, by the user all of theirs, and no others', async () => {
    const sessions = replica(new ScriptedIssuer(), new StoppedClock());
    const sign = (subject: string, issuerSession: string, issuer = IDENTITY.issuer) =>
      sessions.start({ ...IDENTITY, issuer, subject, issuerSession }, TOKENS);
    const [a1, a2, b1, other] = [
      await sign('sid-a', 's1'),
      await sign('sid-a', 's2'),
      await sign('sid-b', 's3'),
      await sign('sid-a', 's1', 'https://other.example'),
    ];
    const alive = async (): Promise<boolean[]> =>
      Promise.all([a1, a2, b1, other].map(async ({ sessionId }) => (await sessions.find(sessionId)) !== null));
    const issuer = IDENTITY.issuer;
    for (const nobody of [
      { issuer, subject: null, issuerSession: 'unknown' },
      { issuer, subject: 'sid-b', issuerSession: 's1' },
      { issuer: 'https://third.example', subject: 'sid-a', issuerSession: null },
      { issuer, subject: null, issuerSession: null },
    ])
      expect(await sessions.endByIssuer(nobody)).toBe(0);
    expect(await alive()).toEqual([true, true, true, true]);
    expect(await sessions.endByIssuer({ issuer, subject: null, issuerSession: 's1' })).toBe(1);
    expect(await sessions.endByIssuer({ issuer, subject: null, issuerSession: 's1' })).toBe(0);
    expect(await alive()).toEqual([false, true, true, true]);
    expect(await sessions.endByIssuer({ issuer, subject: 'sid-a', issuerSession: null })).toBe(1);
    expect(await alive()).toEqual([false, false, true, true]);
  });

  it('one who is deactivated is out within a second everywhere, and cannot sign in again', async () => {
    const clock = new StoppedClock();
    const [here, elsewhere] = [replica(new ScriptedIssuer(), clock), replica(new ScriptedIssuer(), clock)];
    const identity = { ...IDENTITY, subject: 'deactivated' };
    const { sessionId, userId } = await here.start(identity, TOKENS);
    await Promise.all([here.find(sessionId), elsewhere.find(sessionId)]);
    await pool.query('UPDATE app.user_account SET deactivated_at = now() WHERE id = $1', [userId]);
    clock.advance(1_001);
    expect([await here.find(sessionId), await elsewhere.find(sessionId)]).toEqual([null, null]);
    await expect(here.start(identity, TOKENS)).rejects.toMatchObject({ code: 'account.deactivated' });
    await pool.query('UPDATE app.user_account SET deactivated_at = NULL WHERE id = $1', [userId]);
    expect(await here.find(sessionId)).not.toBeNull();
  });

  it('when it was last used is written once a minute by all replicas together, and never waited for', async () => {
    const clock = new StoppedClock();
    const [one, two] = [replica(new ScriptedIssuer(), clock), replica(new ScriptedIssuer(), clock)];
    const { sessionId, userId } = await one.start(
      { ...IDENTITY, subject: 'seen' },
      { ...TOKENS, accessSeconds: 86_400 },
      { userAgent: null, address: '192.0.2.1', replaces: null },
    );
    const written = async (): Promise<string> =>
      (
        (await owner.query('SELECT xmin::text AS version FROM app.session WHERE id = $1', [sessionId])).rows[0] as {
          version: string;
        }
      ).version;
    const use = async (address: string): Promise<void> => {
      for (const sessions of [one, two, one])
        await runInContext({ traceId: '0'.repeat(32), address }, () => sessions.find(sessionId));
    };
    const first = await written();
    await use('192.0.2.2');
    clock.advance(SEEN_EVERY_MS + 1_000);
    const at = clock.now();
    await use('192.0.2.3');
    await until('it is written', async () => (await written()) !== first);
    const second = await written();
    await Promise.all([one.close(), two.close()]);
    expect(await written()).toBe(second);
    expect((await one.list(userId, 1)).map(({ address, lastSeenAt }) => [address, lastSeenAt])).toEqual([
      ['192.0.2.3', at],
    ]);
  });

  it('an issuer that does not answer signs no user out, is not asked by every request, and is asked again later', async () => {
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
    expect(await Promise.all(Array.from({ length: 5 }, () => sessions.find(sessionId)))).toEqual([
      null,
      null,
      null,
      null,
      null,
    ]);
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

  it('without a refresh token, or with an encryption key that has changed, a session lasts to its own end and no longer', async () => {
    const clock = new StoppedClock();
    const issuer = new ScriptedIssuer();
    const { sessionId } = await replica(issuer, clock).start(IDENTITY, { ...TOKENS, refreshToken: null });
    const other = await replica(issuer, clock).start(IDENTITY, TOKENS);
    const rekeyed = new Sessions(
      pool,
      new SecretBox('another encryption key of 32 characters!'),
      issuer,
      clock,
      createIds(clock),
      logger,
    );
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

  it('forgets nothing of a user between sign-ins, and takes over a new name', async () => {
    const sessions = replica(new ScriptedIssuer(), new StoppedClock());
    const first = await sessions.start(IDENTITY, TOKENS);
    const second = await sessions.start({ ...IDENTITY, name: 'Ada Lovelace' }, TOKENS);
    expect(second.userId).toBe(first.userId);
    const user = await sessions.find(second.sessionId);
    expect(user).toMatchObject({
      name: 'Ada Lovelace',
      orgs: [{ slug: 'ada-byron', kind: 'personal', role: 'owner' }],
    });
    expect(user?.orgs[0]?.permissions).toContain('conversation:create');
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
