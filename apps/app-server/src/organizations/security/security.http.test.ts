import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { Problem } from '@slipway/contracts/errors';
import type { EndedSessions } from '@slipway/contracts/identity';
import type { Me, MemberSessionPage, SecurityRules } from '@slipway/contracts/organizations';
import { stopwatch, until } from '@slipway/testing';
import { io } from 'socket.io-client';
import { Company } from '../../testing/company.js';
import { ConversationApp, type User } from '../../testing/conversation-app.js';

type Answer<T> = T & Problem;

/** Within this every replica knows. Milliseconds; what is promised is two seconds, and two are for a busy machine. */
const DEAD_MS = 4_000;

let app: ConversationApp;
let company: Company;
let admin: User;
let member: User;
beforeAll(async () => {
  app = await ConversationApp.start({ replicas: 2 });
});
afterAll(() => app?.close());
beforeEach(async () => {
  company = await Company.open(app, 'Careful');
  admin = await company.member('admin', 'Grace');
  member = await company.member('member', 'Alan');
});

const rules = (user: User, body: object, headers = {}) =>
  app.http<Answer<SecurityRules>>(user, 'PATCH', company.path('/security'), body, headers);
const sessions = (user: User, query = '') =>
  app.http<Answer<MemberSessionPage>>(user, 'GET', company.path(`/sessions${query}`));
const proved = (user: User, factor = true) =>
  app.owner.query('UPDATE app.session SET second_factor = $2 WHERE id = $1', [user.sessionId, factor]);
/** What the second replica answers, which has changed nothing itself. */
const elsewhere = async (user: User, path: string): Promise<{ status: number; code: string }> => {
  const response = await fetch(`${app.replicas[1]?.url}${path}`, { headers: { cookie: user.cookie } });
  return { status: response.status, code: ((await response.json()) as Problem).code };
};
const connect = (user: User): Promise<{ ended: Promise<string> }> =>
  new Promise((resolve, reject) => {
    const socket = io(app.url, {
      transports: ['websocket'],
      reconnection: false,
      forceNew: true,
      extraHeaders: { cookie: user.cookie, origin: app.url },
    });
    socket.once('connect_error', reject);
    socket.once('connect', () => resolve({ ended: new Promise((end) => socket.once('disconnect', end)) }));
  });

describe('rules of an organization for sign-ins', () => {
  it('are off at first, change in part, are versioned, and the change is in the audit', async () => {
    const read = await app.http<SecurityRules>(admin, 'GET', company.path('/security'));
    expect([read.status, read.headers.get('etag'), read.body]).toEqual([
      200,
      '"1"',
      { sessionMaxMinutes: null, sessionIdleMinutes: null, secondFactor: false, version: 1 },
    ]);
    const first = await rules(admin, { sessionMaxMinutes: 720 }, { 'if-match': '"1"' });
    expect([first.status, first.body]).toEqual([
      200,
      { sessionMaxMinutes: 720, sessionIdleMinutes: null, secondFactor: false, version: 2 },
    ]);
    expect((await rules(admin, { sessionIdleMinutes: 30 }, { 'if-match': '"1"' })).body.code).toBe('settings.changed');
    expect((await rules(admin, { sessionMaxMinutes: 720 })).body.version).toBe(2);
    for (const body of [
      { sessionMaxMinutes: 59 },
      { sessionIdleMinutes: 14 },
      { sessionMaxMinutes: 43_201 },
      { other: 1 },
      { secondFactor: 'yes' },
    ])
      expect([body, (await rules(admin, body)).body.code]).toEqual([body, 'request.invalid']);
    expect((await rules(member, { sessionMaxMinutes: null })).body.code).toBe('permission.denied');
    expect((await sessions(member)).body.code).toBe('permission.denied');
    expect((await company.audit()).filter(({ action }) => action === 'security.update')).toMatchObject([
      { actor_id: admin.userId, before: { sessionMaxMinutes: null }, after: { sessionMaxMinutes: 720 } },
    ]);
  });

  it('a sign-in that is too old is refused by this organization within two seconds, and by no other', async () => {
    await app.owner.query("UPDATE app.session SET authenticated_at = now() - interval '61 minutes' WHERE id = $1", [
      member.sessionId,
    ]);
    expect((await elsewhere(member, company.path())).status).toBe(200);
    expect((await rules(admin, { sessionMaxMinutes: 60 })).status).toBe(200);
    await until(
      'the other replica refuses it',
      async () => (await elsewhere(member, company.path())).code === 'org.sign-in-again',
      DEAD_MS,
    );
    expect((await elsewhere(member, company.path('/conversations'))).status).toBe(403);
    expect((await elsewhere(member, `/api/v1/orgs/${member.orgId}`)).status).toBe(200);
    const { body } = await app.http<Me>(member, 'GET', '/api/v1/me');
    expect(body.orgs.map(({ id, needs }) => [id, needs])).toEqual([
      [member.orgId, null],
      [company.org.id, 'sign-in'],
    ]);
    expect((await sessions(admin, `?user=${member.userId}`)).body.data).toMatchObject([
      { id: member.sessionId, refused: true },
    ]);
    // Signed in again.
    await app.owner.query('UPDATE app.session SET authenticated_at = now() WHERE id = $1', [member.sessionId]);
    await until('it is taken again', async () => (await elsewhere(member, company.path())).status === 200, DEAD_MS);
  });

  it('a session that was unused for too long stays refused after its next use', async () => {
    await rules(admin, { sessionIdleMinutes: 15 });
    await app.owner.query(
      "UPDATE app.session SET created_at = now() - interval '1 hour', last_seen_at = now() - interval '15 minutes' WHERE id = $1",
      [member.sessionId],
    );
    // A minute is forgiven: a use is written that often.
    expect((await elsewhere(member, company.path())).status).toBe(200);
    await app.owner.query("UPDATE app.session SET last_seen_at = now() - interval '17 minutes' WHERE id = $1", [
      member.sessionId,
    ]);
    await until(
      'it is refused',
      async () => (await elsewhere(member, company.path())).code === 'org.sign-in-again',
      DEAD_MS,
    );
    await app.http(member, 'GET', '/api/v1/me');
    await until('the use is written', async () => {
      const { rows } = await app.owner.query<{ seen: boolean }>(
        "SELECT last_seen_at > now() - interval '1 minute' AS seen FROM app.session WHERE id = $1",
        [member.sessionId],
      );
      return rows[0]?.seen === true;
    });
    const fresh = Date.now() + 1_200;
    await until('what was remembered is over', () => Date.now() > fresh);
    expect((await elsewhere(member, company.path())).code).toBe('org.sign-in-again');
  });

  it('a second factor can only be asked for by who signed in with one; then all others have to, their sockets are cut, and keys go on', async () => {
    expect((await rules(admin, { secondFactor: true })).body.code).toBe('security.second-factor-first');
    await proved(admin);
    const created = await app.http<{ token: string }>(member, 'POST', company.path('/api-keys'), {
      name: 'ci',
      scopes: ['org:read', 'conversation:read'],
    });
    const opened = await app.http<{ id: string }>(member, 'POST', company.path('/conversations'), { prompt: 'x' });
    const socket = io(app.url, {
      transports: ['websocket'],
      reconnection: false,
      forceNew: true,
      extraHeaders: { cookie: member.cookie, origin: app.url },
    });
    try {
      await new Promise((resolve, reject) => socket.once('connect', () => resolve(null)).once('connect_error', reject));
      const answer = await socket
        .timeout(20_000)
        .emitWithAck('subscribe', { orgId: company.org.id, conversationId: opened.body.id, afterSeq: 0 });
      expect(answer).toMatchObject({ ok: true });
      expect((await rules(admin, { secondFactor: true })).body.secondFactor).toBe(true);
      await until(
        'the other replica asks for it',
        async () => (await elsewhere(member, company.path())).code === 'org.second-factor-needed',
        DEAD_MS,
      );
      await until('the socket is cut', () => !socket.connected, DEAD_MS);
    } finally {
      socket.close();
    }
    expect((await app.http(admin, 'GET', company.path())).status).toBe(200);
    const byKey = await app.http(null, 'GET', company.path(), undefined, {
      authorization: `Bearer ${created.body.token}`,
    });
    expect(byKey.status).toBe(200);
    await proved(member);
    await until('with one they are in', async () => (await elsewhere(member, company.path())).status === 200, DEAD_MS);
  });
});

describe('sessions of members', () => {
  it('are listed with user, device and place, and no others; page by page', async () => {
    const stranger = await app.user('Stranger');
    await app.owner.query(
      "UPDATE app.session SET user_agent = 'Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0', address = '203.0.113.9' WHERE id = $1",
      [member.sessionId],
    );
    const { body } = await sessions(admin);
    expect(body.data.map(({ userId }) => userId).sort()).toEqual(
      [company.owner.userId, admin.userId, member.userId].sort(),
    );
    expect(body.data.find(({ current }) => current)?.id).toBe(admin.sessionId);
    expect(body.data.find(({ userId }) => userId === member.userId)).toMatchObject({
      userName: 'Alan',
      role: 'member',
      device: 'Firefox on Linux',
      address: '203.0.113.9',
      secondFactor: false,
      refused: false,
    });
    expect(JSON.stringify(body)).not.toContain(stranger.sessionId);
    const pages: string[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: Awaited<ReturnType<typeof sessions>> = await sessions(
        admin,
        `?limit=1${cursor === '' ? '' : `&cursor=${cursor}`}`,
      );
      pages.push(...page.body.data.map(({ id }) => id));
      cursor = page.body.page.nextCursor;
    }
    expect(pages).toEqual(body.data.map(({ id }) => id));
    expect((await sessions(admin, '?cursor=nonsense')).body.code).toBe('request.invalid');
  });

  it('one, or all of a user, end everywhere within two seconds, on sockets too; it is in both audits', async () => {
    const { ended } = await connect(member);
    const passed = stopwatch();
    expect((await app.http(admin, 'DELETE', company.path(`/sessions/${member.sessionId}`))).status).toBe(204);
    expect((await app.http(member, 'GET', '/api/v1/me')).status).toBe(401);
    await until('the other replica knows', async () => (await elsewhere(member, '/api/v1/me')).status === 401, DEAD_MS);
    await ended;
    expect(passed()).toBeLessThan(DEAD_MS);
    expect((await app.http<Problem>(admin, 'DELETE', company.path(`/sessions/${member.sessionId}`))).body.code).toBe(
      'resource.not-found',
    );
    const again = await app.http<EndedSessions>(admin, 'POST', company.path(`/members/${member.userId}/end-sessions`));
    expect([again.status, again.body]).toEqual([200, { ended: 0 }]);
    const all = await app.http<EndedSessions>(
      company.owner,
      'POST',
      company.path(`/members/${admin.userId}/end-sessions`),
    );
    expect(all.body).toEqual({ ended: 1 });
    expect((await app.http(admin, 'GET', '/api/v1/me')).status).toBe(401);
    expect((await company.audit()).filter(({ action }) => action === 'member.end-sessions')).toMatchObject([
      { actor_id: admin.userId, target: member.sessionId },
      { actor_id: company.owner.userId, target: admin.userId },
    ]);
    const { rows } = await app.owner.query<{ detail: unknown }>(
      "SELECT detail FROM app.audit_entry WHERE org_id = $1 AND action = 'session.end'",
      [member.orgId],
    );
    expect(rows).toEqual([{ detail: { reason: 'ended-by-admin' } }]);
  });

  it('an owner’s are for owners to end; those of who is no member do not exist', async () => {
    const refused = await app.http<Problem>(admin, 'DELETE', company.path(`/sessions/${company.owner.sessionId}`));
    expect(refused.body.code).toBe('permission.denied');
    const stranger = await app.user('Stranger');
    for (const [method, rest] of [
      ['DELETE', `/sessions/${stranger.sessionId}`],
      ['DELETE', '/sessions/ses_none'],
      ['DELETE', '/sessions/..%2f'],
      ['POST', `/members/${stranger.userId}/end-sessions`],
    ] as const)
      expect([rest, (await app.http<Problem>(admin, method, company.path(rest))).body.code]).toEqual([
        rest,
        'resource.not-found',
      ]);
    expect((await app.http(stranger, 'GET', '/api/v1/me')).status).toBe(200);
  });
});
