import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type ReadLimits, type ReadSlot, ReadSlots, readWithin } from './read-slots.js';

const LIMITS: ReadLimits = { slots: 4, slotsPerOrg: 2, bytes: 100, bytesPerOrg: 60, waiting: 10, waitMs: 20 };
const slotOf = (answer: ReadSlot | string): ReadSlot => {
  if (typeof answer === 'string') throw new Error(`no slot: ${answer}`);
  return answer;
};

describe('read slots', () => {
  it('refuses with the reason after a bounded wait, and at once when too many wait', async () => {
    const slots = new ReadSlots({ ...LIMITS, waiting: 4 });
    for (let index = 0; index < 2; index += 1) slotOf(await slots.enter('greedy'));
    const waits = [slots.enter('greedy'), slots.enter('greedy')];
    expect(slots.usage.waiting).toBe(2);
    // Half of all places are the most that one organization has.
    expect(await slots.enter('greedy')).toBe('org');
    expect(await Promise.all(waits)).toEqual(['org', 'org']);
    slotOf(await slots.enter('other'));
    slotOf(await slots.enter('third'));
    expect(await slots.enter('fourth')).toBe('process');
  });

  it('serves organizations in turn: a greedy one does not hold up another that came later', async () => {
    const slots = new ReadSlots({ ...LIMITS, slots: 1, slotsPerOrg: 1, waitMs: 10_000 });
    const first = slotOf(await slots.enter('greedy'));
    const order: string[] = [];
    const wait = (org: string): Promise<void> =>
      slots.enter(org).then((slot) => {
        order.push(org);
        slotOf(slot).leave();
      });
    const all = [wait('greedy'), wait('greedy'), wait('greedy'), wait('modest')];
    first.leave();
    await Promise.all(all);
    expect(order.indexOf('modest')).toBeLessThanOrEqual(1);
  });

  it('takes no place for a wait that was given up', async () => {
    const slots = new ReadSlots({ ...LIMITS, slots: 1, slotsPerOrg: 1, waitMs: 10_000 });
    const first = slotOf(await slots.enter('a'));
    const control = new AbortController();
    const wait = slots.enter('a', control.signal);
    control.abort(new Error('gone'));
    await expect(wait).rejects.toThrow('gone');
    first.leave();
    slotOf(await slots.enter('a')).leave();
    expect(slots.usage).toEqual({ slots: 0, waiting: 0, bytes: 0 });
  });

  it('holds at most its slots and bytes, whatever comes in whatever order, and all is free in the end', async () => {
    const action = fc.record({
      org: fc.constantFrom('a', 'b', 'c'),
      kind: fc.constantFrom('enter', 'account', 'take', 'leave'),
      bytes: fc.integer({ min: 1, max: 50 }),
      which: fc.nat(20),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(action, { maxLength: 60 }), async (actions) => {
        const slots = new ReadSlots({ ...LIMITS, waitMs: 0 });
        const open: { org: string; slot: ReadSlot; slotted: boolean; bytes: number }[] = [];
        for (const { org, kind, bytes, which } of actions) {
          const one = open[which % Math.max(1, open.length)];
          if (kind === 'enter') {
            const slot = await slots.enter(org);
            if (typeof slot !== 'string') open.push({ org, slot, slotted: true, bytes: 0 });
          } else if (kind === 'account') open.push({ org, slot: slots.account(org), slotted: false, bytes: 0 });
          else if (kind === 'take' && one?.slot.take(bytes)) one.bytes += bytes;
          else if (kind === 'leave' && one !== undefined) {
            one.slot.leave();
            one.slot.leave();
            open.splice(open.indexOf(one), 1);
          }
          const sum = (of: typeof open): number => of.reduce((total, each) => total + each.bytes, 0);
          expect(slots.usage).toEqual({
            slots: open.filter(({ slotted }) => slotted).length,
            waiting: 0,
            bytes: sum(open),
          });
          expect(slots.usage.slots).toBeLessThanOrEqual(LIMITS.slots);
          expect(sum(open)).toBeLessThanOrEqual(LIMITS.bytes);
          for (const name of ['a', 'b', 'c']) {
            const own = open.filter((each) => each.org === name);
            expect(own.filter(({ slotted }) => slotted).length).toBeLessThanOrEqual(LIMITS.slotsPerOrg);
            expect(sum(own)).toBeLessThanOrEqual(LIMITS.bytesPerOrg);
          }
        }
        for (const { slot } of open) slot.leave();
        expect(slots.usage).toEqual({ slots: 0, waiting: 0, bytes: 0 });
      }),
    );
  });
});

describe('readWithin', () => {
  async function* endless(): AsyncGenerator<Uint8Array> {
    for (;;) yield new Uint8Array(10);
  }

  it('ends an endless answer at its bound, or where there is no room, and gives the whole of another', async () => {
    const slots = new ReadSlots(LIMITS);
    expect(await readWithin(endless(), 30, slots.account('a'))).toBe('too-large');
    expect(await readWithin(endless(), 1_000, slots.account('b'))).toBe('no-room');
    const parts = await readWithin(
      (async function* () {
        yield* [new Uint8Array([1]), new Uint8Array([2, 3])];
      })(),
      30,
      { take: () => true },
    );
    expect(parts).toEqual([new Uint8Array([1]), new Uint8Array([2, 3])]);
  });
});
