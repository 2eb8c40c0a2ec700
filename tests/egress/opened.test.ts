import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { EgressRequest, EgressRule } from '@slipway/contracts/sandboxes';
import { until } from '@slipway/testing';
import type { User } from '../../apps/app-server/dist/testing/conversation-app.js';
import { basic, CLAIMS } from '../../apps/egress-proxy/dist/testing/test-egress.js';
import { OpenedWorld } from './opened-world.ts';
import type { Sandbox } from './world.ts';

jest.setTimeout(60_000);
const READ = { methods: ['GET', 'HEAD', 'OPTIONS'] };
/** `git.example` is on the installation's list. */
const HOSTS = ['read.example', 'git.example', 'asked.example', 'below.wild.example', 'cut.example', 'away.example'];

describe('a rule with methods or paths', () => {
  let world: OpenedWorld;
  let ada: User;
  let sandbox: Sandbox;
  beforeAll(async () => {
    world = await OpenedWorld.start(HOSTS);
    ada = await world.app.user('Ada');
    sandbox = await world.sandbox(ada);
  });
  afterAll(() => world?.close());
  const made = async (host: string, body: object): Promise<EgressRule> => {
    const answer = await world.rule(ada, host, body);
    expect([answer.status, answer.body]).toEqual([201, expect.anything()]);
    return answer.body;
  };
  const seen = (host: string): string[] => world.origin(host).seen.map(({ method, url }) => `${method} ${url}`);

  it('opens its host without any credential: reading passes, writing is refused before a byte leaves', async () => {
    const rule = await made('read.example', { ...READ, paths: ['/v1/**'] });
    expect(rule).toMatchObject({ ...READ, paths: ['/v1/**'], action: 'allow', foreign: 'refuse', websocket: false });
    expect(await world.ask(sandbox, 'read.example', 'GET', '/v1/x')).toMatchObject({
      status: 200,
      text: 'GET /v1/x',
      opened: true,
    });
    for (const [method, path, headers] of [
      ['POST', '/v1/x', {}],
      ['GET', '/v2', {}],
      ['GET', '/v1/x', { 'x-http-method-override': 'DELETE' }],
    ] as const)
      expect(await world.ask(sandbox, 'read.example', method, path, headers)).toMatchObject({
        status: 403,
        code: 'egress.request-refused',
      });
    expect((await world.ask(sandbox, 'read.example', 'GET', '/v1/x', { cookie: 'a=b' })).code).toBe(
      'credential.foreign',
    );
    expect(seen('read.example')).toEqual(['GET /v1/x']);
  });

  it('holds at the path endpoint, and in clear its host is refused', async () => {
    const ask = (method: string): Promise<string> =>
      world.proxy.raw(
        `${method} /-/https/${world.target('read.example')}/v1/x HTTP/1.1\r\nHost: proxy\r\nAuthorization: ${basic(
          world.proxy.password({ ...CLAIMS, ...sandbox }),
        )}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`,
      );
    expect(await ask('GET')).toMatch(/^HTTP\/1\.1 200 /);
    expect(await ask('PUT')).toMatch(/^HTTP\/1\.1 403 [^\r]*\r\n/);
    const claims = { ...CLAIMS, ...sandbox };
    const refused = await world.proxy.get('http://read.example/v1/x', claims);
    expect(refused).toMatch(/^HTTP\/1\.1 403 .*reached by https alone/);
    const tunnel = await world.connect(sandbox, 'read.example:80');
    expect([tunnel.status, tunnel.problem.reason]).toEqual([403, 'in-clear']);
    expect(seen('read.example').filter((each) => each.startsWith('PUT'))).toEqual([]);
  });

  it('opens the names below a pattern, each with a certificate of its own', async () => {
    await made(`*.wild.example:${world.origin('below.wild.example').port}`, READ);
    expect(await world.ask(sandbox, 'below.wild.example', 'GET')).toMatchObject({ status: 200, opened: true });
    expect((await world.ask(sandbox, 'below.wild.example', 'DELETE')).status).toBe(403);
  });

  it('at a listed host is all that is allowed there; a refusal leaves the rest; without one nothing is opened', async () => {
    const ask = (method: string) => world.ask(sandbox, 'git.example', method);
    expect(await ask('POST')).toMatchObject({ status: 200, opened: false });
    const reads = await made('git.example', READ);
    await world.eventually('it is opened', async () => (await ask('POST')).status === 403);
    expect(await ask('GET')).toMatchObject({ status: 200, opened: true });
    await world.remove(ada, reads);
    const denies = await made('git.example', { action: 'deny', methods: ['POST'] });
    await world.eventually('the rest passes', async () => (await ask('PUT')).status === 200);
    expect([(await ask('POST')).status, (await ask('GET')).opened]).toEqual([403, true]);
    await world.remove(ada, denies);
    await world.eventually('it passes unopened', async () => !(await ask('POST')).opened);
  });

  it('(G1) made while a connection is open cuts it within a second where it passed unopened, or is not allowed', async () => {
    const closed = async (socket: Awaited<ReturnType<OpenedWorld['secure']>>): Promise<number> => {
      const since = performance.now();
      if (!socket.closed) await once(socket.resume(), 'close');
      return performance.now() - since;
    };
    const plain = await made('cut.example', {});
    const unopened = await world.secure(sandbox, 'cut.example');
    const [reads, late] = [made('cut.example', READ), closed(unopened)];
    await reads;
    expect(await late).toBeLessThan(1_500);
    await world.remove(ada, plain);
    await world.eventually(
      'it is judged',
      async () => (await world.ask(sandbox, 'cut.example', 'POST')).status === 403,
    );
    const opened = await world.secure(sandbox, 'cut.example');
    opened.write(`GET /open HTTP/1.1\r\nHost: ${world.target('cut.example')}\r\n\r\n`);
    await once(opened, 'data');
    const cut = closed(opened);
    await made('cut.example', { action: 'deny', paths: ['/open'] });
    expect(await cut).toBeLessThan(1_500);
  });

  it('answers a request of a sandbox: read only, for the conversation', async () => {
    const connecting = world.secure(sandbox, 'asked.example');
    const path = `/api/v1/orgs/${ada.orgId}/conversations/${sandbox.conversation}/egress-requests`;
    let request: EgressRequest | undefined;
    await until('a user is asked', async () => {
      const { body } = await world.app.http<{ data: EgressRequest[]; opensHosts: boolean }>(ada, 'GET', path);
      expect(body.opensHosts).toBe(true);
      request = body.data.find(({ host, state }) => host === 'asked.example' && state === 'waiting');
      return request !== undefined;
    });
    const answer = (more: object) =>
      world.app.http<{ code?: string }>(ada, 'POST', `${path}/${request?.id}`, {
        decision: 'allow',
        host: 'asked.example',
        port: request?.port,
        ...READ,
        ...more,
      });
    expect((await answer({ scope: 'once' })).status).toBe(400);
    expect((await answer({ scope: 'conversation', decision: 'deny' })).status).toBe(400);
    expect((await answer({ scope: 'conversation' })).status).toBe(200);
    const socket = await connecting;
    expect((await world.broker.askOn(socket, { host: 'asked.example' })).status).toBe(200);
    expect((await world.broker.askOn(socket, { host: 'asked.example', method: 'POST' })).status).toBe(403);
    socket.destroy();
    const { rows } = await world.app.owner.query(
      "SELECT detail FROM app.audit_entry WHERE action = 'egress-request.allow' AND target LIKE $1",
      [`${sandbox.conversation}:%`],
    );
    expect(rows).toMatchObject([{ detail: { scope: 'conversation', ...READ } }]);
  });

  it('is in the audit, and is a refusal of the whole host to an app-server that does not know of limits', async () => {
    const { rows } = await world.app.owner.query(
      'SELECT action, request_action FROM app.egress_rule WHERE org_id = $1 AND request_action IS NOT NULL',
      [ada.orgId],
    );
    expect(rows.length).toBeGreaterThan(2);
    expect(rows.filter(({ action }) => action !== 'deny')).toEqual([]);
    await expect(
      world.app.owner.query("UPDATE app.egress_rule SET action = 'allow' WHERE request_action IS NOT NULL"),
    ).rejects.toThrow('violates check constraint');
    const { rows: entries } = await world.app.owner.query(
      "SELECT after FROM app.audit_entry WHERE action = 'egress-rule.create' AND after->>'host' LIKE 'read.example%'",
    );
    expect(entries).toMatchObject([{ after: { action: 'allow', limits: { ...READ, foreign: 'refuse' } } }]);
  });

  it('is refused for an address, for port 80, and where it says what it cannot mean', async () => {
    for (const [host, body] of [
      ['93.184.215.14', READ],
      ['new.example:80', READ],
      ['new.example', { methods: [] }],
      ['new.example', { methods: ['CONNECT'] }],
      ['new.example', { paths: ['no-slash'] }],
      ['new.example', { paths: ['/a/../b'] }],
      ['new.example', { action: 'deny', foreign: 'refuse' }],
      ['new.example', { action: 'deny', websocket: true }],
      ['new.example', { methods: ['POST'], websocket: true }],
    ] as const)
      expect([host, body, (await world.rule(ada, host, body)).body.code]).toEqual([host, body, 'request.invalid']);
  });

  it('(E20) passes nothing at its host while app-server is away, listed or not', async () => {
    await made('away.example', READ);
    await made('git.example', READ);
    await world.eventually('both are opened', async () => {
      const [one, other] = await Promise.all(
        ['away.example', 'git.example'].map((host) => world.ask(sandbox, host, 'POST')),
      );
      return one?.status === 403 && other?.status === 403;
    });
    const before = [seen('away.example').length, seen('git.example').length];
    await world.app.replicas[0]?.close();
    await until('nothing passes', async () => {
      const asks = ['away.example', 'git.example'].map((host) =>
        world.ask(sandbox, host, 'GET').then(
          ({ status }) => status,
          () => 403,
        ),
      );
      return (await Promise.all(asks)).every((status) => status === 403 || status === 503);
    });
    for (const host of ['away.example', 'git.example']) await world.ask(sandbox, host, 'POST').catch(() => {});
    expect(seen('away.example').filter((each) => each.startsWith('POST'))).toEqual([]);
    expect(
      seen('git.example')
        .slice(before[1])
        .filter((each) => each.startsWith('POST')),
    ).toEqual([]);
  });
});
