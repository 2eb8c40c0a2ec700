import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { AddressRanges, reachableOf } from '@slipway/outside';
import { until } from '@slipway/testing';
import fc from 'fast-check';
import { HostRules } from './admission/host-rules.js';
import { SandboxSeats } from './admission/sandbox-seats.js';
import { loadConfig } from './config.js';
import { type Origin, RULES, SECRET, startBytes, TestEgress } from './testing/test-egress.js';

describe('the limits of a connection', () => {
  let origin: Omit<Origin, 'seen'>;
  const worlds: TestEgress[] = [];
  const start = async (settings: Record<string, string>): Promise<TestEgress> => {
    const world = await TestEgress.start({
      EGRESS_PORTS: String(origin.port),
      EGRESS_PERMITTED_RANGES: '127.0.0.1',
      ...settings,
    });
    worlds.push(world);
    world.names.set('mirror.example', ['127.0.0.1']);
    return world;
  };
  beforeAll(async () => {
    // Says on every word how much of it there was.
    origin = await startBytes((socket) =>
      socket.on('end', () => socket.end()).on('data', (chunk) => socket.write(Buffer.alloc(chunk.length))),
    );
  });
  afterAll(async () => {
    await Promise.all(worlds.map((world) => world.close()));
    await origin?.close();
  });

  it('hold for one sandbox: it may have so many at once, another has its own, and one that ends makes room', async () => {
    const world = await start({ EGRESS_CONNECTIONS_PER_SANDBOX: '2' });
    const target = `mirror.example:${origin.port}`;
    const [first] = [await world.tunnel(target), await world.tunnel(target)];
    const third = await world.tunnel(target);
    expect([third.status, third.problem.code]).toEqual([429, 'egress.limit']);
    expect((await world.tunnel(target, { claim: 'clm_2' })).status).toBe(200);
    first.socket.destroy();
    await until('there is room', async () => (await world.tunnel(target)).status === 200);
  });

  it('end one that carried too much, one that is too old and a silent one', async () => {
    const bytes = await start({ EGRESS_MAX_BYTES: '100000' });
    const target = `mirror.example:${origin.port}`;
    const much = await bytes.tunnel(target);
    much.socket.resume().write(Buffer.alloc(90_000));
    await once(much.socket, 'close');
    const old = await start({ EGRESS_MAX_SECONDS: '1' });
    const { socket } = await old.tunnel(target);
    socket.resume();
    const talk = setInterval(() => socket.write('x'), 50);
    await once(socket, 'close');
    clearInterval(talk);
    const idle = await start({ EGRESS_IDLE_SECONDS: '1' });
    await once((await idle.tunnel(target)).socket.resume(), 'close');
  });

  it('let nothing new in while this replica ends, and wait for what is open', async () => {
    const world = await start({});
    const target = `mirror.example:${origin.port}`;
    const { socket } = await world.tunnel(target);
    let settled = false;
    const settling = world.proxy.settle(20_000).then(() => (settled = true));
    const late = await world.tunnel(target);
    expect([late.status, late.problem.code, settled]).toEqual([503, 'service.unavailable', false]);
    socket.write('still');
    await once(socket.resume(), 'data');
    socket.destroy();
    await settling;
  });

  it('are not in the way of a sandbox that is slow: what it may begin comes back with time, five seconds of it at most', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 400 }), { minLength: 1, maxLength: 300 }), (pauses) => {
        let now = 0;
        const seats = new SandboxSeats({ connections: 1_000_000, perSecond: 10 }, () => now);
        let begun = 0;
        for (const pause of pauses) {
          now += pause;
          try {
            seats.take('clm_1');
            begun += 1;
          } catch {
            // It is asked to wait.
          }
          expect(begun).toBeLessThanOrEqual(50 + (now / 1000) * 10 + 1e-6);
        }
        if (pauses.every((pause) => pause >= 100)) expect(begun).toBe(pauses.length);
      }),
    );
  });
});

describe('the addresses of a host', () => {
  const own = new Set(['10.244.1.7', '20.30.0.7']);
  const reached = (addresses: string[], permitted = '', cluster = ''): string[] =>
    reachableOf(addresses, { cluster: AddressRanges.read(cluster), permitted: AddressRanges.read(permitted) }, own);

  it('are reached when they are of the internet or permitted, and never when they are the cluster\u2019s', () => {
    expect(reached(['140.82.121.4', '10.20.7.1', '2606:50c0::1', '::ffff:140.82.121.4'])).toEqual([
      '140.82.121.4',
      '2606:50c0::1',
    ]);
    expect(reached(['10.20.7.1', '10.20.8.1'], '10.20.7.0/24')).toEqual(['10.20.7.1']);
    expect(reached(['140.82.121.4', '10.20.7.1'], '10.20.7.0/24', '140.82.0.0/16,10.20.7.1')).toEqual([]);
  });

  it('that are this machine\u2019s own are reached only when each is permitted by its own number, public ones too', () => {
    expect(reached(['10.244.1.7', '20.30.0.7', '10.244.1.8'], '10.244.0.0/16')).toEqual(['10.244.1.8']);
    expect(reached(['10.244.1.7', '20.30.0.7'], '10.244.1.7,20.30.0.7/32')).toEqual(['10.244.1.7', '20.30.0.7']);
  });
});

describe('the configuration', () => {
  const env = { EGRESS_SECRET: SECRET, EGRESS_RULES: JSON.stringify(RULES) };

  it('refuses to permit, in production, what nothing in a sandbox may reach', () => {
    for (const range of [
      '127.0.0.0/8',
      '0.0.0.0/0',
      '169.254.169.254',
      '::/0',
      'fe80::/64',
      '10.0.0.0/8,168.63.129.16',
      'fd00::/8',
    ])
      expect(() => loadConfig({ ...env, NODE_ENV: 'production', EGRESS_PERMITTED_RANGES: range })).toThrow(
        'EGRESS_PERMITTED_RANGES',
      );
    expect(() =>
      loadConfig({ ...env, EGRESS_PERMITTED_RANGES: '10.0.0.0/8', EGRESS_CLUSTER_RANGES: '10.244.0.0/16' }),
    ).toThrow('EGRESS_CLUSTER_RANGES');
    loadConfig({
      ...env,
      NODE_ENV: 'production',
      EGRESS_PERMITTED_RANGES: '10.20.0.0/16,fd12:3456::/48',
      EGRESS_CLUSTER_RANGES: '10.244.0.0/16',
    });
  });

  it('names every wrong variable, and of the rules every entry that is no host', () => {
    expect(() =>
      loadConfig({ EGRESS_SECRET: 'short-secret', EGRESS_PORTS: '80,x', EGRESS_CLUSTER_RANGES: '10.0.0.0/40' }),
    ).toThrow(/EGRESS_SECRET[\s\S]*EGRESS_RULES[\s\S]*EGRESS_PORTS[\s\S]*EGRESS_CLUSTER_RANGES: "10.0.0.0\/40"/);
    expect(() => loadConfig({ EGRESS_SECRET: 'short-secret' })).not.toThrow('short-secret');
    const rules = {
      commonHosts: ['*.com'],
      packageHosts: ['https://mirror.example'],
      templates: [{ name: 'narrow', egress: 'allow-list' as const, allowedHosts: ['ok.example', '*'] }],
    };
    expect(() => new HostRules(rules, [443])).toThrow(
      /commonHosts: "\*\.com"[\s\S]*packageHosts: "https:[\s\S]*templates\.narrow\.allowedHosts: "\*"/,
    );
  });

  it('reads ranges of both families apart', () => {
    const ranges = AddressRanges.read('10.0.0.0/8, 2001:db8::/32,192.0.2.7');
    expect(
      ['10.1.2.3', '2001:db8::1', '192.0.2.7', '192.0.2.8', '::ffff:10.1.2.3', '2001:db8::1%eth0', 'x'].map((one) =>
        ranges.has(one),
      ),
    ).toEqual([true, true, true, false, false, false, false]);
    expect(
      [
        AddressRanges.read('10.1.0.0/16'),
        AddressRanges.read('0.0.0.0/0'),
        AddressRanges.read('11.0.0.0/8'),
        AddressRanges.read(''),
      ].map((other) => [ranges.overlaps(other), other.overlaps(ranges)]),
    ).toEqual([
      [true, true],
      [true, true],
      [false, false],
      [false, false],
    ]);
    for (const text of ['10.0.0.0/33', '10.0.0/8', 'fe80::1%eth0/64', '10.0.0.0/', 'x', '10.0.0.0/8/8'])
      expect(() => AddressRanges.read(text)).toThrow('is no range');
  });
});
