import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { OpenedRule } from '@slipway/contracts/credentials';
import { until } from '@slipway/testing';
import { credential, LINE, type Origin, rule, TestBroker } from './testing/test-broker.js';

const HOST = 'api.example.com';
const READ = ['GET', 'HEAD', 'OPTIONS'];

describe('a host that a rule opens', () => {
  let world: TestBroker;
  let origin: Origin;
  const open: ServerResponse[] = [];
  beforeAll(async () => {
    world = await TestBroker.start();
    origin = await world.origin(HOST, (request, response) => {
      if (request.url !== '/open')
        return void response.writeHead(200, { 'set-cookie': 'session=1', 'content-length': 5 }).end('hello');
      open.push(response);
      response.writeHead(200).write('begun');
    });
  });
  beforeEach(async () => {
    open.length = 0;
    origin.seen.length = 0;
    world.control.credentials = [];
    world.control.resting = [];
    world.control.observes = false;
    await world.rule();
  });
  afterAll(() => world?.close());
  /** By any rule at all: the port of the origin is none that rules without a port are about. */
  const at = (limits: Partial<OpenedRule['limits']>, more: Partial<OpenedRule> = {}): OpenedRule =>
    rule(HOST, limits, { port: origin.port, ...more });
  const plain = (more: Partial<OpenedRule> = {}): OpenedRule => ({ ...at({}, more), limits: null });
  const status = async (method: string, path = '/', headers: Record<string, string> = {}): Promise<number> =>
    (await world.ask({ host: HOST, method, path, headers })).status;

  it('read only passes GET, HEAD and OPTIONS without a credential, on one connection after the other', async () => {
    await world.rule(at({ methods: READ }));
    const socket = await world.secure({ host: HOST });
    for (const method of READ) expect((await world.askOn(socket, { host: HOST, method })).status).toBe(200);
    expect(origin.seen.map(({ method, headers }) => [method, headers.authorization])).toEqual(
      READ.map((method) => [method, undefined]),
    );
    const before = origin.seen.length;
    const answer = await world.askOn(socket, { host: HOST, method: 'POST', path: '/v1', body: 'stolen' });
    expect(answer).toMatchObject({ status: 403, code: 'egress.request-refused' });
    // What would pass, and by which rule.
    expect(answer.text).toContain('GET, HEAD, OPTIONS of every path (rule egr_');
    expect(origin.seen.length).toBe(before);
    socket.destroy();
  });

  it.each(['POST', 'PUT', 'PATCH', 'DELETE'])('read only refuses %s before a byte reaches the host', async (method) => {
    await world.rule(at({ methods: READ }));
    const connections = origin.connections();
    const headers = { 'content-length': '100000' };
    expect(await world.ask({ host: HOST, method, headers, body: 'x'.repeat(100_000) })).toMatchObject({
      status: 403,
      code: 'egress.request-refused',
    });
    expect([origin.connections(), origin.seen.length]).toEqual([connections, 0]);
  });

  it('read only refuses what asks for another method or path in a header, and dots in a path', async () => {
    await world.rule(at({ methods: READ, paths: ['/v1/**'] }));
    for (const header of [
      'X-HTTP-Method-Override',
      'X-HTTP-Method',
      'X-Method-Override',
      'X-Original-URL',
      'X-Rewrite-URL',
    ])
      expect(await status('GET', '/v1/x', { [header]: 'DELETE' })).toBe(403);
    for (const path of ['/v1/../admin', '/v1/%2e%2e/admin', '/v1/..%2fadmin', '/v1//x', '/v1/%252e%252e/x'])
      expect(
        await world.raw(HOST, `GET ${path} HTTP/1.1\r\nHost: ${HOST}:${origin.port}\r\nConnection: close\r\n\r\n`),
      ).toMatch(/^HTTP\/1\.1 400 /);
    for (const path of ['/admin', '/V1/x', '/v1%2Fadmin']) expect(await status('GET', path)).toBe(403);
    expect(await status('TRACE', '/v1/x')).toBe(405);
    expect(origin.seen).toEqual([]);
    expect(await status('GET', '/v1/a%2Fb')).toBe(200);
  });

  it('of a pattern passes at each name below it, with a certificate for that name', async () => {
    await world.origin('deep.sub.example.org', (_request, response) => void response.end('deep'));
    await world.rule(rule('*.example.org', { methods: READ }, { port: world.portOf('deep.sub.example.org') }));
    expect((await world.ask({ host: 'deep.sub.example.org' })).text).toBe('deep');
    expect((await world.ask({ host: 'deep.sub.example.org', method: 'POST' })).status).toBe(403);
  });

  it('lets a credential of the sandbox pass only where the rule says so, and then sessions of the host too', async () => {
    await world.rule(at({ methods: READ }));
    const bringing = { host: HOST, headers: { authorization: 'Bearer attackers-own' } };
    expect(await world.ask(bringing)).toMatchObject({ status: 403, code: 'credential.foreign' });
    expect((await world.ask({ host: HOST, path: '/?access_token=x' })).status).toBe(403);
    expect(origin.seen).toEqual([]);
    expect((await world.ask({ host: HOST })).headers['set-cookie']).toBeUndefined();
    await world.rule(at({ methods: READ, foreign: 'allow' }));
    expect((await world.ask(bringing)).headers['set-cookie']).toEqual(['session=1']);
    expect(origin.seen.at(-1)?.headers.authorization).toBe('Bearer attackers-own');
  });

  it('refuses by a refusal of any scope, at the place of a credential too', async () => {
    const deny = at({ methods: ['DELETE'], paths: ['/v1/**'] }, { action: 'deny' });
    world.control.credentials = [credential({ form: 'bearer', places: [{ host: HOST, port: origin.port }] })];
    await world.rule(deny, at({}, { scope: 'conversation' }));
    expect(await status('GET', '/v1/x')).toBe(200);
    expect(origin.seen.at(-1)?.headers.authorization).toMatch(/^Bearer s3cret/);
    for (const path of ['/v1/x', '/V1/X', '/v1%2Fx']) {
      const answer = await world.ask({ host: HOST, method: 'DELETE', path });
      expect(answer).toMatchObject({ status: 403, code: 'egress.request-refused' });
      expect(answer.text).toContain(deny.id);
    }
    expect(await status('DELETE', '/v2')).toBe(200);
  });

  it('puts the credential in where its place matches, and lets the rule’s requests pass without it', async () => {
    const place = { host: HOST, port: origin.port, paths: ['/v1/**'] };
    world.control.credentials = [credential({ form: 'bearer', places: [place] })];
    await world.rule(at({ methods: READ }));
    expect([await status('POST', '/v1/x'), await status('GET', '/other'), await status('POST', '/other')]).toEqual([
      200, 200, 403,
    ]);
    expect(origin.seen.map(({ headers }) => headers.authorization !== undefined)).toEqual([true, false]);
  });

  it('that has a credential is not opened past its places by a rule without limits', async () => {
    world.control.credentials = [
      credential({ form: 'bearer', places: [{ host: HOST, port: origin.port, paths: ['/v1/**'] }] }),
    ];
    await world.rule(plain(), at({ methods: ['DELETE'] }, { action: 'deny' }));
    expect(await world.ask({ host: HOST, path: '/other' })).toMatchObject({
      status: 403,
      code: 'credential.misplaced',
    });
    world.control.credentials = [];
    world.control.resting = ['TOKEN'];
    await world.rule(plain(), at({ methods: ['DELETE'] }, { action: 'deny' }));
    expect(await world.ask({ host: HOST, path: '/other' })).toMatchObject({ status: 403, code: 'credential.resting' });
    expect(origin.seen).toEqual([]);
  });

  it('beside a refusal passes by a rule without limits, by the list, and under observe; else by nothing', async () => {
    const deny = at({ methods: ['POST'] }, { action: 'deny' });
    await world.rule(deny, plain());
    expect([await status('GET'), await status('POST')]).toEqual([200, 403]);
    await world.rule(deny);
    // LINE has no rule: the installation lists the host.
    expect([await status('GET'), await status('POST')]).toEqual([200, 403]);
    const by = async (id: string): Promise<number> => (await world.ask({ host: HOST, line: { rule: id } })).status;
    expect([await by('observed'), await by('egr_gone')]).toEqual([403, 403]);
    world.control.observes = true;
    await world.rule(deny);
    expect([await by('observed'), await by('egr_gone')]).toEqual([200, 403]);
    // What a limited rule allows of a listed host is all that it allows.
    await world.rule(deny, at({ paths: ['/v1/**'] }));
    expect([await status('GET', '/v1/x'), await status('GET', '/v2'), await by('observed')]).toEqual([200, 403, 403]);
  });

  it('that nobody gave a rule or a credential passes nothing', async () => {
    expect(await world.ask({ host: HOST })).toMatchObject({ status: 403, code: 'credential.misplaced' });
    expect(origin.seen).toEqual([]);
  });

  it('that does not say so passes no WebSocket, and refuses it in words', async () => {
    await world.rule(at({ methods: READ }));
    const upgrade = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' };
    const answer = await world.ask({ host: HOST, headers: { ...upgrade, 'sec-websocket-key': `${'x'.repeat(22)}==` } });
    expect(answer).toMatchObject({ status: 403, code: 'credential.unsupported' });
    expect(origin.seen).toEqual([]);
  });

  it('is judged alike by the path endpoint, where the sandbox speaks no TLS', async () => {
    await world.rule(at({ methods: READ }));
    const ask = async (method: string): Promise<number> => {
      const socket = await world.connect({ host: HOST, tls: false });
      const { status } = await world.askOn(socket, { host: HOST, method });
      socket.destroy();
      return status;
    };
    expect([await ask('GET'), await ask('POST')]).toEqual([200, 403]);
  });

  it('hears of a change: the next request of an open connection is judged by the new rules', async () => {
    await world.rule(at({ methods: READ }));
    const socket = await world.secure({ host: HOST });
    expect((await world.askOn(socket, { host: HOST })).status).toBe(200);
    await world.rule(at({ methods: ['POST'] }));
    expect((await world.askOn(socket, { host: HOST })).status).toBe(403);
    expect((await world.askOn(socket, { host: HOST, method: 'POST' })).status).toBe(200);
    socket.destroy();
  });

  it.each([
    ['removed', () => []],
    ['limited to other paths', () => [at({ methods: READ, paths: ['/v2/**'] })]],
    ['joined by a refusal', () => [at({ methods: READ }), at({ methods: ['GET'] }, { action: 'deny' })]],
  ] as Array<[string, () => OpenedRule[]]>)(
    '(G1) cuts within a second what is under way once its rule is %s, and leaves it open before',
    async (_name, next) => {
      await world.rule(at({ methods: READ }));
      const answering = await begin();
      world.control.asked.length = 0;
      world.control.change(LINE.org);
      await until('it is asked about', () => world.control.asked.some(({ host }) => host === HOST));
      open[0]?.write(' and goes on');
      await until('more has come', () => answering.read() !== null);
      const cut = new Promise<void>((resolve) => answering.once('close', () => resolve()));
      answering.resume();
      const since = performance.now();
      world.control.rules = next();
      world.control.change(LINE.org);
      await cut;
      expect(performance.now() - since).toBeLessThan(1_000);
    },
  );

  it('(E20) passes nothing new while app-server is away', async () => {
    await world.rule(at({ methods: READ }));
    expect(await status('GET')).toBe(200);
    const before = origin.seen.length;
    world.control.away = true;
    world.control.lose();
    await until('what was remembered is forgotten', async () => (await status('GET')) === 503);
    const after = origin.seen.length;
    expect(await status('GET')).toBe(503);
    expect([after - before <= 1, origin.seen.length]).toEqual([true, after]);
    world.control.away = false;
    await until('it passes again', async () => (await status('GET')) === 200);
    await until('changes are heard', () => world.control.listeners > 0);
  });

  it('holds a rule to its end, and one given once for what it let through', async () => {
    const endsAt = Date.now() - 1;
    await world.rule(at({ methods: READ }, { endsAt }));
    const by = async (id: string): Promise<number> => (await world.ask({ host: HOST, line: { rule: id } })).status;
    expect(await by('egr_other')).toBe(403);
    const given = at({ methods: READ }, { endsAt, once: true });
    await world.rule(given);
    expect([await by('egr_other'), await by(given.id)]).toEqual([403, 200]);
  });

  /** An answer that has begun. */
  async function begin(): Promise<IncomingMessage> {
    const socket = await world.secure({ host: HOST });
    const request = httpRequest({
      createConnection: () => socket,
      setHost: false,
      path: '/open',
      headers: { host: `${HOST}:${origin.port}` },
    });
    request.on('error', () => {}).end();
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    response.on('error', () => {});
    await until('it has begun', () => open.length === 1);
    response.read();
    return response;
  }
});
