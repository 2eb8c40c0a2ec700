import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SandboxTokens } from '@slipway/auth/sandbox-access';
import { THROUGH_GATEWAY_HEADER } from '@slipway/contracts/sandboxes';
import { stopwatch, until } from '@slipway/testing';
import { type Grant, PLATFORM, SECRET, SESSION_KEY, TestGateway } from './testing/test-gateway.js';

/** Within this who is shut out is out. Milliseconds; what is promised is a second, and one is for a busy machine. */
const AT_ONCE_MS = 2_000;

const FORM = { 'content-type': 'application/x-www-form-urlencoded', origin: PLATFORM };
const formOf = (ticket: string, path?: string): string =>
  new URLSearchParams({ ticket, ...(path === undefined ? {} : { path }) }).toString();

describe('who is let in', () => {
  let gateway: TestGateway;
  let mine: Grant;
  beforeAll(async () => {
    gateway = await TestGateway.start();
    mine = await gateway.grant();
  });
  afterAll(() => gateway?.close());

  const enter = async (grant: Grant, body: string, headers: Record<string, string> = {}) => {
    const response = await gateway.request('/.slipway/enter', {
      method: 'POST',
      headers: { host: grant.host, ...FORM, ...headers },
      body,
    });
    await response.body.text();
    return response;
  };
  const cookieOf = async (grant: Grant): Promise<string> =>
    String((await enter(grant, formOf(grant.ticket))).headers['set-cookie']).split(';')[0] as string;
  const codeOf = (text: string): unknown => JSON.parse(text).code;

  it('a token opens its port of its conversation, by host and by path, in either header', async () => {
    for (const headers of [{ authorization: `Bearer ${mine.token}` }, { 'x-session-api-key': mine.token }] as Array<
      Record<string, string>
    >)
      expect(await gateway.ask(mine, '/a?b=c', headers)).toMatchObject({ status: 200, text: 'hello from the sandbox' });
    for (const port of ['8000', 'agent-server']) {
      const response = await gateway.request(`/${mine.conversation}/${port}/a%2Fb?c=%20d`, {
        headers: { 'x-session-api-key': mine.token },
      });
      expect([response.statusCode, await response.body.text()]).toEqual([200, 'hello from the sandbox']);
      expect(gateway.upstream.seen.at(-1)).toMatchObject({
        url: '/a%2Fb?c=%20d',
        headers: { 'x-forwarded-prefix': `/${mine.conversation}/${port}` },
      });
    }
  });

  it('nothing else does: no token, another’s, another port’s, a wrong secret’s, one that is over, or one in the URL', async () => {
    const other = await gateway.grant();
    const otherPort = await gateway.grant(3000, { conversation: mine.conversation, org: mine.org });
    const claims = { jti: mine.id, org: mine.org, sub: mine.user, conversation: mine.conversation, port: 8000 };
    const end = new Date(Date.now() + 60_000);
    const forged = await new SandboxTokens(`${SECRET}!`).sign(claims, new Date(), end);
    const otherOrg = await new SandboxTokens(SECRET).sign({ ...claims, org: other.org }, new Date(), end);
    const unknown = await new SandboxTokens(SECRET).sign({ ...claims, jti: 'sbx_unknown' }, new Date(), end);
    const over = await gateway.grant(8000, { conversation: mine.conversation, org: mine.org, expiresIn: -1 });
    const before = gateway.upstream.seen.length;
    for (const token of [
      '',
      'slp_sbx_',
      other.token,
      otherPort.token,
      forged.token,
      otherOrg.token,
      unknown.token,
      over.token,
    ]) {
      const answer = await gateway.ask(mine, '/', { authorization: `Bearer ${token}` });
      expect([answer.status, codeOf(answer.text)]).toEqual([401, 'auth.missing']);
      await expect(gateway.socket(mine.host, '/ws', { authorization: `Bearer ${token}` })).rejects.toThrow('401');
    }
    expect((await gateway.ask(mine, '/', {})).status).toBe(401);
    expect((await gateway.ask(mine, `/?session_api_key=${mine.token}`)).status).toBe(400);
    expect(gateway.upstream.seen.length).toBe(before);
  });

  it('a health check of an agent-server without a key gets the gateway’s answer: the same of any sandbox, and of nothing else', async () => {
    const before = gateway.upstream.seen.length;
    const missing = { ...mine, host: mine.host.replace(mine.conversation, '0197c0de-0000-7000-8000-000000000001') };
    const [theirs, none] = [await gateway.ask(mine, '/health', {}), await gateway.ask(missing, '/health', {})];
    expect(theirs).toMatchObject({ status: 200, text: '{"status":"ok"}' });
    expect([none.status, none.text]).toEqual([theirs.status, theirs.text]);
    const port = await gateway.grant(3000);
    expect(
      [await gateway.ask(port, '/health', {}), await gateway.ask(mine, '/healthy', {})].map(({ status }) => status),
    ).toEqual([401, 401]);
    expect((await gateway.ask(mine, '/health', { authorization: 'Bearer slp_sbx_none' })).status).toBe(401);
    expect(gateway.upstream.seen.length).toBe(before);
  });

  it('a ticket becomes a cookie once, and the address that comes after it holds neither', async () => {
    const grant = await gateway.grant();
    const response = await enter(grant, formOf(grant.ticket, '/files?x=1#y'));
    expect([response.statusCode, response.headers['location'], response.headers['cache-control']]).toEqual([
      303,
      `http://${grant.host}/files?x=1#y`,
      'no-store',
    ]);
    const cookie = String(response.headers['set-cookie']);
    expect(cookie).toMatch(/^slipway_sandbox=slp_sbx_[^;]+; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Lax$/);
    expect(await gateway.ask(grant, '/files', { cookie: cookie.split(';')[0] as string })).toMatchObject({
      status: 200,
    });
    expect((await enter(grant, formOf(grant.ticket))).statusCode).toBe(401);
    expect(cookie).not.toContain(grant.ticket);
  });

  it('a ticket is good only at its own address, for thirty seconds, and while its access holds', async () => {
    const [grant, late, revoked] = [await gateway.grant(), await gateway.grant(), await gateway.grant()];
    expect((await enter(mine, formOf(grant.ticket))).statusCode).toBe(401);
    await gateway.owner.query(
      "UPDATE app.sandbox_grant SET ticket_expires_at = now() - interval '1 ms' WHERE id = $1",
      [late.id],
    );
    expect((await enter(late, formOf(late.ticket))).statusCode).toBe(401);
    await gateway.revoke(revoked);
    expect((await enter(revoked, formOf(revoked.ticket))).statusCode).toBe(401);
    expect((await enter(grant, formOf('x'.repeat(43)))).statusCode).toBe(401);
    expect((await enter(grant, formOf(grant.ticket))).statusCode).toBe(303);
  });

  it('no other site can sign a browser in: a ticket is taken from a page of Slipway only, and never from a link', async () => {
    const grant = await gateway.grant();
    for (const origin of [
      'https://evil.test',
      'http://slipway.test',
      'null',
      `http://${grant.host}`,
      `http://${mine.host}`,
    ])
      expect((await enter(grant, formOf(grant.ticket), { origin })).statusCode).toBe(403);
    expect((await gateway.ask(grant, `/.slipway/enter?ticket=${grant.ticket}`, {})).status).toBe(401);
    expect((await enter(grant, formOf(grant.ticket))).statusCode).toBe(303);
  });

  it('a way in never leads to another site', async () => {
    for (const path of [
      '//evil.test',
      '/\\evil.test',
      'https://evil.test/',
      '\\\\evil.test',
      'javascript:alert(1)',
      '/%0d%0aset-cookie:a=b',
      '/..//evil.test',
      '/\t/evil.test',
    ]) {
      const grant = await gateway.grant();
      const { location } = (await enter(grant, formOf(grant.ticket, path))).headers;
      expect(new URL(String(location)).origin).toBe(`http://${grant.host}`);
      expect(String(location)).not.toMatch(/[\r\n]/);
    }
  });

  it('a cookie is no good elsewhere: another conversation, another port, by path, or put there by a sandbox', async () => {
    const cookie = await cookieOf(await gateway.grant(8000, { conversation: mine.conversation, org: mine.org }));
    expect((await gateway.ask(mine, '/', { cookie })).status).toBe(200);
    for (const grant of [
      await gateway.grant(),
      await gateway.grant(3000, { conversation: mine.conversation, org: mine.org }),
    ])
      expect((await gateway.ask(grant, '/', { cookie })).status).toBe(401);
    const byPath = await gateway.request(`/${mine.conversation}/8000/`, { headers: { cookie } });
    await byPath.body.text();
    expect(byPath.statusCode).toBe(401);
    gateway.upstream.handler = (_request, response) =>
      void response
        .setHeader('set-cookie', [
          'slipway_sandbox=stolen',
          '__Host-slipway_sandbox=stolen',
          'own=1; Domain=gw.test; Path=/',
        ])
        .end();
    const answer = await gateway.ask(mine);
    gateway.upstream.handler = (_request, response) => void response.end('hello from the sandbox');
    expect(answer.headers['set-cookie']).toBe('own=1; Path=/');
  });

  it('pages of other origins, neighbours included, can use the cookie neither for sockets nor for requests', async () => {
    const cookie = await cookieOf(await gateway.grant(8000, { conversation: mine.conversation, org: mine.org }));
    const own = `http://${mine.host}`;
    for (const origin of [
      'https://evil.test',
      `http://3000-${mine.conversation}.gw.test`,
      PLATFORM,
      'null',
      `${own}.evil.test`,
    ]) {
      await expect(gateway.socket(mine.host, '/ws', { cookie, origin })).rejects.toThrow('403');
      for (const method of ['GET', 'POST', 'DELETE'])
        expect((await gateway.ask(mine, '/', { cookie, origin }, method)).status).toBe(403);
    }
    await expect(gateway.socket(mine.host, '/ws', { cookie })).rejects.toThrow('403');
    expect((await gateway.ask(mine, '/', { cookie }, 'POST')).status).toBe(403);
    for (const site of ['cross-site', 'same-site'])
      expect(
        (
          await gateway.ask(mine, '/', {
            cookie,
            'sec-fetch-site': site,
            'sec-fetch-mode': 'no-cors',
            'sec-fetch-dest': 'script',
          })
        ).status,
      ).toBe(403);
    expect(
      (
        await gateway.ask(mine, '/', {
          cookie,
          'sec-fetch-site': 'cross-site',
          'sec-fetch-mode': 'navigate',
          'sec-fetch-dest': 'document',
        })
      ).status,
    ).toBe(200);
    expect((await gateway.ask(mine, '/', { cookie, origin: own }, 'POST')).status).toBe(200);
    (await gateway.socket(mine.host, '/ws', { cookie, origin: own })).close();
  });

  it('the sandbox never sees what authenticated the user, and agent-server gets its own key and knows that a user is calling', async () => {
    const cookie = await cookieOf(await gateway.grant(8000, { conversation: mine.conversation, org: mine.org }));
    await gateway.plain('/', {
      host: mine.host,
      cookie: `${cookie}; keycloak_auth=secret`,
      authorization: `Bearer ${mine.token}`,
      'x-forwarded-for': '6.6.6.6',
      [THROUGH_GATEWAY_HEADER]: 'nobody',
      connection: 'x-mine',
      'x-mine': '1',
    });
    const socket = await gateway.socket(mine.host, '/ws', { 'x-session-api-key': mine.token });
    socket.close();
    for (const seen of gateway.upstream.seen.slice(-2)) {
      expect(JSON.stringify(seen)).not.toMatch(/slp_sbx_|keycloak_auth|6\.6\.6\.6|x-mine/);
      expect([seen.headers['x-session-api-key'], seen.headers[THROUGH_GATEWAY_HEADER]]).toEqual([
        SESSION_KEY,
        'sandbox-gateway',
      ]);
    }
    expect(gateway.upstream.seen.at(-2)?.headers['cookie']).toBeUndefined();
  });

  it('a cookie past its half is renewed while its access holds', async () => {
    const grant = await gateway.grant(8000, { expiresIn: 100 });
    const answer = await gateway.ask(grant, '/', { cookie: `slipway_sandbox=${grant.token}` });
    expect(answer.headers['set-cookie']).toMatch(/^slipway_sandbox=slp_sbx_.*Max-Age=(600|599);/);
    expect(answer.headers['set-cookie']).not.toContain(grant.token);
  });
});

describe('who is shut out again', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await TestGateway.start({ SANDBOX_GATEWAY_GRACE_SECONDS: '4' });
  });
  afterAll(() => gateway?.close());

  const WAYS: Array<[string, (grant: Grant) => Promise<unknown>]> = [
    ['revoked', (grant) => gateway.revoke(grant)],
    ['signed out', (grant) => gateway.owner.query('DELETE FROM app.session WHERE id = $1', [grant.session])],
    [
      'removed from the organization',
      (grant) => gateway.owner.query('DELETE FROM app.membership WHERE user_id = $1', [grant.user]),
    ],
    [
      'made a viewer',
      (grant) => gateway.owner.query("UPDATE app.membership SET role = 'viewer' WHERE user_id = $1", [grant.user]),
    ],
  ];
  for (const [how, shutOut] of WAYS) {
    it(`${how}: refused within a second, and open sockets and downloads are cut`, async () => {
      gateway.upstream.handler = (request, response) =>
        void (request.url === '/stream' ? response.write('first') : response.end('ok'));
      const grant = await gateway.grant();
      await gateway.pays(grant);
      const headers = { authorization: `Bearer ${grant.token}` };
      const raw = await gateway.socket(grant.host, '/ws', headers);
      const framed = await gateway.socket(grant.host, '/sockets/events/x');
      framed.send(JSON.stringify({ type: 'auth', session_api_key: grant.token }));
      framed.send('after the first');
      await new Promise((resolve) => framed.once('message', resolve));
      const stream = await gateway.request('/stream', { headers: { host: grant.host, ...headers } });
      const passed = stopwatch();
      const cut = { raw: 0, framed: 0, stream: 0 };
      let code = 0;
      raw.once('close', () => (cut.raw = passed()));
      framed.once('close', (given) => {
        cut.framed = passed();
        code = given;
      });
      stream.body.text().catch(() => (cut.stream = passed()));
      await shutOut(grant);
      await until('new requests are refused', async () => (await gateway.ask(grant, '/', headers)).status === 401);
      const refused = passed();
      await until('all is cut', () => cut.raw > 0 && cut.framed > 0 && cut.stream > 0);
      for (const at of [refused, cut.raw, cut.framed, cut.stream]) expect(at).toBeLessThan(AT_ONCE_MS);
      expect(code).toBe(4001);
      await until('the sandbox’s ends are closed too', () => gateway.upstream.sockets.size === 0);
      for (let time = 0; time < 3; time += 1) expect((await gateway.ask(grant, '/', headers)).status).toBe(401);
      gateway.upstream.handler = (_request, response) => void response.end('ok');
    });
  }

  it('within a second also when the news of it is lost', async () => {
    const grant = await gateway.grant();
    const socket = await gateway.socket(grant.host, '/ws', { authorization: `Bearer ${grant.token}` });
    await gateway.owner.query('ALTER TABLE app.sandbox_grant DISABLE TRIGGER tell_sandbox_access');
    const closed = new Promise((resolve) => socket.once('close', resolve));
    const passed = stopwatch();
    await gateway.revoke(grant);
    await closed;
    expect(passed()).toBeLessThan(AT_ONCE_MS);
    await gateway.owner.query('ALTER TABLE app.sandbox_grant ENABLE TRIGGER tell_sandbox_access');
  });

  it('without a database new requests are refused after a second, what is open goes on for the grace and no longer, and all is well when it is back', async () => {
    const grant = await gateway.grant();
    const headers = { authorization: `Bearer ${grant.token}` };
    const socket = await gateway.socket(grant.host, '/ws', headers);
    let closedAt = 0;
    socket.once('close', () => (closedAt = performance.now()));
    const lock = await gateway.owner.connect();
    await lock.query('BEGIN');
    await lock.query('LOCK TABLE app.sandbox_grant IN ACCESS EXCLUSIVE MODE');
    const began = performance.now();
    const refused = await until(
      'it is refused',
      async () => {
        const answer = await gateway.ask(grant, '/', headers);
        return answer.status === 503 ? answer : null;
      },
      4_000,
    );
    expect([JSON.parse(refused.text).code, refused.headers['retry-after']]).toEqual(['service.unavailable', '1']);
    expect(closedAt).toBe(0);
    await until('the open socket is cut', () => closedAt > 0);
    expect(closedAt - began).toBeGreaterThan(3_000);
    await lock.query('ROLLBACK');
    lock.release();
    await until('it is let in again', async () => (await gateway.ask(grant, '/', headers)).status === 200);
  });
});
