import { get } from 'node:http';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setInterval as ticks } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { ConversationApp, type User } from '../testing/conversation-app.js';
import { type Hostility, startHostileSandbox } from '../testing/hostile-sandbox.js';

const VIEWERS = 50;
/**
 * Longest that the event loop may stand still on an idle machine, the viewers' own work in this process with it.
 * Milliseconds; 64 MiB of JSON took more than a second.
 */
const LONGEST_STALL_MS = 250;
/**
 * `sandbox-reads.ts`: 288 MiB for lists; the remainder is what V8 has not collected yet, and fifty clients in this
 * process. MiB.
 */
const MOST_MIB = 450;
const MIB = 1024 * 1024;
/**
 * Poll interval of the neighbour: a user without a pause meets a limit of their own on a fast machine. Milliseconds.
 */
const NEIGHBOUR_EVERY_MS = 50;

/** How much slower this machine is for all that runs beside: wall time of a loop by its processor time. */
function slowdown(): number {
  const [began, used] = [performance.now(), process.cpuUsage()];
  let sum = 0;
  for (let index = 0; index < 2e8; index += 1) sum += index;
  const { user, system } = process.cpuUsage(used);
  return sum < 0 ? 1 : Math.max(1, (performance.now() - began) / ((user + system) / 1_000));
}

/** A viewer that counts what it is sent, and keeps nothing. */
function view(
  url: string,
  user: User,
): Promise<{ status: number; code: string; bytes: number; whole: boolean; retryAfter: string | undefined }> {
  return new Promise((resolve) => {
    const request = get(url, { headers: { cookie: user.cookie }, agent: false }, (response) => {
      let bytes = 0;
      let head = '';
      const done = (whole: boolean): void =>
        resolve({
          status: response.statusCode ?? 0,
          code: /"code":"([^"]+)"/.exec(head)?.[1] ?? '',
          bytes,
          whole,
          retryAfter: response.headers['retry-after'],
        });
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (head.length < 2_000) head += chunk.toString('latin1').slice(0, 2_000);
      });
      response.on('end', () => done(response.complete));
      response.on('error', () => done(false));
    });
    request.on('error', () => resolve({ status: 0, code: 'broken', bytes: 0, whole: false, retryAfter: undefined }));
  });
}

jest.setTimeout(240_000);

describe('a hostile sandbox with fifty viewers', () => {
  let app: ConversationApp;
  let attacker: User;
  let neighbour: User;
  beforeAll(async () => {
    app = await ConversationApp.start();
    [attacker, neighbour] = [await app.user(), await app.user()];
  });
  afterAll(() => app?.close());

  /**
   * Fifty requests at once, each about a conversation of its own or all about one; meanwhile another user uses the
   * product.
   */
  async function attack(kind: Hostility, route: string, conversations: number, viewers = VIEWERS) {
    const sandbox = await startHostileSandbox(kind);
    try {
      const ids = await Promise.all(
        Array.from({ length: conversations }, async () => (await app.conversation(attacker)).id),
      );
      for (const id of ids) await app.started(id, 1, sandbox);
      const slow = slowdown();
      const delay = monitorEventLoopDelay({ resolution: 5 });
      const before = process.memoryUsage().rss;
      let highest = before;
      const sampler = setInterval(() => {
        highest = Math.max(highest, process.memoryUsage().rss);
      }, 20);
      delay.enable();
      let over = false;
      const answers = Promise.all(
        Array.from({ length: viewers }, (_, index) =>
          view(`${app.url}${app.path(attacker, ids[index % ids.length], route)}`, attacker),
        ),
      ).finally(() => {
        over = true;
      });
      const waits: number[] = [];
      try {
        for await (const _ of ticks(NEIGHBOUR_EVERY_MS)) {
          const began = performance.now();
          expect((await app.http(neighbour, 'GET', app.path(neighbour))).status).toBe(200);
          waits.push(performance.now() - began);
          if (over) break;
        }
      } finally {
        delay.disable();
        clearInterval(sampler);
      }
      const slower = Math.max(slow, slowdown());
      return {
        answers: await answers,
        asked: await sandbox.asked(),
        stallMs: delay.max / 1e6 / slower,
        grownMiB: (highest - before) / MIB,
        neighbourMs: Math.max(...waits) / slower,
      };
    } finally {
      await sandbox.close();
    }
  }

  for (const kind of ['endless', 'large', 'deep', 'slow', 'gzip-bomb', 'huge-name', 'breaks-off'] as const)
    it(`holds up no other tenant and stays within its memory when each list of changes is ${kind}`, async () => {
      const seen = await attack(kind, '/changes', 10);
      console.log(
        `${kind}: stall ${seen.stallMs.toFixed(0)} ms, memory +${seen.grownMiB.toFixed(0)} MiB, neighbour ${seen.neighbourMs.toFixed(0)} ms`,
      );
      expect(seen.stallMs).toBeLessThan(LONGEST_STALL_MS);
      expect(seen.grownMiB).toBeLessThan(MOST_MIB);
      expect(seen.neighbourMs).toBeLessThan(2_000);
      const codes = new Set(seen.answers.map(({ status, code }) => (status === 200 ? 'ok' : code)));
      const expected = { endless: 'file.too-large', large: 'ok', 'huge-name': 'ok' } as const;
      const own = kind in expected ? expected[kind as keyof typeof expected] : 'sandbox.unreachable';
      // A request without a slot in time gets Retry-After.
      for (const code of codes) expect([own, 'rate.limited']).toContain(code);
      for (const { code, retryAfter } of seen.answers) if (code === 'rate.limited') expect(retryAfter).toBe('2');
      expect(codes.has(own)).toBe(true);
    });

  it('is asked once for all viewers of one conversation at the same time', async () => {
    const { answers, asked } = await attack('large', '/changes', 1);
    expect(asked).toBeLessThanOrEqual(3);
    // Of some twenty thousand files, at most 5,000 are listed.
    for (const { status, bytes } of answers) expect([status, bytes > 100_000]).toEqual([200, true]);
  });

  it('fills no memory with an endless patch: it passes through to its bound, and then breaks off, so that no part is taken for the whole', async () => {
    const { answers, stallMs, grownMiB, neighbourMs } = await attack('endless', '/diff', 10, 16);
    console.log(
      `patch: stall ${stallMs.toFixed(0)} ms, memory +${grownMiB.toFixed(0)} MiB, neighbour ${neighbourMs.toFixed(0)} ms`,
    );
    // A gigabyte goes through this process twice, as server and as viewers.
    expect(stallMs).toBeLessThan(2 * LONGEST_STALL_MS);
    expect(grownMiB).toBeLessThan(MOST_MIB);
    expect(neighbourMs).toBeLessThan(2_000);
    const passed = answers.filter(({ status }) => status === 200);
    expect(passed.length).toBeGreaterThan(0);
    for (const { bytes, whole } of passed) expect([bytes <= 64 * MIB, whole]).toEqual([true, false]);
    for (const { status } of answers) expect([200, 429]).toContain(status);
  });
});
