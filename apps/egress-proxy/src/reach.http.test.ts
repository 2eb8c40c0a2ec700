import { once } from 'node:events';
import { buffer, text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { until } from '@slipway/testing';
import { CLAIMS, type Origin, startBytes, startOrigin, TestEgress } from './testing/test-egress.js';

describe('a sandbox', () => {
  let world: TestEgress;
  let origin: Origin;
  /** On an address that no rule permits. */
  let canary: Origin;
  beforeAll(async () => {
    origin = await startOrigin((request, response) => {
      response
        .setHeader('x-path', request.url ?? '')
        .setHeader('content-length', request.headers['content-length'] ?? '0');
      request.pipe(response);
    }, '127.0.0.2');
    canary = await startOrigin(undefined, '127.0.0.3', origin.port);
    world = await TestEgress.start({
      EGRESS_PORTS: `80,443,${origin.port}`,
      EGRESS_PERMITTED_RANGES: '127.0.0.2/32',
      EGRESS_CLUSTER_RANGES: '140.82.0.0/16,2606:50c0::/32',
    });
  });
  afterAll(async () => {
    await world?.close();
    await Promise.all([origin?.close(), canary?.close()]);
  });
  beforeEach(() => {
    world.names.clear();
    for (const name of ['mirror.example', 'a.files.example', 'git.example', 'api.example', 'other.example'])
      world.names.set(name, ['127.0.0.2']);
    world.asked.length = 0;
    origin.seen.length = 0;
  });
  const narrow = { template: 'narrow', egress: 'allow-list' } as const;

  it('reaches a host of its list by CONNECT, and what is sent arrives as it was sent, both ways', async () => {
    const { status, socket } = await world.tunnel(`mirror.example:${origin.port}`);
    expect(status).toBe(200);
    const sent = Buffer.alloc(2_000_000, 'slipway');
    socket.write(
      `POST /pkg?x=1 HTTP/1.1\r\nHost: mirror.example\r\nConnection: close\r\nContent-Length: ${sent.length}\r\n\r\n`,
    );
    socket.write(sent);
    const answer = await buffer(socket);
    expect(answer.subarray(-sent.length).equals(sent)).toBe(true);
    expect(answer.toString('latin1', 0, 200)).toContain('x-path: /pkg?x=1');
  });

  it('reaches it by a plain request, of which the host learns path, headers and body, and nothing of the proxy’s credential', async () => {
    const request = (length: number): string =>
      `http://mirror.example:${origin.port}/a//b%2f?q=1 HTTP/1.1\r\nHost: evil.example\r\nX-Mine: 1\r\nConnection: close, x-hop\r\nX-Hop: 1\r\nContent-Length: ${length}\r\nProxy-Authorization: ${`Basic ${Buffer.from(`sandbox:${world.password()}`).toString('base64')}`}\r\n\r\nbody!`;
    const answer = await world.raw(`POST ${request(5)}`);
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*body!$/);
    const [seen] = origin.seen;
    expect([seen?.method, seen?.url, seen?.headers.host, seen?.headers['x-mine'], seen?.headers.connection]).toEqual([
      'POST',
      '/a//b%2f?q=1',
      `mirror.example:${origin.port}`,
      '1',
      'close',
    ]);
    expect(Object.keys(seen?.headers ?? {})).not.toEqual(expect.arrayContaining(['proxy-authorization']));
    expect(seen?.headers['x-hop']).toBeUndefined();
    expect(JSON.stringify(seen?.rawHeaders)).not.toContain('slp_egr_');
  });

  it('goes on with one connection for several requests, each checked by itself', async () => {
    const socket = await world.dial();
    const ask = (host: string, last = ''): string =>
      `GET http://${host}:${origin.port}/ HTTP/1.1\r\nHost: x\r\n${last}Proxy-Authorization: ${`Basic ${Buffer.from(`sandbox:${world.password()}`).toString('base64')}`}\r\n\r\n`;
    socket.write(ask('mirror.example'));
    await until('the first is answered', () => origin.seen.length === 1);
    socket.write(ask('evil.example'));
    const all = await text(socket);
    expect([...all.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map(([, status]) => status)).toEqual(['200', '403']);
    expect(origin.seen).toHaveLength(1);
  });

  it('of class packages reaches package hosts and common ones, of class allow-list those of its own template and common ones', async () => {
    const statusOf = async (host: string, claims: object): Promise<number> => {
      const { status, socket } = await world.tunnel(`${host}:${origin.port}`, claims);
      socket.destroy();
      return status;
    };
    const hosts = ['mirror.example', 'a.files.example', 'git.example', 'api.example', 'other.example'];
    const reached = (claims: object): Promise<number[]> => Promise.all(hosts.map((host) => statusOf(host, claims)));
    expect(await reached({})).toEqual([200, 200, 200, 403, 403]);
    expect(await reached(narrow)).toEqual([403, 403, 200, 200, 403]);
    expect(await reached({ ...narrow, template: 'other' })).toEqual([403, 403, 200, 403, 200]);
    expect(await reached({ ...narrow, template: 'of-yesterday' })).toEqual([403, 403, 200, 403, 403]);
  });

  it('reads in status line and body what is refused and who can change it; the name is not resolved', async () => {
    const { status, phrase, problem } = await world.tunnel(`secrets.evil.example:${origin.port}`, narrow);
    expect([status, problem.code, problem.reason]).toEqual([403, 'egress.refused', 'host']);
    expect(problem.detail).toBe(
      'secrets.evil.example is not among allowedHosts of the sandbox template "narrow". An operator can add it there.',
    );
    expect(phrase).toContain('secrets.evil.example is not among allowedHosts');
    const plain = await world.get(`http://secrets.evil.example:${origin.port}/x`);
    expect(plain).toMatch(/^HTTP\/1\.1 403 Slipway egress: secrets\.evil\.example is not among the package hosts/);
    expect(world.asked).toEqual([]);
  });

  it('does not reach another port of a listed host', async () => {
    const { status, problem } = await world.tunnel('mirror.example:22');
    expect([status, problem.reason, world.asked]).toEqual([403, 'port', []]);
  });

  for (const [what, claims] of [
    ['without a credential', null],
    ['with one that is over', { exp: 1_000 }],
    ['with one of a sandbox at another address', { address: '10.1.2.3' }],
  ] as const)
    it(`${what} is asked for it, and reaches nothing`, async () => {
      const { status, problem } = await world.tunnel(`mirror.example:${origin.port}`, claims);
      expect([status, problem.code, world.asked]).toEqual([407, 'egress.no-credential', []]);
    });

  it('with a credential signed with another key, or another user, is asked for its own', async () => {
    const [body] = world.password().split('.');
    for (const user of [
      `sandbox:${body}.${'A'.repeat(43)}`,
      `admin:${world.password()}`,
      'sandbox:',
      'sandbox',
      world.password(),
    ]) {
      const answer = await world.raw(
        `CONNECT mirror.example:${origin.port} HTTP/1.1\r\nHost: x\r\nProxy-Authorization: Basic ${Buffer.from(user).toString('base64')}\r\n\r\n`,
      );
      expect(answer).toMatch(/^HTTP\/1\.1 407 [\s\S]*proxy-authenticate: Basic/);
    }
  });

  /**
   * X1, X3: what stands at these must not be reached, whatever it is called. `PORT` is that of the canary, on
   * 127.0.0.3.
   */
  const TARGETS = [
    '127.0.0.3:PORT', '127.3:PORT', '2130706435:PORT', '0x7f000003:PORT', '0177.0.0.3:PORT', '127.0.0.03:PORT', '0.0.0.0:PORT', '[::ffff:127.0.0.3]:PORT', '[::ffff:7f00:3]:PORT', '[::127.0.0.3]:PORT', '[::1]:PORT',
    '[64:ff9b::7f00:3]:PORT', '[2002:7f00:3::]:PORT', 'localhost:PORT', 'localhost.:PORT', '169.254.169.254:80', '[fd00:ec2::254]:80', '10.96.0.1:443', '140.82.121.4:443', '1.1.1.1:53', 'mirror.example@127.0.0.3:PORT',
    '127.0.0.3:PORT#mirror.example', 'mirror.example:PORT:PORT', 'mirror.example:0', 'mirror.example:99999', 'mirror.example:', 'mirror.example', ':PORT', '/', '*', 'mirror.example%00.evil.example:PORT', 'mirror%2eexample:PORT',
    'mirror\u2024example:PORT', '\uff4dirror.example:PORT', 'xmirror.example:PORT', 'mirror.example.evil.example:PORT', 'files.example:PORT', 'evilfiles.example:PORT', 'sub.mirror.example:PORT', '192.0.2.7.evil.example:80',
  ]; // biome-ignore format: a list reads better in lines
  it(`does not come to what it was not let to by any of ${TARGETS.length} ways of writing it, by CONNECT and plainly`, async () => {
    for (const [name] of world.names) world.names.set(name, ['127.0.0.2']);
    const before = [canary.connections(), origin.connections()];
    for (const target of TARGETS.map((one) => one.replaceAll('PORT', String(origin.port)))) {
      const authorization = `Host: x\r\nProxy-Authorization: ${`Basic ${Buffer.from(`sandbox:${world.password()}`).toString('base64')}`}\r\nConnection: close\r\n\r\n`;
      const connected = await world.raw(`CONNECT ${target} HTTP/1.1\r\n${authorization}`);
      expect([target, connected.slice(0, 12)]).toEqual([target, expect.stringMatching(/^(HTTP\/1\.1 40[03]|)$/)]);
      if (target.startsWith('mirror.example:') || target === 'mirror.example') continue;
      const plain = await world.raw(`GET http://${target}/ HTTP/1.1\r\n${authorization}`);
      expect([target, plain.slice(0, 12)]).toEqual([target, expect.stringMatching(/^(HTTP\/1\.1 40[03]|)$/)]);
    }
    expect([canary.connections(), origin.connections()]).toEqual(before);
    expect(world.asked).toEqual([]);
  });

  it('cannot use other schemes or forms of a request', async () => {
    const authorization = `Host: mirror.example\r\nProxy-Authorization: ${`Basic ${Buffer.from(`sandbox:${world.password()}`).toString('base64')}`}\r\nConnection: close\r\n\r\n`;
    const before = origin.connections();
    for (const target of [
      `https://mirror.example:${origin.port}/`,
      `ftp://mirror.example:${origin.port}/`,
      'file:///etc/passwd',
      '/',
      `//mirror.example:${origin.port}/`,
      `http://user@mirror.example:${origin.port}/`,
      `http:mirror.example:${origin.port}/`,
      'http:///',
    ])
      expect([target, (await world.raw(`GET ${target} HTTP/1.1\r\n${authorization}`)).slice(0, 12)]).toEqual([
        target,
        expect.stringMatching(/^HTTP\/1\.1 40[03]$/),
      ]);
    expect(origin.connections()).toBe(before);
  });

  it('cannot say two names of a host: what counts, and what the host hears, is that of the address', async () => {
    const answer = await world.get(
      `http://mirror.example:${origin.port}/`,
      {},
      'Host: evil.example\r\nhOST: other.example\r\n',
    );
    expect(answer).toMatch(/^HTTP\/1\.1 200/);
    const names = origin.seen[0]?.rawHeaders.filter(
      (_text, index, all) => index % 2 === 1 && all[index - 1]?.toLowerCase() === 'host',
    );
    expect(names).toEqual([`mirror.example:${origin.port}`]);
  });

  for (const address of [
    '127.0.0.3',
    '10.0.0.1',
    '100.64.0.1',
    '169.254.169.254',
    '172.16.0.1',
    '192.168.0.1',
    '0.0.0.0',
    '::1',
    '::ffff:127.0.0.3',
    'fd00:ec2::254',
    'fd00:ec2::23',
    'fd00:c1::a9fe:a9fe',
    'fe80::1',
    '64:ff9b::a9fe:a9fe',
    '2002:a9fe:a9fe::',
    '140.82.121.4',
    '2606:50c0::1',
    'not-an-address',
  ])
    it(`does not reach a listed host that says it is at ${address}`, async () => {
      world.names.set('mirror.example', [address]);
      const before = canary.connections();
      const { status, problem } = await world.tunnel(`mirror.example:${origin.port}`);
      expect([status, problem.reason, canary.connections()]).toEqual([403, 'address', before]);
    });

  it('does not reach an address that is on the list and that no sandbox may reach, and a literal one is not resolved', async () => {
    const { status, problem } = await world.tunnel('192.0.2.7:443');
    expect([status, problem.reason, world.asked]).toEqual([403, 'address', []]);
  });

  it('is connected to the address that was checked: of two only the one that may be reached, asked for once, and again at the next connection', async () => {
    world.names.set('mirror.example', ['127.0.0.3', '127.0.0.2']);
    const before = canary.connections();
    for (let time = 0; time < 5; time += 1)
      expect(await world.get(`http://mirror.example:${origin.port}/`)).toMatch(/^HTTP\/1\.1 200/);
    expect(world.asked).toEqual(Array.from({ length: 5 }, () => 'mirror.example'));
    world.names.set('mirror.example', ['127.0.0.3']);
    expect(await world.get(`http://mirror.example:${origin.port}/`)).toMatch(/^HTTP\/1\.1 403/);
    expect([canary.connections(), origin.seen.length]).toEqual([before, 5]);
  });

  it('learns how far the proxy got when a host does not exist or does not answer', async () => {
    world.names.delete('mirror.example');
    const nowhere = await world.tunnel(`mirror.example:${origin.port}`);
    expect([nowhere.status, nowhere.problem.code, nowhere.problem.detail]).toEqual([
      502,
      'egress.unreachable',
      'mirror.example cannot be resolved: ENOTFOUND.',
    ]);
    world.names.set('mirror.example', ['127.0.0.2']);
    const closed = await startBytes(() => {}, '127.0.0.2');
    await closed.close();
    const other = await TestEgress.start({ EGRESS_PORTS: String(closed.port), EGRESS_PERMITTED_RANGES: '127.0.0.2' });
    other.names.set('mirror.example', ['127.0.0.2']);
    const dead = await other.tunnel(`mirror.example:${closed.port}`);
    expect([dead.status, dead.problem.detail]).toEqual([
      502,
      `mirror.example does not take connections on port ${closed.port}: ECONNREFUSED.`,
    ]);
    await other.close();
  });

  it('may end its side of a connection and still get the remaining answer', async () => {
    const bytes = await startBytes(
      (socket) => void text(socket).then((said) => socket.end(`you said ${said}`)),
      '127.0.0.2',
    );
    const other = await TestEgress.start({ EGRESS_PORTS: String(bytes.port), EGRESS_PERMITTED_RANGES: '127.0.0.2' });
    other.names.set('mirror.example', ['127.0.0.2']);
    const { socket } = await other.tunnel(`mirror.example:${bytes.port}`);
    socket.end('less');
    expect(await text(socket)).toBe('you said less');
    await other.close();
    await bytes.close();
  });

  it('sees a connection that breaks as broken', async () => {
    const bytes = await startBytes((socket) => socket.once('data', () => socket.resetAndDestroy()), '127.0.0.2');
    const other = await TestEgress.start({ EGRESS_PORTS: String(bytes.port), EGRESS_PERMITTED_RANGES: '127.0.0.2' });
    other.names.set('mirror.example', ['127.0.0.2']);
    const { socket } = await other.tunnel(`mirror.example:${bytes.port}`);
    socket.write('x');
    socket.resume();
    await once(socket, 'close');
    await other.close();
    await bytes.close();
  });

  it('and a host that says what is no HTTP do the proxy no harm: the one request fails, the next one passes', async () => {
    let words = '';
    const bytes = await startBytes((socket) => void socket.end(Buffer.from(words, 'latin1')), '127.0.0.2');
    const other = await TestEgress.start({
      EGRESS_PORTS: String(bytes.port),
      EGRESS_PERMITTED_RANGES: '127.0.0.2',
      EGRESS_IDLE_SECONDS: '1',
    });
    other.names.set('mirror.example', ['127.0.0.2']);
    const url = `http://mirror.example:${bytes.port}/`;
    const last = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
    for (const said of [
      '',
      'nonsense',
      'HTTP/1.1 999 \x01\x7f\xff\r\n\r\n',
      'HTTP/1.1 099 x\r\n\r\n',
      'HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n',
      'HTTP/1.1 100 Continue\r\n\r\n',
      'HTTP/1.1 200 OK\r\nX: \x00\x01\r\n\r\n',
      'HTTP/1.1 200 OK\r\nX\x01: y\r\n\r\n',
      'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
      'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nless',
      `HTTP/1.1 200 OK\r\nX: ${'y'.repeat(100_000)}\r\n\r\n`,
      'HTTP/1.1 204 No\r\nContent-Length: 3\r\n\r\nabc',
    ]) {
      // biome-ignore format: a list reads better in lines
      words = said;
      const answer = await other.get(url);
      expect([said, answer.slice(0, 12)]).toEqual([said, expect.stringMatching(/^(HTTP\/1\.1 (502|200|204|999)|)$/)]);
      words = last;
      expect(await other.get(url)).toMatch(/^HTTP\/1\.1 200 OK[\s\S]*ok$/);
    }
    await other.close();
    await bytes.close();
  });

  it('cannot hide where its body ends: no second request is behind the first', async () => {
    const hidden = 'GET /hidden HTTP/1.1\r\nHost: evil.example\r\n\r\n';
    for (const more of [
      `Connection: content-length, close\r\nContent-Length: ${hidden.length}\r\n`,
      `Content-Length: 0\r\nTransfer-Encoding: chunked\r\n`,
      `Content-Length: 0\r\nContent-Length: ${hidden.length}\r\n`,
    ]) {
      origin.seen.length = 0;
      await world.raw(
        `GET http://mirror.example:${origin.port}/shown HTTP/1.1\r\nHost: x\r\nProxy-Authorization: Basic ${Buffer.from(`sandbox:${world.password()}`).toString('base64')}\r\n${more}Connection: close\r\n\r\n${hidden}`,
      );
      expect(origin.seen.map(({ url }) => url)).not.toContain('/hidden');
    }
  });

  it('finds nothing of the platform behind the port of the proxy: health and metrics answer on another', async () => {
    for (const path of ['/metrics', '/ready', '/alive'])
      expect((await world.get(path)).slice(0, 12)).toBe('HTTP/1.1 403');
    const page = await (await fetch(`${world.proxy.metricsUrl}/metrics`)).text();
    expect(page).toMatch(/egress_requests_total\{kind="connect",egress="packages",outcome="host"/);
    expect(page).not.toContain('mirror.example');
    expect(page).not.toContain(CLAIMS.claim);
  });
});
