import { randomBytes } from 'node:crypto';
import { Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { EgressBytes, EgressBytesQuestion } from '@slipway/contracts/sandboxes';
import { createLogger } from '@slipway/telemetry';
import { until } from '@slipway/testing';
import fc from 'fast-check';
import type { User } from '../../apps/app-server/dist/testing/conversation-app.js';
import { Allowance } from '../../apps/egress-proxy/dist/budget/allowance.js';
import { EgressBudgets } from '../../apps/egress-proxy/dist/budget/egress-budgets.js';
import { ControlClient } from '../../apps/egress-proxy/dist/control/control-client.js';
import type { Line } from '../../apps/egress-proxy/dist/lines/line.js';
import { OpenLines } from '../../apps/egress-proxy/dist/lines/open-lines.js';
import {
  basic,
  CLAIMS,
  startBytes,
  TestEgress,
  type Tunnel,
} from '../../apps/egress-proxy/dist/testing/test-egress.js';
import { EgressWorld, type Sandbox } from './world.ts';

jest.setTimeout(120_000);

const OUTSIDE = '127.0.0.2';
const MB = 1024 * 1024;

describe('a sandbox whose organization has an egress budget', () => {
  let world: EgressWorld;
  let ada: User;
  let proxies: TestEgress[];
  let sink: Awaited<ReturnType<typeof startBytes>>;
  let received = 0;
  let control: ControlClient;
  beforeAll(async () => {
    world = await EgressWorld.start(0);
    sink = await startBytes((socket) => {
      let here = 0;
      socket.on('data', (chunk) => {
        received += chunk.length;
        here += chunk.length;
      });
      socket.on('end', () => socket.end(String(here)));
    }, OUTSIDE);
    proxies = await Promise.all([1, 2].map(() => open()));
    control = new ControlClient(world.controlUrl, world.controlSecret);
    ada = await world.app.user('Ada');
    for (const host of ['*.sink.example', '*.other.example'])
      expect(await world.rule(ada, { host: `${host}:${sink.port}`, action: 'allow' })).toMatchObject({ status: 201 });
  });
  afterEach(() => budget({ egressDailyMb: null, egressDailyMbPerHost: null }));
  afterAll(async () => {
    control.close();
    await Promise.all(proxies.map((proxy) => proxy.close()));
    await Promise.all([world.close(), sink.close()]);
  });

  async function open(): Promise<TestEgress> {
    const proxy = await TestEgress.start({
      EGRESS_PERMITTED_RANGES: `${OUTSIDE}/32`,
      EGRESS_PORTS: `443,${sink.port}`,
      EGRESS_CONTROL_URL: world.controlUrl,
      EGRESS_CONTROL_SECRET: world.controlSecret,
      EGRESS_HOLD_SECONDS: '0',
      EGRESS_REQUESTS_PER_SECOND: '10000',
    });
    for (let each = 0; each < 20; each += 1) proxy.names.set(`h${each}.sink.example`, [OUTSIDE]);
    proxy.names.set('h0.other.example', [OUTSIDE]);
    return proxy;
  }
  const budget = async (settings: object): Promise<void> => {
    const { status } = await world.app.http(ada, 'PATCH', `/api/v1/orgs/${ada.orgId}/settings`, settings);
    expect(status).toBe(200);
  };
  const connect = (proxy: TestEgress | undefined, sandbox: Sandbox, host: string): Promise<Tunnel> =>
    (proxy as TestEgress).tunnel(`${host}:${sink.port}`, { ...CLAIMS, ...sandbox });
  /** @returns whether all of it has arrived. */
  const upload = async (proxy: TestEgress | undefined, sandbox: Sandbox, host: string, bytes: number) => {
    const { status, socket } = await connect(proxy, sandbox, host);
    if (status !== 200) return false;
    let answer = '';
    socket.on('data', (chunk) => (answer += String(chunk)));
    const closed = closing(socket);
    socket.end(Buffer.alloc(bytes, 'x'));
    await closed;
    return answer === String(bytes);
  };
  const spent = async ({ conversation }: Sandbox, host = ''): Promise<number> => {
    const { rows } = await world.app.owner.query<{ bytes: string }>(
      'SELECT bytes FROM app.egress_spent WHERE conversation_id = $1 AND host = $2',
      [conversation, host],
    );
    return Number(rows[0]?.bytes ?? 0);
  };
  const settled = (sandbox: Sandbox): Promise<unknown> =>
    until('nothing is reserved', async () => {
      const { rowCount } = await world.app.owner.query('SELECT 1 FROM app.egress_grant WHERE conversation_id = $1', [
        sandbox.conversation,
      ]);
      return rowCount === 0;
    });

  it('sends no byte over it by 1,000 uploads that race over two proxies and twenty hosts', async () => {
    await budget({ egressDailyMb: 5 });
    const sandbox = await world.sandbox(ada);
    received = 0;
    let next = 0;
    let whole = 0;
    const one = async (): Promise<void> => {
      while (next < 1_000) {
        const each = next++;
        if (await upload(proxies[each % 2], sandbox, `h${each % 20}.sink.example`, 16_384)) whole += 1;
      }
    };
    await Promise.all(Array.from({ length: 60 }, one));
    await settled(sandbox);
    const total = await spent(sandbox);
    // 16.4 MB were tried. What was refused near the end is less than one upload.
    expect(received).toBeLessThanOrEqual(total);
    expect(total).toBeLessThanOrEqual(5 * MB);
    expect(received).toBeGreaterThan(5 * MB - 60 * 16_384);
    expect([whole > 200, whole < 1_000]).toEqual([true, true]);
    // The last of it, to the byte.
    for (let bytes = 16_384; bytes >= 1; bytes /= 2)
      while (await upload(proxies[0], sandbox, 'h1.sink.example', bytes)) await settled(sandbox);
    await settled(sandbox);
    expect([received, await spent(sandbox)]).toEqual([5 * MB, 5 * MB]);
    const { status, problem } = await connect(proxies[1], sandbox, 'h1.sink.example');
    expect([status, problem]).toEqual([
      403,
      expect.objectContaining({ code: 'egress.over-budget', detail: expect.stringMatching(/renews at .*T00:00:00/) }),
    ]);
    // Another conversation has a budget of its own.
    expect(await upload(proxies[0], await world.sandbox(ada), 'h1.sink.example', 1_000)).toBe(true);
  });

  it('cannot spend the budget of one host again by other names below its domain', async () => {
    await budget({ egressDailyMbPerHost: 1 });
    const sandbox = await world.sandbox(ada);
    expect(await upload(proxies[0], sandbox, 'h0.sink.example', 600_000)).toBe(true);
    await settled(sandbox);
    expect(await upload(proxies[1], sandbox, 'h1.sink.example', 600_000)).toBe(false);
    expect(await upload(proxies[0], sandbox, 'h0.other.example', 600_000)).toBe(true);
    await settled(sandbox);
    expect(await spent(sandbox, 'sink.example')).toBeLessThanOrEqual(MB);
    expect(await spent(sandbox, 'other.example')).toBe(600_000);
  });

  it('is cut when the budget comes while it sends, and goes on when it is raised', async () => {
    const sandbox = await world.sandbox(ada);
    const { socket } = await connect(proxies[0], sandbox, 'h2.sink.example');
    const closed = closing(socket);
    socket.write('before');
    await budget({ egressDailyMb: 1 });
    await closed;
    expect(await upload(proxies[0], sandbox, 'h2.sink.example', 2 * MB)).toBe(false);
    await budget({ egressDailyMb: 4 });
    await settled(sandbox);
    await until('the proxy has heard of it', () => upload(proxies[0], sandbox, 'h2.sink.example', 1_000));
  });

  it('is answered in words over plain http, and the heads of its requests count', async () => {
    await budget({ egressDailyMb: 1 });
    const sandbox = await world.sandbox(ada);
    const proxy = proxies[0] as TestEgress;
    const post = (bytes: number): Promise<string> =>
      proxy.raw(
        `POST http://h3.sink.example:${sink.port}/${'a'.repeat(900)} HTTP/1.1\r\nHost: h3.sink.example:${sink.port}\r\n` +
          `Proxy-Authorization: ${basic(proxy.password({ ...CLAIMS, ...sandbox }))}\r\nContent-Length: ${bytes}\r\n\r\n${'b'.repeat(bytes)}`,
      );
    const answer = await post(1_500_000);
    expect(answer).toMatch(/^HTTP\/1\.1 403 Slipway egress: The egress budget of this conversation is used up/);
    expect(answer).toContain('"egress.over-budget"');
    await settled(sandbox);
    expect(await spent(sandbox)).toBeGreaterThan(900);
    expect(await spent(sandbox)).toBeLessThanOrEqual(MB);
  });

  it('gains nothing by the name of a conversation that is not of its organization', async () => {
    await budget({ egressDailyMb: 1 });
    const eve = await world.app.user('Eve');
    const theirs = await world.sandbox(eve);
    const answer = await control.bytes(question({ ...theirs, org: ada.orgId }, 1_000));
    expect(answer).toMatchObject({ limited: true, bytes: 0 });
    const { rowCount } = await world.app.owner.query('SELECT 1 FROM app.egress_spent WHERE conversation_id = $1', [
      theirs.conversation,
    ]);
    expect(rowCount).toBe(0);
  });

  it('gets no more by reservations and settlements that are repeated, late or too large, in any order', async () => {
    await budget({ egressDailyMb: 1, egressDailyMbPerHost: 1 });
    const step = fc.oneof(
      fc.record({ do: fc.constant('reserve' as const), bytes: fc.integer({ min: 1, max: 700_000 }) }),
      fc.record({ do: fc.constant('again' as const), which: fc.nat(20), bytes: fc.integer({ min: 1, max: 700_000 }) }),
      fc.record({ do: fc.constant('settle' as const), which: fc.nat(20), used: fc.nat(1_000_000) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 15 }), async (steps) => {
        const sandbox = await world.sandbox(ada);
        const grants: Array<{ id: string; bytes: number; used: number | null }> = [];
        for (const each of steps) {
          const grant = each.do === 'reserve' ? undefined : grants[each.which % Math.max(grants.length, 1)];
          if (each.do === 'reserve') {
            const asked = question(sandbox, each.bytes);
            const { bytes } = await control.bytes(asked);
            if (bytes > 0) grants.push({ id: asked.reserve?.grant ?? '', bytes, used: null });
          } else if (grant !== undefined && each.do === 'settle') {
            await control.bytes({
              ...question(sandbox, 1),
              settled: [{ grant: grant.id, used: each.used }],
              reserve: null,
            });
            grant.used ??= Math.min(each.used, grant.bytes);
          } else if (grant !== undefined && grant.used === null && each.do === 'again') {
            const { bytes } = await control.bytes(question(sandbox, each.bytes, grant.id));
            expect(bytes).toBe(grant.bytes);
          }
          const sum = grants.reduce((total, { bytes, used }) => total + (used ?? bytes), 0);
          expect([await spent(sandbox), await spent(sandbox, 'sink.example')]).toEqual([sum, sum]);
          expect(sum).toBeLessThanOrEqual(MB);
        }
      }),
      { numRuns: 15 },
    );
  });
});

describe('an egress-proxy that cannot ask how much may be sent', () => {
  const spender = { org: 'org_1', conversation: null, host: 'h.example' };
  const renewsAt = '2026-12-01T00:00:00.000Z';

  it('sends what it has reserved and no more, and asks the same question until it is answered', async () => {
    const asked: EgressBytesQuestion[] = [];
    let here = true;
    let now = 0;
    const ask = async (each: EgressBytesQuestion): Promise<EgressBytes> => {
      asked.push(each);
      if (!here) throw new Error('app-server is away');
      return { limited: true, bytes: each.reserve?.bytes ?? 0, over: null, renewsAt };
    };
    const allowance = new Allowance(spender, {
      ask,
      now: () => (now += here ? 0 : 4_000),
      closing: new AbortController().signal,
    });
    expect(await allowance.begin()).toEqual({ limited: true, refusal: null });
    here = false;
    const reserved = asked[0]?.reserve?.bytes ?? 0;
    expect([allowance.tryTake(reserved), allowance.tryTake(1)]).toEqual([true, false]);
    expect(await allowance.take(1)).toEqual({ why: 'undecided' });
    const tries = asked.slice(1);
    expect(tries.length).toBeGreaterThan(1);
    expect(new Set(tries.map(({ reserve }) => reserve?.grant)).size).toBe(1);
    expect(tries[0]?.settled).toEqual([{ grant: asked[0]?.reserve?.grant, used: reserved }]);
    here = true;
    now += 1_000;
    expect(await allowance.take(1)).toBeNull();
  });
});

/** However it ends. */
function closing(socket: Socket): Promise<void> {
  return new Promise(
    (resolve) =>
      void socket
        .on('error', () => {})
        .once('close', () => resolve())
        .resume(),
  );
}

describe('a budget that comes while it is asked for', () => {
  const renewsAt = '2026-12-01T00:00:00.000Z';
  const destination = { host: 'h.example', port: 443 };
  const claims = { ...CLAIMS, conversation: 'cnv_1' };
  let answers: Array<(limited: boolean | null) => void>;
  let asked: EgressBytesQuestion[];
  let lines: OpenLines;
  let budgets: EgressBudgets;
  beforeEach(() => {
    [answers, asked] = [[], []];
    lines = new OpenLines({ bytes: 2 ** 40, ageMs: 3_600_000 });
    const bytes = (each: EgressBytesQuestion) => {
      asked.push(each);
      return new Promise<EgressBytes>((resolve, reject) =>
        answers.push((limited) => {
          if (limited === null) reject(new Error('app-server is away'));
          else resolve({ limited, bytes: limited ? (each.reserve?.bytes ?? 0) : 0, over: null, renewsAt });
        }),
      );
    };
    budgets = new EgressBudgets({ client: { bytes }, lines, logger: createLogger('egress-proxy', 'silent') });
  });
  afterEach(async () => {
    for (const answer of answers) answer(false);
    lines.close();
  });
  const line = (allowance: Line['allowance']): Line => ({
    kind: 'connect',
    claims,
    destination,
    socket: new Socket().on('error', () => {}),
    admitted: null,
    allowance,
    since: performance.now(),
    cut: null,
  });
  const next = async (limited: boolean | null): Promise<void> => {
    await until('it is asked', () => answers.length > 0);
    answers.shift()?.(limited);
  };

  it('is not missed by an answer that was given before it', async () => {
    const opening = budgets.open(claims, destination);
    await until('it is asked', () => asked.length === 1);
    budgets.changed('org_1');
    await next(false);
    await next(true);
    expect((await opening).allowance).not.toBeNull();
    // Nor is the old answer remembered.
    const again = budgets.open({ ...claims, conversation: 'cnv_2' }, destination);
    await next(true);
    expect((await again).allowance).not.toBeNull();
  });

  it('is not missed by a connection that was being made, nor by one about which app-server could not be asked', async () => {
    for (const answer of [false, null]) {
      const opening = budgets.open(claims, destination);
      await next(answer);
      const opened = await opening;
      expect(opened.allowance).toBeNull();
      if (answer === false) budgets.changed('org_1');
      const made = line(null);
      lines.add(made);
      budgets.confirm(made, opened);
      // Also when the first try fails.
      await next(null);
      await next(true);
      await until('it is cut', () => made.cut !== null);
      expect(made.cut).toBe('budget');
      budgets.changed('org_1');
    }
  });

  it('is not missed by what is open while there was none', async () => {
    const opening = budgets.open(claims, destination);
    await next(true);
    const { allowance } = await opening;
    budgets.changed('org_1');
    const free = allowance?.take(10_000_000);
    await next(false);
    expect([await free, allowance?.tryTake(10_000_000)]).toEqual([null, true]);
    budgets.changed('org_1');
    expect(allowance?.tryTake(10_000_000)).toBe(false);
  });
});

function question(sandbox: Sandbox, bytes: number, grant = randomBytes(18).toString('base64url')): EgressBytesQuestion {
  return {
    org: sandbox.org,
    conversation: sandbox.conversation,
    host: 'a.sink.example',
    settled: [],
    reserve: { grant, bytes },
  };
}
