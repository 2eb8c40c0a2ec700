import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  type ArrivalCount,
  dispersionOf,
  type Forecast,
  type ForecastOptions,
  type ForecastState,
  forecast,
  NO_FORECAST,
  sizeFor,
} from './pool-forecast.js';

const OPTIONS: ForecastOptions = { min: 2, max: 500, burstReserve: 3 };
const LEAD = 4;
/** Thursday, 1 January 1970 was a Thursday: each multiple of it begins a week of the forecast. */
const WEEK = 168 * 3_600;
const START = 100 * WEEK;

const interval = fc.record({
  seconds: fc.constantFrom(1, 1, 1, 5, 60, 900),
  arrivals: fc.oneof(fc.nat(3), fc.nat(3), fc.nat(400)),
});
const history = fc.array(interval, { maxLength: 80 });

function run(
  counts: readonly { seconds: number; arrivals: number }[],
  options = OPTIONS,
  from = NO_FORECAST,
  at = START,
): (Forecast & { at: number })[] {
  let state: ForecastState = from;
  let end = at;
  return counts.map((count) => {
    end += count.seconds;
    const next = forecast(state, { ...count, at: end }, LEAD, options);
    state = next.state;
    return { ...next, at: end };
  });
}

/** `seconds` of the same arrivals a second, one interval a second. */
const steady = (seconds: number, arrivals: number): ArrivalCount[] =>
  Array.from({ length: seconds }, () => ({ at: 0, seconds: 1, arrivals }));

describe('the target of a pool', () => {
  it('is a whole number within its bounds, whatever has arrived', () => {
    fc.assert(
      fc.property(history, fc.nat(20), fc.nat(20), fc.nat(50), (counts, min, more, burstReserve) => {
        for (const { target } of run(counts, { min, max: min + more, burstReserve })) {
          expect(Number.isInteger(target)).toBe(true);
          expect(target).toBeGreaterThanOrEqual(min);
          expect(target).toBeLessThanOrEqual(min + more);
        }
      }),
    );
  });

  it('is never below what it was in the ten minutes before', () => {
    fc.assert(
      fc.property(history, (counts) => {
        const all = run(counts);
        // What each moment asked for by itself: the same step without the memory of peaks.
        const own = all.map(({ state }) => state.peaks.at(-1)?.target ?? 0);
        all.forEach(({ at, target }, index) => {
          const held = own.filter((_, before) => before <= index && (all[before]?.at ?? 0) > at - 600);
          expect(target).toBe(Math.max(...held));
        });
      }),
    );
  });

  it('rises with the interval in which more arrives', () => {
    const targets = run([...steady(300, 0), { seconds: 1, arrivals: 100 }]).map(({ target }) => target);
    expect(targets.at(-2)).toBe(OPTIONS.burstReserve);
    expect(targets.at(-1)).toBeGreaterThan(50);
  });

  it('comes down again when ten minutes brought less', () => {
    const all = run([...steady(60, 5), ...steady(700, 0)]);
    const peak = Math.max(...all.map(({ target }) => target));
    expect(all[59 + 600 - 60]?.target).toBe(peak);
    expect(all.at(-1)?.target).toBe(OPTIONS.burstReserve);
  });

  it('is never lower for more arrivals, a longer lead, a larger reserve or a higher announcement', () => {
    fc.assert(
      fc.property(history, interval, fc.nat(100), fc.nat(30), fc.nat(30), (counts, last, more, longer, reserve) => {
        const before = run(counts).at(-1);
        const state = before?.state ?? NO_FORECAST;
        const at = (before?.at ?? START) + last.seconds;
        const target = (count: { seconds: number; arrivals: number }, lead = LEAD, options = OPTIONS): number =>
          forecast(state, { ...count, at }, lead, options).target;
        const least = target(last);
        expect(target({ ...last, arrivals: last.arrivals + more })).toBeGreaterThanOrEqual(least);
        expect(target(last, LEAD + longer)).toBeGreaterThanOrEqual(least);
        expect(target(last, LEAD, { ...OPTIONS, burstReserve: OPTIONS.burstReserve + reserve })).toBeGreaterThanOrEqual(
          least,
        );
        expect(
          target(last, LEAD, { ...OPTIONS, announced: [{ from: at, until: at + 1, perSecond: more }] }),
        ).toBeGreaterThanOrEqual(least);
      }),
    );
  });

  it('covers all but about one in a thousand leads of independent arrivals', () => {
    // Poisson tail by its own sum: P(more than the size arrive in one lead).
    for (const perSecond of [0.5, 2, 10, 50]) {
      const expected = perSecond * LEAD;
      const size = Math.ceil(sizeFor(perSecond, LEAD, 1));
      let term = Math.exp(-expected);
      let within = term;
      for (let k = 1; k <= size; k += 1) {
        term *= expected / k;
        within += term;
      }
      expect(1 - within).toBeLessThan(0.003);
    }
  });

  it('is larger where arrivals come together than where they come evenly at the same rate', () => {
    const even = run(steady(3_600, 1));
    const together = run(
      Array.from({ length: 3_600 }, (_, second) => ({ at: 0, seconds: 1, arrivals: second % 40 === 0 ? 40 : 0 })),
    );
    expect(dispersionOf((even.at(-1) as Forecast).state)).toBe(1);
    expect(dispersionOf((together.at(-1) as Forecast).state)).toBeGreaterThan(20);
    expect((together.at(-1) as Forecast).target).toBeGreaterThan((even.at(-1) as Forecast).target * 2);
  });

  it('is up before the hour that was busy a week ago, by one lead', () => {
    const busy = Array.from({ length: 60 }, () => ({ seconds: 60, arrivals: 600 }));
    const first = run(busy);
    const quiet = Array.from({ length: 167 * 60 }, () => ({ seconds: 60, arrivals: 0 }));
    const week = run(quiet, OPTIONS, (first.at(-1) as Forecast).state, START + 3_600);
    const before = forecast(
      (week.at(-2) as Forecast).state,
      { at: START + WEEK - LEAD - 1, seconds: 1, arrivals: 0 },
      LEAD,
      OPTIONS,
    );
    const soon = forecast(before.state, { at: START + WEEK - LEAD, seconds: 1, arrivals: 0 }, LEAD, OPTIONS);
    expect([before.perSecond < 0.1, soon.perSecond]).toEqual([true, 10]);
    expect(soon.target).toBeGreaterThan(40);
  });

  it('does not take an hour of which it saw a minute for what that hour is like', () => {
    const seen = run([...steady(60, 50), { at: 0, seconds: 1, arrivals: 0 }]);
    const nextHour = forecast(
      (seen.at(-1) as Forecast).state,
      { at: START + 3_700, seconds: 1, arrivals: 0 },
      LEAD,
      OPTIONS,
    );
    expect(nextHour.state.hours.every((rate) => rate === null)).toBe(true);
  });

  it('keeps the whole reserve in an hour that it does not know, and in a known one no more than comes in an hour', () => {
    const options = { ...OPTIONS, min: 0, burstReserve: 30 };
    const hours = NO_FORECAST.hours.map((_, hour) => (hour === 1 ? 4 / 3_600 : hour === 2 ? 90 / 3_600 : null));
    const target = (hour: number): number =>
      forecast({ ...NO_FORECAST, hours }, { at: START + hour * 3_600 + 60, seconds: 1, arrivals: 0 }, LEAD, options)
        .target;
    expect([target(0), target(1), target(2)]).toEqual([30, 5, 32]);
  });

  it('is up for an announced rate one lead before it, and until it is over', () => {
    const options = { ...OPTIONS, announced: [{ from: START + 100, until: START + 200, perSecond: 20 }] };
    const rate = (at: number): number =>
      forecast(NO_FORECAST, { at, seconds: 1, arrivals: 0 }, LEAD, options).perSecond;
    expect([START + 95, START + 96, START + 199, START + 200].map(rate)).toEqual([0, 20, 20, 0]);
  });

  it('goes on from a state that was stored as JSON, and keeps it small', () => {
    fc.assert(
      fc.property(history, history, (first, second) => {
        const before = run(first).at(-1);
        const state = before?.state ?? NO_FORECAST;
        const stored = JSON.parse(JSON.stringify(state)) as ForecastState;
        const go = (from: ForecastState): number[] =>
          run(second, OPTIONS, from, before?.at ?? START).map(({ target }) => target);
        expect(go(stored)).toEqual(go(state));
        expect(state.peaks.length).toBeLessThanOrEqual(OPTIONS.max - OPTIONS.min + 1);
      }),
    );
  });

  it('treats a clock that went back as one that stood still', () => {
    const state = (run(steady(30, 9)).at(-1) as Forecast).state;
    const next = forecast(state, { at: state.at - 5_000, seconds: 1, arrivals: 9 }, LEAD, OPTIONS);
    expect(next.state.at).toBe(state.at);
    expect(next.target).toBeGreaterThan(OPTIONS.burstReserve);
  });

  it('refuses an interval without length and numbers that are none', () => {
    for (const [seconds, arrivals, lead] of [
      [0, 1, 1],
      [1, -1, 1],
      [1, Number.NaN, 1],
      [1, 1, -1],
    ] as const)
      expect(() => forecast(NO_FORECAST, { at: 1, seconds, arrivals }, lead, OPTIONS)).toThrow(RangeError);
  });
});
