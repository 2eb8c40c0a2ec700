import { once } from 'node:events';
import { connect, createServer } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { EgressClaims } from '@slipway/contracts/sandboxes';
import { until } from '@slipway/testing';
import { loadConfig } from './config.js';
import { BROKER_SECRET, startBroker, type TestBroker } from './testing/test-broker.js';
import { CONTROL_SECRET, TestControl } from './testing/test-control.js';
import {
  basic,
  CLAIMS,
  type Origin,
  RULES,
  SECRET,
  startOrigin,
  TestEgress,
  type Tunnel,
} from './testing/test-egress.js';

const OF: Partial<EgressClaims> = { conversation: 'cnv_1' };
/** A shared key, so that no certificate is needed. */
const PSK = { psk: Buffer.alloc(32, 7), identity: 'sandbox' };
const TLS = { ciphers: 'PSK-AES256-GCM-SHA384', maxVersion: 'TLSv1.2', minVersion: 'TLSv1.2' } as const;

describe('a host at which a credential is used', () => {
  let control: TestControl;
  let broker: TestBroker;
  let origin: Origin;
  let world: TestEgress;
  let place: string;
  beforeEach(async () => {
    const opened = createServer({ ...TLS, pskCallback: () => PSK.psk }, (socket) => void socket.pipe(socket));
    control = await TestControl.start();
    broker = await startBroker((heard, chunk) => {
      if (heard.line?.tls !== true)
        return void (heard.bytes.includes('\r\n\r\n') && heard.socket.end(answerTo(heard.bytes)));
      if (heard.socket.listenerCount('data') !== 1) return;
      heard.socket.removeAllListeners('data').pause().unshift(Buffer.from(chunk, 'latin1'));
      opened.emit('connection', heard.socket);
    });
    origin = await startOrigin(undefined, '127.0.0.2');
    world = await start(broker.port);
    place = `mirror.example:${origin.port}`;
    control.answers.set('mirror.example', { brokered: true });
    await until('changes are heard', () => control.hears);
  });
  afterEach(async () => {
    await world?.close();
    await Promise.all([broker?.close(), origin?.close()]);
    await control?.close();
  });
  const start = async (port: number): Promise<TestEgress> => {
    const made = await TestEgress.start({
      EGRESS_PORTS: `80,443,${origin.port}`,
      EGRESS_PERMITTED_RANGES: '127.0.0.2/32',
      EGRESS_CONTROL_URL: control.url,
      EGRESS_CONTROL_SECRET: CONTROL_SECRET,
      EGRESS_HOLD_SECONDS: '0',
      BROKER_URL: `tcp://127.0.0.1:${port}`,
      BROKER_SECRET,
    });
    for (const name of ['mirror.example', 'git.example', 'new.example']) made.names.set(name, ['127.0.0.2']);
    return made;
  };
  const handshake = ({ socket }: Tunnel, servername: string) =>
    connect({ socket, servername, ...TLS, pskCallback: () => PSK, checkServerIdentity: () => undefined });
  const closed = async ({ socket }: Tunnel): Promise<void> => {
    socket.on('error', () => {}).resume();
    if (!socket.closed) await once(socket, 'close');
  };
  const path = (target: string, header: string, more = ''): Promise<string> =>
    world.raw(`GET ${target} HTTP/1.1\r\nHost: proxy\r\n${header}Connection: close\r\n${more}\r\n`);

  it('is reached through credential-broker, which hears whose connection it is; its name is not resolved', async () => {
    const tunnel = await world.tunnel(place, OF);
    expect(tunnel.status).toBe(200);
    const secured = handshake(tunnel, 'mirror.example');
    secured.write('within TLS');
    expect(String((await once(secured, 'data'))[0])).toBe('within TLS');
    secured.destroy();
    expect(broker.heard.map(({ line }) => line)).toEqual([
      {
        claim: CLAIMS.claim,
        org: CLAIMS.org,
        conversation: 'cnv_1',
        host: 'mirror.example',
        port: origin.port,
        rule: null,
        tls: true,
      },
    ]);
    expect([world.asked, origin.connections()]).toEqual([[], 0]);
    expect(control.questions).toMatchObject([{ host: 'mirror.example', listed: true, openedBy: null }]);
  });

  it('of another conversation passes unopened, as do hosts without a credential', async () => {
    const tunnel = await world.tunnel(`git.example:${origin.port}`, OF);
    tunnel.socket.write('GET / HTTP/1.1\r\nHost: git.example\r\nConnection: close\r\n\r\n');
    expect(String((await once(tunnel.socket.resume(), 'data'))[0])).toContain('200 OK');
    expect(broker.heard).toEqual([]);
  });

  it('that is not listed is reached so by the rule that allows it', async () => {
    control.answers.set('new.example', { decision: 'allow', rule: 'egr_1', brokered: true });
    (await world.tunnel(`new.example:${origin.port}`, OF)).socket.destroy();
    await until('the broker has heard of it', () => broker.heard.length === 1);
    expect(broker.heard[0]?.line).toMatchObject({ host: 'new.example', rule: 'egr_1' });
  });

  it('is not reached where the broker is away, neither by it nor past it', async () => {
    await broker.close();
    const { status, phrase, problem } = await world.tunnel(place, OF);
    expect([status, problem.code, problem.reason]).toEqual([502, 'egress.unreachable', 'broker']);
    expect(phrase).toContain('credential-broker');
    expect([world.asked, origin.connections()]).toEqual([[], 0]);
    const answer = await path(`/-/https/${place}/x`, `Authorization: ${basic(world.password(OF))}\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 502 [\s\S]*"reason":"broker"/);
  });

  it('adversary: sends what is not TLS, or TLS for another server: not a byte of it reaches the broker', async () => {
    for (const bytes of ['GET / HTTP/1.1\r\nHost: mirror.example\r\n\r\n', 'SSH-2.0-x\r\n']) {
      const tunnel = await world.tunnel(place, OF);
      tunnel.socket.write(bytes);
      await closed(tunnel);
    }
    const secured = handshake(await world.tunnel(place, OF), 'evil.example');
    const [error] = (await once(secured, 'error').catch((thrown: unknown) => [thrown])) as [Error];
    expect(error.message).toMatch(/unrecognized name|alert number 112/i);
    await until('all three have reached it', () => broker.heard.length === 3);
    expect(broker.heard.map(({ bytes }) => bytes)).toEqual(['', '', '']);
  });

  it('adversary: asks for it over plain http, by CONNECT to port 80 as well: nothing goes in clear', async () => {
    expect(await world.get(`http://${place}/`, OF)).toMatch(/^HTTP\/1\.1 403 Slipway egress: [\s\S]*"in-clear"/);
    const { status, problem } = await world.tunnel('mirror.example:80', OF);
    expect([status, problem.reason]).toEqual([403, 'in-clear']);
    expect([broker.heard, world.asked, origin.connections()]).toEqual([[], [], 0]);
  });

  it('adversary: asks while app-server is away: what was seen to be a place is refused, the rest of the list passes', async () => {
    (await world.tunnel(place, OF)).socket.destroy();
    control.leave();
    // Another conversation of the organization: nothing is remembered of it.
    const other = { claim: 'clm_2', conversation: 'cnv_2' };
    const { status, problem } = await world.tunnel(place, other);
    expect([status, problem.code]).toEqual([403, 'egress.undecided']);
    expect(await world.get(`http://${place}/`, other)).toContain('egress.undecided');
    expect((await world.tunnel(`git.example:${origin.port}`, other)).status).toBe(200);
    expect((await world.tunnel(`new.example:${origin.port}`, other)).problem.code).toBe('egress.undecided');
    // Of another organization nothing is known.
    expect((await world.tunnel(place, { ...other, org: 'org_2' })).status).toBe(200);
  });

  it('is cut where it was open unopened: a credential was added, or the question had failed', async () => {
    control.answers.delete('mirror.example');
    const open = await world.tunnel(place, OF);
    expect(open.status).toBe(200);
    control.answers.set('mirror.example', { brokered: true });
    control.changed(CLAIMS.org);
    await closed(open);
    control.leave();
    const other = { org: 'org_2', conversation: 'cnv_2' };
    const passed = await world.tunnel(place, other);
    expect(passed.status).toBe(200);
    control.here = true;
    await closed(passed);
    // And the other way round: without its credential it needs no broker any more.
    const brokered = await world.tunnel(place, OF);
    control.answers.delete('mirror.example');
    control.changed(CLAIMS.org);
    await closed(brokered);
    expect((await world.tunnel(place, OF)).status).toBe(200);
    expect(broker.heard).toHaveLength(1);
  });

  it('and a listed one that a rule refuses: what is open is cut, nothing new passes, not without app-server either', async () => {
    const target = `git.example:${origin.port}`;
    const open = await world.tunnel(target, OF);
    control.answers.set('git.example', { decision: 'deny', rule: 'egr_2' });
    control.changed(CLAIMS.org);
    await closed(open);
    expect((await world.tunnel(target, OF)).problem).toMatchObject({ code: 'egress.refused', reason: 'rule' });
    control.leave();
    expect((await world.tunnel(target, { ...OF, claim: 'clm_2' })).status).toBe(403);
  });

  it('adversary: has a credential of before conversations were named: nothing is put into its requests', async () => {
    const { status, problem } = await world.tunnel(place);
    expect([status, problem.reason, broker.heard]).toEqual([502, 'broker', []]);
  });

  describe('by its path endpoint', () => {
    it('hears the request as the host would, with neither the credential of the sandbox nor what is of one hop', async () => {
      const password = world.password(OF);
      for (const header of [basic(password), `Bearer ${password}`]) {
        const answer = await path(
          '/-/https/mirror.example/v1//a%2Fb?x=1',
          `Authorization: ${header}\r\n`,
          'X-Mine: 1\r\nProxy-Authorization: Basic eDp5\r\nTE: trailers\r\n',
        );
        expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
      }
      expect(broker.heard).toHaveLength(2);
      for (const { line, bytes } of broker.heard) {
        expect(line).toMatchObject({ host: 'mirror.example', port: 443, tls: false, conversation: 'cnv_1' });
        expect(bytes).toMatch(/^GET \/v1\/\/a%2Fb\?x=1 HTTP\/1\.1\r\nhost: mirror\.example\r\nX-Mine: 1\r\n/);
        expect(bytes).not.toMatch(/authorization|slp_egr_|\nTE/i);
      }
      await path(`/-/https/${place}`, `Authorization: ${basic(password)}\r\n`);
      expect(broker.heard[2]?.bytes).toContain(`GET / HTTP/1.1\r\nhost: ${place}\r\n`);
    });

    it('adversary: without a credential, with a forged one, of another pod or in the wrong header: 403, never 401', async () => {
      const elsewhere = basic(world.password({ ...OF, address: '127.0.0.9' }));
      for (const header of [
        '',
        `Authorization: ${elsewhere}\r\n`,
        `Authorization: Bearer ${world.password(OF).slice(0, -1)}\r\n`,
        `Proxy-Authorization: ${basic(world.password(OF))}\r\n`,
      ]) {
        const answer = await path('/-/https/mirror.example/', header);
        expect(answer).toMatch(/^HTTP\/1\.1 403 [\s\S]*egress\.no-credential/);
        expect(answer).not.toMatch(/\r\n(?:www|proxy)-authenticate/i);
      }
      expect([broker.heard, control.questions]).toEqual([[], []]);
    });

    it('adversary: of a host without a credential, of one that is not allowed, and of none: nothing is dialled', async () => {
      const header = `Authorization: ${basic(world.password(OF))}\r\n`;
      expect(await path('/-/https/git.example/', header)).toMatch(/^HTTP\/1\.1 403 [\s\S]*"not-brokered"/);
      expect(await path('/-/https/evil.example/', header)).toMatch(/^HTTP\/1\.1 403 [\s\S]*"reason":"rule"/);
      for (const target of [
        '/-/http/mirror.example/',
        '/-/https/user@mirror.example/',
        '/-/https/mirror.example:0/',
        '/-/https//mirror.example/',
        '/-/https/',
        '/-/https/mirror%2eexample/',
        '/-/https/mirror.example:443:443/',
        '/-/../-/https/mirror.example/',
        '/mirror.example/',
      ])
        expect([target, await path(target, header)]).toEqual([target, expect.stringMatching(/^HTTP\/1\.1 40[37] /)]);
      expect([broker.heard, world.asked, origin.connections()]).toEqual([[], [], 0]);
    });
  });
});

describe('the configuration of the broker', () => {
  const given = {
    EGRESS_SECRET: SECRET,
    EGRESS_RULES: JSON.stringify(RULES),
    EGRESS_CONTROL_URL: 'http://app:3008',
    EGRESS_CONTROL_SECRET: CONTROL_SECRET,
    BROKER_URL: 'tcp://broker:3011',
    BROKER_SECRET,
  };
  it('takes an address of either spelling, and refuses one without port, half of it, and one without app-server', () => {
    for (const url of ['tcp://broker:3011', 'http://broker:3011', 'http://broker:3011/'])
      expect(loadConfig({ ...given, BROKER_URL: url }).BROKER_URL).toEqual({ host: 'broker', port: 3_011 });
    expect(loadConfig({ ...given, BROKER_URL: 'tcp://[fd00::1]:80' }).BROKER_URL).toEqual({
      host: 'fd00::1',
      port: 80,
    });
    for (const wrong of [
      'tcp://broker',
      'https://broker:1',
      'tcp://broker:70000',
      'tcp://user@broker:1',
      'tcp://b:1/x',
    ])
      expect(() => loadConfig({ ...given, BROKER_URL: wrong })).toThrow(/BROKER_URL/);
    const { BROKER_SECRET: _secret, ...half } = given;
    expect(() => loadConfig(half)).toThrow(/BROKER_URL/);
    const { EGRESS_CONTROL_URL: _url, EGRESS_CONTROL_SECRET: _control, ...alone } = given;
    expect(() => loadConfig(alone)).toThrow(/EGRESS_CONTROL_URL/);
  });
});

function answerTo(request: string): string {
  return `HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-Line: ${request.split('\r\n')[0]}\r\nConnection: close\r\n\r\nok`;
}
