import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from '@jest/globals';
import { createLogger } from '@slipway/telemetry';
import fc from 'fast-check';
import type { LiveGrant } from './grants.queries.js';
import { UsersWork } from './users-work.js';

const MINUTE = 60_000;
const logger = createLogger('persons-work-test', 'silent');

function grantOf(id: string, port = 3000): LiveGrant {
  return {
    id,
    orgId: 'org',
    userId: 'usr',
    conversation: 'c',
    port,
    endsAt: new Date(0),
    role: 'member',
    user: { id: 'u', label: 'U', kind: 'user' },
  };
}

function asked(method: string, url: string, mode = 'cors'): IncomingMessage {
  return { method, url, headers: { 'sec-fetch-mode': mode } } as unknown as IncomingMessage;
}

/** One whose clock stands until it is moved, and whose database accepts writes unless it is away. */
function harness() {
  const noted: Array<{ id: string; usedAt: number }> = [];
  const world = { now: 0, away: false, failures: 0 };
  const work = new UsersWork({
    note: async (uses) => {
      if (world.away) throw new Error('away');
      for (const [id, secondsAgo] of uses) noted.push({ id, usedAt: Math.round(world.now - secondsAgo * 1_000) });
    },
    failed: () => {
      world.failures += 1;
    },
    now: () => world.now,
    logger,
  });
  return { work, world, noted };
}

describe('PersonsWork', () => {
  it('counts as work what a user does, and not what an open page does by itself', async () => {
    const { work, world, noted } = harness();
    const one = grantOf('one');
    const said = work.socket(one, asked('GET', '/ws'));
    await work.tell();
    const isWork = async (action: () => void): Promise<boolean> => {
      world.now += 2 * MINUTE;
      const before = noted.length;
      action();
      await work.tell();
      return noted.length > before;
    };
    expect(await isWork(() => {})).toBe(false);
    const steps: Array<[what: string, action: () => void, counts: boolean]> = [
      ['a page is opened', () => work.request(one, asked('GET', '/', 'navigate')), true],
      ['it asks for something the first time', () => work.request(one, asked('GET', '/status?at=1')), true],
      ['it polls', () => work.request(one, asked('GET', '/status?at=2')), false],
      ['it is loaded again', () => work.request(one, asked('GET', '/', 'navigate')), true],
      ['a form is sent', () => work.request(one, asked('POST', '/todos')), true],
      ['a form is sent again', () => work.request(one, asked('POST', '/todos')), true],
      ['the first message', () => said(13), true],
      ['a beat', () => said(13), false],
      ['another kind of beat', () => said(40), true],
      ['both by turns', () => said(13), false],
      ['and by turns', () => said(40), false],
      ['its socket comes back', () => void work.socket(one, asked('GET', '/ws')), false],
      ['a message of another length', () => said(41), true],
    ];
    for (const [what, action, counts] of steps) expect([what, await isWork(action)]).toEqual([what, counts]);
    // A user types: each stroke is as long as the one before.
    world.now += 2 * MINUTE;
    said(2);
    await work.tell();
    world.now += 2 * MINUTE;
    said(2);
    await work.tell();
    const before = noted.length;
    world.now += 200;
    said(2);
    await work.tell();
    expect(noted.length).toBe(before + 1);
    await work.close();
  });

  it('leaves agent-server’s port to agent-server', async () => {
    const { work, noted } = harness();
    work.request(grantOf('agent', 8000), asked('POST', '/api/x'));
    work.socket(grantOf('agent', 8000), asked('GET', '/sockets/x'))(5);
    await work.close();
    expect(noted).toEqual([]);
  });

  it('writes at most once a minute for each grant, is never more than a minute behind, and writes the time of the use to a database that was away', async () => {
    const step = fc.oneof(
      { weight: 5, arbitrary: fc.record({ kind: fc.constant('use' as const), id: fc.constantFrom('a', 'b', 'c') }) },
      {
        weight: 3,
        arbitrary: fc.record({ kind: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 90_000 }) }),
      },
      { weight: 2, arbitrary: fc.record({ kind: fc.constant('tell' as const) }) },
      { weight: 1, arbitrary: fc.record({ kind: fc.constant('away' as const), away: fc.boolean() }) },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const { work, world, noted } = harness();
        const uses: Array<{ id: string; at: number }> = [];
        for (const each of steps) {
          if (each.kind === 'use') {
            uses.push({ id: each.id, at: world.now });
            work.request(grantOf(each.id), asked('POST', '/x'));
          } else if (each.kind === 'pass') world.now += each.ms;
          else if (each.kind === 'away') world.away = each.away;
          else await work.tell();
        }
        world.away = false;
        await work.tell();
        await work.close();
        for (const id of ['a', 'b', 'c']) {
          const times = noted.filter((note) => note.id === id).map(({ usedAt }) => usedAt);
          for (const [index, at] of times.entries())
            if (index > 0) expect(at - (times[index - 1] as number)).toBeGreaterThanOrEqual(MINUTE);
          const own = uses.filter((use) => use.id === id).map(({ at }) => at);
          expect(times.every((time) => own.includes(time))).toBe(true);
          // A later use replaces an earlier one that was not written.
          for (const at of own) expect(times.some((time) => time > at - MINUTE)).toBe(true);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('never fails the traffic while the database is away, and counts that', async () => {
    const { work, world, noted } = harness();
    world.away = true;
    work.request(grantOf('a'), asked('GET', '/'));
    for (let time = 0; time < 3; time += 1) await work.tell();
    expect([world.failures, noted]).toEqual([3, []]);
    world.now = 5_000;
    world.away = false;
    await work.tell();
    expect(noted).toEqual([{ id: 'a', usedAt: 0 }]);
    await work.close();
  });
});
