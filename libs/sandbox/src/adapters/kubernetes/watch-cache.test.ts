import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Tracked } from './cluster-objects.js';
import { compareVersions, WatchCache } from './watch-cache.js';

interface Thing extends Tracked {
  readonly value: number;
}
interface Event {
  readonly type: 'set' | 'delete';
  readonly object: Thing;
}

/** What an API server did, step by step, and what it was after each. */
function history(steps: readonly { name: number; remove: boolean; value: number }[]): {
  events: Event[];
  states: Map<string, Thing>[];
} {
  const state = new Map<string, Thing>();
  const events: Event[] = [];
  const states = [new Map(state)];
  let version = 8;
  for (const step of steps) {
    version += 1;
    const name = `n${step.name}`;
    const before = state.get(name);
    if (step.remove) {
      if (before !== undefined) events.push({ type: 'delete', object: { ...before, version: String(version) } });
      state.delete(name);
    } else {
      const object = { name, uid: before?.uid ?? `${name}-${version}`, version: String(version), value: step.value };
      state.set(name, object);
      events.push({ type: 'set', object });
    }
    states.push(new Map(state));
  }
  return { events, states };
}

const Steps = fc.array(fc.record({ name: fc.nat(4), remove: fc.boolean(), value: fc.nat(3) }), { maxLength: 40 });
const content = (things: Iterable<Thing>): string[] => [...things].map((thing) => JSON.stringify(thing)).sort();

describe('the cache of a watch', () => {
  it('compares versions as numbers that no double holds', () => {
    expect(compareVersions('9', '10')).toBeLessThan(0);
    expect(compareVersions('90071992547409931', '90071992547409930')).toBeGreaterThan(0);
    expect(compareVersions('7', '7')).toBe(0);
  });

  it('is the state of the API server when it has heard every event, in any order, any number of times', () => {
    fc.assert(
      fc.property(Steps, fc.array(fc.nat(1_000)), fc.infiniteStream(fc.nat(1_000)), (steps, repeats, order) => {
        const { events, states } = history(steps);
        const heard = [
          ...events,
          ...repeats.flatMap((index) => (events.length === 0 ? [] : [events[index % events.length] as Event])),
        ];
        const shuffled = heard
          .map((event) => ({ event, at: order.next().value as number }))
          .sort((left, right) => left.at - right.at);
        const cache = new WatchCache<Thing>();
        for (const { event } of shuffled) event.type === 'set' ? cache.set(event.object) : cache.delete(event.object);
        expect(content(cache.values())).toEqual(content((states.at(-1) as Map<string, Thing>).values()));
      }),
      { numRuns: 2_000 },
    );
  });

  it('is the state of the API server after a list of the end, whatever was heard or missed before, and whatever comes late after it', () => {
    const Moves = fc.array(
      fc.oneof(
        fc.record({ list: fc.constant(true), at: fc.nat(1_000) }),
        fc.record({ list: fc.constant(false), at: fc.nat(1_000) }),
      ),
      {
        maxLength: 60,
      },
    );
    fc.assert(
      fc.property(Steps, Moves, Moves, (steps, before, late) => {
        const { events, states } = history(steps);
        const cache = new WatchCache<Thing>();
        let listed = 0;
        const replace = (index: number): void => {
          // A list shows what was at its moment, and lists do not go back in time.
          listed = Math.max(listed, index);
          cache.replace((states[listed] as Map<string, Thing>).values(), String(8 + listed));
        };
        const hear = (index: number): void => {
          const event = events[index % events.length];
          if (event !== undefined) event.type === 'set' ? cache.set(event.object) : cache.delete(event.object);
        };
        for (const move of before) move.list ? replace(move.at % states.length) : hear(move.at);
        replace(states.length - 1);
        for (const move of late) hear(move.at);
        expect(content(cache.values())).toEqual(content((states.at(-1) as Map<string, Thing>).values()));
      }),
      { numRuns: 2_000 },
    );
  });

  it('keeps what came while the list was read', () => {
    const cache = new WatchCache<Thing>();
    const thing = (name: string, version: string): Thing => ({ name, uid: `u-${name}`, version, value: 0 });
    cache.replace([thing('old', '5')], '10');
    cache.set(thing('young', '21'));
    cache.set(thing('old', '22'));
    cache.delete(thing('gone', '23'));
    cache.replace([thing('old', '5'), thing('gone', '6')], '20');
    expect(content(cache.values())).toEqual(content([thing('young', '21'), thing('old', '22')]));
  });

  it('reports something as absent only when it knows', () => {
    const cache = new WatchCache<Thing>();
    expect(cache.isAbsent('x', '5')).toBe(false);
    cache.replace([], '10');
    expect(cache.isAbsent('x', '10')).toBe(true);
    expect(cache.isAbsent('x', '11')).toBe(false);
    cache.delete({ name: 'x', uid: 'u', version: '12' });
    expect(cache.isAbsent('x', '12')).toBe(true);
  });

  it('takes a list from before the last one for a cluster that came back from a backup', () => {
    const cache = new WatchCache<Thing>();
    cache.replace([{ name: 'a', uid: 'a1', version: '500', value: 0 }], '600');
    cache.delete({ name: 'b', uid: 'b1', version: '700' });
    cache.replace([{ name: 'b', uid: 'b1', version: '40', value: 1 }], '50');
    expect([...cache.values()].map(({ uid }) => uid)).toEqual(['b1']);
  });

  it('says that it changed only when something can be seen to have changed', () => {
    const cache = new WatchCache<Thing>();
    const thing = { name: 'a', uid: 'a', version: '1', value: 1 };
    expect(cache.set(thing)).toBe(true);
    expect(cache.set({ ...thing, version: '2' })).toBe(false);
    expect(cache.set({ ...thing, version: '3', value: 2 })).toBe(true);
    expect(cache.replace([{ ...thing, version: '3', value: 2 }], '9')).toBe(false);
    expect(cache.replace([], '10')).toBe(true);
  });
});
