/**
 * Days of claims as offices have them, made from a seed: the same seed is the same day. Times are seconds since
 * midnight, ascending.
 */

export interface DayShape {
  /** Claims a second at the busiest minute, bursts not counted. */
  readonly peak: number;
  /** Claims a second in the quietest hours. */
  readonly night: number;
  /** Mean number of bursts from a CI integration between 7 and 20 h; each is some claims within a minute. */
  readonly bursts: number;
  /** Mean claims of a burst. */
  readonly burstSize: number;
}

export const DAYS = {
  /** People at work, and a CI that starts conversations for what failed. */
  office: { peak: 0.4, night: 0.003, bursts: 24, burstSize: 12 },
  /** Ten times the people: averages weigh more than chance. */
  large: { peak: 4, night: 0.03, bursts: 60, burstSize: 25 },
  /** Few people; nearly all comes from CI, together. */
  ci: { peak: 0.05, night: 0.001, bursts: 60, burstSize: 20 },
} as const satisfies Record<string, DayShape>;

/**
 * Part of the peak at each hour of a working day: ramp from 8, dip at lunch, longest in the afternoon. Linear between
 * hours.
 */
const WORKING_DAY = [
  0, 0, 0, 0, 0, 0, 0.02, 0.1, 0.4, 0.8, 0.95, 0.9, 0.5, 0.75, 1, 1, 0.9, 0.65, 0.3, 0.15, 0.1, 0.08, 0.05, 0.02,
];
const WEEKEND = 0.1;

/** @param weekday 0 is Monday. */
export function dayOfClaims(shape: DayShape, weekday: number, seed: number): Float64Array {
  const random = mulberry(seed);
  const part = weekday < 5 ? 1 : WEEKEND;
  const most = shape.night + shape.peak;
  const times: number[] = [];
  // Thinning: candidates of the highest rate, each kept with the probability of its own minute.
  for (let at = -Math.log(1 - random()) / most; at < 86_400; at += -Math.log(1 - random()) / most)
    if (random() * most < shape.night + shape.peak * part * partOfPeak(at)) times.push(at);
  const bursts = poisson(shape.bursts * part, random);
  for (let index = 0; index < bursts; index += 1) {
    const begin = (7 + 13 * random()) * 3_600;
    const spread = 5 + 55 * random();
    const size = 1 + poisson(-Math.log(1 - random()) * (shape.burstSize - 1), random);
    for (let claim = 0; claim < size; claim += 1) times.push(begin + spread * random() ** 2);
  }
  return Float64Array.from(times).sort();
}

function partOfPeak(second: number): number {
  const hour = Math.floor(second / 3_600) % 24;
  const here = WORKING_DAY[hour] ?? 0;
  const next = WORKING_DAY[(hour + 1) % 24] ?? 0;
  return here + (next - here) * ((second / 3_600) % 1);
}

function poisson(mean: number, random: () => number): number {
  let left = mean;
  for (let count = 0; ; count += 1) {
    left += Math.log(1 - random());
    if (left < 0) return count;
  }
}

/** Uniform numbers in [0, 1) from a seed of 32 bits. */
export function mulberry(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
