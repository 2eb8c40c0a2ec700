// Days of claims replayed against a pool whose size follows its arrivals, and against pools of one size: how many
// claims found none ready, and what the idle ones cost.
import { type ForecastOptions, type ForecastState, forecast, NO_FORECAST } from '@slipway/domain';
import { percentile } from './measure/percentile.ts';
import { quick } from './measure/quick.ts';
import type { Report } from './measure/report.ts';
import { type RefillSpeed, type SimulatedDay, simulateDay } from './simulation/pool-simulator.ts';
import { DAYS, type DayShape, dayOfClaims } from './traces/arrivals.ts';

/** Pods of an idle cluster with the image on its nodes, and the same cluster when it is busy. */
const SPEEDS: Readonly<Record<string, RefillSpeed>> = {
  'idle-cluster': { leadP50: 1, leadP99: 2.5, startsPerSecond: 20 },
  'busy-cluster': { leadP50: 4, leadP99: 10, startsPerSecond: 20 },
};
/** Sandboxes kept for bursts, by trace: the setting that an operator makes who knows that a CI is connected. */
const RESERVES: Readonly<Record<keyof typeof DAYS, number>> = { office: 0, large: 0, ci: 24 };
const SEEDS = quick([1, 2, 3, 4, 5, 6, 7], [1]);
const WEEKS_BEFORE = 2;
const DAY = 86_400;
/** A Monday, 0 h UTC: the fifth day of a forecast's week. */
const MONDAY = 2_900 * 7 * DAY + 4 * DAY;

export default async function run(report: Report): Promise<void> {
  report.note(
    `each figure is of ${SEEDS.length} Mondays of one seed each, with ${WEEKS_BEFORE} weeks of the same office before them to learn from. miss-rate: claims that found no ready sandbox, in percent; its peer is the pool of one size that idles as much. idle-per-claim: sandboxes ready or being made that belong to nobody, sandbox-seconds a claim; its peer is the smallest pool of one size that misses no more, chosen after the fact. -mean: the forecast reckons with the mean lead; -p99: with the p99 of the leads.`,
  );
  for (const [trace, shape] of Object.entries(DAYS) as [keyof typeof DAYS, DayShape][])
    for (const [cluster, speed] of Object.entries(SPEEDS))
      compare(report, `${trace}-${cluster}`, shape, speed, RESERVES[trace]);
}

function compare(report: Report, name: string, shape: DayShape, speed: RefillSpeed, burstReserve: number): void {
  const days = SEEDS.map((seed) => dayOfClaims(shape, 0, seed));
  const fixed = (size: number): Total =>
    total(days.map((day, index) => simulateDay(day, { target: () => size }, speed, SEEDS[index] ?? 0)));
  const options: ForecastOptions = { min: 2, max: 2_000, burstReserve };
  const sigma = Math.log(speed.leadP99 / speed.leadP50) / 2.326;
  for (const [reckoned, lead] of [
    ['mean', speed.leadP50 * Math.exp(sigma ** 2 / 2)],
    ['p99', speed.leadP99],
  ] as const) {
    const learned = learn(shape, lead, options);
    const ours = total(
      days.map((day, index) => simulateDay(day, following(learned, lead, options), speed, SEEDS[index] ?? 0)),
    );
    const equalMisses = fixed(smallest((size) => fixed(size).misses <= ours.misses));
    const equalIdle = fixed(Math.max(1, Math.floor(ours.idle / (DAY * SEEDS.length))));
    const n = ours.claims;
    report.figure({
      figure: `${name}-${reckoned}-miss-rate`,
      value: ours.missRate,
      unit: '%',
      peer: equalIdle.missRate,
      n,
    });
    report.figure({
      figure: `${name}-${reckoned}-idle-per-claim`,
      value: ours.idle / n,
      unit: 's',
      peer: equalMisses.idle / n,
      n,
    });
    report.figure({ figure: `${name}-${reckoned}-idle-of-static`, value: ours.idle / equalMisses.idle, unit: 'x', n });
    if (ours.waits.length > 0)
      report.figure({
        figure: `${name}-${reckoned}-wait-of-a-miss-p50`,
        value: percentile(ours.waits, 0.5),
        unit: 's',
        n: ours.waits.length,
      });
    report.figure({
      figure: `${name}-${reckoned}-largest-target`,
      value: ours.largestTarget,
      unit: 'count',
      peer: equalMisses.largestTarget,
      n,
    });
    if (ours.largestPopulation > ours.largestTarget)
      throw new Error(`${name}: ${ours.largestPopulation} sandboxes for a target of ${ours.largestTarget}`);
  }
  for (const size of [5, 10, 20, 40, 80]) {
    const pool = fixed(size);
    report.figure({ figure: `${name}-static-${size}-miss-rate`, value: pool.missRate, unit: '%', n: pool.claims });
    report.figure({
      figure: `${name}-static-${size}-idle-per-claim`,
      value: pool.idle / pool.claims,
      unit: 's',
      n: pool.claims,
    });
  }
}

/** What a pool knows that has lived through the weeks before, counted by the minute. */
function learn(shape: DayShape, lead: number, options: ForecastOptions): ForecastState {
  let state = NO_FORECAST;
  for (let day = -7 * WEEKS_BEFORE; day < 0; day += 1) {
    const minutes = new Uint32Array(1_440);
    for (const at of dayOfClaims(shape, (day + 70) % 7, 10_000 + day)) {
      const minute = Math.min(1_439, Math.floor(at / 60));
      minutes[minute] = (minutes[minute] ?? 0) + 1;
    }
    for (const [minute, arrivals] of minutes.entries()) {
      const at = MONDAY + day * DAY + (minute + 1) * 60;
      state = forecast(state, { at, seconds: 60, arrivals }, lead, options).state;
    }
  }
  return state;
}

function following(
  learned: ForecastState,
  lead: number,
  options: ForecastOptions,
): { target(second: number, arrivals: number): number } {
  let state = learned;
  let target: number = options.min;
  return {
    target: (second, arrivals) => {
      if (second === 0) return target;
      const next = forecast(state, { at: MONDAY + second, seconds: 1, arrivals }, lead, options);
      state = next.state;
      target = next.target;
      return target;
    },
  };
}

type Total = SimulatedDay & { readonly missRate: number };

function total(days: readonly SimulatedDay[]): Total {
  const sum = (of: (day: SimulatedDay) => number): number => days.reduce((all, day) => all + of(day), 0);
  const most = (of: (day: SimulatedDay) => number): number => Math.max(...days.map(of));
  const [claims, misses] = [sum((day) => day.claims), sum((day) => day.misses)];
  return {
    claims,
    misses,
    missRate: (100 * misses) / claims,
    waits: days.flatMap((day) => day.waits),
    idle: sum((day) => day.idle),
    largestPopulation: most((day) => day.largestPopulation),
    largestTarget: most((day) => day.largestTarget),
  };
}

/** The smallest size of which something holds that holds of all larger ones. */
function smallest(holds: (size: number) => boolean): number {
  let low = 1;
  let high = 4_096;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
