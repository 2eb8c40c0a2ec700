import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { SessionCookie, Sessions } from '@slipway/auth';
import type { MySessionList } from '@slipway/contracts/identity';
import { SigningIssuer, stopwatch, until } from '@slipway/testing';
import { io, type Socket } from 'socket.io-client';
import { ConversationApp, type User } from '../../testing/conversation-app.js';
import type { TestApp } from '../../testing/test-app.js';

/**
 * Within this what has ended is dead everywhere. Milliseconds; what is promised is two seconds, and one is for a busy
 * machine.
 */
const DEAD_MS = 3_000;
const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';

jest.setTimeout(300_000);

describe('my sessions', () => {
  let app: ConversationApp;
  let issuer: SigningIssuer;

  beforeAll(async () => {
    issuer = await SigningIssuer.start();
    app = await ConversationApp.start({
      replicas: 2,
      env: { OIDC_ISSUER_URL: issuer.issuerUrl, OIDC_CLIENT_ID: issuer.clientId },
    });
  });
  afterAll(async () => {
    await app?.close();
    await issuer?.close();
  });

  /** Another browser of the user `subject`. */
  async function browser(
    subject: string,
    from = { userAgent: FIREFOX as string | null, address: '192.0.2.1' as string | null, replaces: null },
  ): Promise<User> {
    const { app: nest } = app.replicas[0] as TestApp;
    const identity = {
      issuer: issuer.issuerUrl,
      subject,
      name: subject,
      email: null,
      emailVerified: false,
      issuerSession: `sid-${subject}`,
      provider: null,
      authenticatedAt: null,
      secondFactor: false,
    };
    const tokens = { accessToken: 'none', idToken: 'none', refreshToken: null, accessSeconds: 86_400 };
    const { sessionId, userId, expiresAt } = await nest.get(Sessions).start(identity, tokens, from);
    const cookie = `keycloak_auth=${await nest.get(SessionCookie).sign(sessionId, expiresAt)}`;
    const { rows } = await app.owner.query<{ org_id: string }>('SELECT org_id FROM app.membership WHERE user_id = $1', [
      userId,
    ]);
    return { cookie, sessionId, userId, orgId: rows[0]?.org_id ?? '' };
  }
  const isIn = async (user: User): Promise<boolean> => (await app.http(user, 'GET', '/api/v1/me')).status === 200;

  it('are listed with device, address and when they were used, the one that asks marked, and no others', async () => {
    const [mine, phone] = [
      await browser('ada'),
      await browser('ada', { userAgent: null, address: null, replaces: null }),
    ];
    await browser('bob');
    const { body } = await app.http<MySessionList>(mine, 'GET', '/api/v1/me/sessions');
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/);
    const times = { createdAt: time, lastSeenAt: time, expiresAt: time };
    expect(body.data).toHaveLength(2);
    expect(body.data).toEqual(
      expect.arrayContaining([
        { id: mine.sessionId, current: true, device: 'Firefox on Linux', address: '192.0.2.1', ...times },
        { id: phone.sessionId, current: false, device: 'Unknown device', address: null, ...times },
      ]),
    );
  });

  it('end one by one and all but this one; the session of another user is as one that does not exist', async () => {
    const [mine, second, third, other] = [
      await browser('cem'),
      await browser('cem'),
      await browser('cem'),
      await browser('dov'),
    ];
    const end = (id: string) => app.http<{ requestId?: string }>(mine, 'DELETE', `/api/v1/me/sessions/${id}`);
    const [foreign, missing] = [await end(other.sessionId), await end('ses_doesnotexist')];
    expect(foreign.status).toBe(404);
    expect({ ...foreign.body, requestId: '' }).toEqual({ ...missing.body, requestId: '' });
    expect((await end(second.sessionId)).status).toBe(204);
    expect((await end(second.sessionId)).status).toBe(404);
    expect(await Promise.all([mine, second, third, other].map(isIn))).toEqual([true, false, true, true]);
    expect((await app.http(mine, 'POST', '/api/v1/me/sessions/end-all', {})).body).toEqual({ ended: 1 });
    expect(await Promise.all([mine, third, other].map(isIn))).toEqual([true, false, true]);
    const last = await end(mine.sessionId);
    expect([last.status, last.headers.getSetCookie()[0]]).toEqual([
      204,
      expect.stringMatching(/^keycloak_auth=; Max-Age=0;/),
    ]);
    expect(await isIn(mine)).toBe(false);
  });

  /**
   * Open readers of a user on both replicas: a socket that reads, one that does not, a stream, and a way into the
   * sandbox.
   */
  async function everythingOpen(user: User): Promise<{ sockets: Socket[]; streams: Promise<unknown>; grant: string }> {
    const { id } = await app.conversation(user);
    const sockets: Socket[] = [];
    const streams: Array<Promise<unknown>> = [];
    for (const replica of app.replicas) {
      const open = (): Socket => {
        const socket = io(replica.url, {
          transports: ['websocket'],
          reconnection: false,
          forceNew: true,
          extraHeaders: { cookie: user.cookie, origin: replica.url },
        });
        sockets.push(socket);
        return socket;
      };
      expect(
        await open().timeout(10_000).emitWithAck('subscribe', { orgId: user.orgId, conversationId: id, afterSeq: 0 }),
      ).toMatchObject({ ok: true });
      const idle = open();
      await until('the idle one is there', () => idle.connected);
      const stream = await fetch(`${replica.url}${app.path(user, id, '/events')}`, {
        headers: { cookie: user.cookie, accept: 'text/event-stream' },
      });
      expect(stream.status).toBe(200);
      streams.push(stream.text());
    }
    const grant = `acc_${randomUUID()}`;
    await app.owner.query(
      `INSERT INTO app.sandbox_grant (id, org_id, user_id, session_id, conversation_id, port, ticket_hash, ticket_expires_at, expires_at)
       VALUES ($1, $2, $3, $4, $5, 8000, $6, now() + interval '1 minute', now() + interval '1 hour')`,
      [grant, user.orgId, user.userId, user.sessionId, id, createHash('sha256').update(grant).digest()],
    );
    expect(await grantHolds(grant)).toBe(true);
    return { sockets, streams: Promise.all(streams), grant };
  }
  const grantHolds = async (grant: string): Promise<boolean> =>
    (await app.pool.query('SELECT id FROM app.live_sandbox_grants($1)', [[grant]])).rowCount === 1;

  const logout = (claims: Readonly<Record<string, unknown>>) => async (): Promise<void> => {
    const response = await fetch(`${app.url}/oauth/backchannel-logout`, {
      method: 'POST',
      body: new URLSearchParams({ logout_token: issuer.logoutToken(claims) }),
    });
    expect(response.status).toBe(200);
  };
  const WAYS: ReadonlyArray<readonly [string, (user: User, other: User) => Promise<unknown>]> = [
    ['by signing out', (user) => app.http(user, 'POST', '/api/logout')],
    ['one by one', (user, other) => app.http(other, 'DELETE', `/api/v1/me/sessions/${user.sessionId}`)],
    ['all the others', (_, other) => app.http(other, 'POST', '/api/v1/me/sessions/end-all', {})],
    ['every one', (_, other) => app.http(other, 'POST', '/api/v1/me/sessions/end-all', { which: 'all' })],
    ['by the issuer, the one session', () => logout({ sid: 'sid-by the issuer, the one session' })()],
    ['by the issuer, the person', () => logout({ sub: 'by the issuer, the person' })()],
    [
      'by deactivation',
      (user) => app.owner.query('UPDATE app.user_account SET deactivated_at = now() WHERE id = $1', [user.userId]),
    ],
  ];

  for (const [way, end] of WAYS)
    it(`ended ${way} are dead within two seconds on every replica: requests, sockets, streams and sandboxes`, async () => {
      const [user, other] = [await browser(way), await browser(way)];
      const { sockets, streams, grant } = await everythingOpen(user);
      try {
        await end(user, other);
        const passed = stopwatch();
        await Promise.all([
          until('every socket is closed', () => sockets.every((socket) => !socket.connected), DEAD_MS),
          streams,
          ...app.replicas.map(({ url }) =>
            until(
              'a request is refused',
              async () => (await fetch(`${url}/api/v1/me`, { headers: { cookie: user.cookie } })).status === 401,
              DEAD_MS,
            ),
          ),
          until('the sandbox is closed', async () => !(await grantHolds(grant)), DEAD_MS),
        ]);
        const took = passed();
        console.log(`dead everywhere after ${Math.round(took)} ms`);
        expect(took).toBeLessThan(DEAD_MS);
        for (const { url } of app.replicas) {
          const late = io(url, {
            transports: ['websocket'],
            reconnection: false,
            forceNew: true,
            extraHeaders: { cookie: user.cookie, origin: url },
          });
          sockets.push(late);
          await new Promise((resolve) => late.once('connect_error', resolve));
        }
      } finally {
        for (const socket of sockets) socket.close();
      }
    });
});
