export const STRATEGIES = ['weighted', 'least-busy', 'latency'] as const;
export type Strategy = (typeof STRATEGIES)[number];

/** Input of a choice between deployments. */
export interface Choosable {
  /** Share of the calls beside the others'. Above 0. */
  readonly weight: number;
  /** Calls under way. */
  readonly inFlight: number;
  /** Time to the first byte, as a moving average; `null` until there was a call. Milliseconds. */
  readonly latencyMs: number | null;
  /** When that was last measured. Milliseconds of the same clock as `now`. */
  readonly latencyAt: number;
}

/** A measurement counts half after this long, so that what was slow is tried again. Milliseconds. */
const LATENCY_HALF_LIFE_MS = 10_000;

/**
 * One of several. `weighted`: by chance, in the proportion of the weights. `least-busy`: the fewest calls under way for
 * its weight. `latency`: the soonest first byte, with the calls under way, since a queue is time too; what was not
 * measured lately comes first. Ties are for chance.
 *
 * @param random from 0 up to, not including, 1. @param candidates not empty.
 */
export function choose<T extends Choosable>(
  candidates: readonly T[],
  strategy: Strategy,
  now: number,
  random: () => number,
): T {
  const [only] = candidates;
  if (only === undefined) throw new Error('there is nothing to choose from');
  if (candidates.length === 1) return only;
  if (strategy === 'weighted') return byWeight(candidates, random());
  const score =
    strategy === 'least-busy'
      ? (one: T): number => one.inFlight / one.weight
      : (one: T): number => expectedMs(one, now);
  let best = Number.POSITIVE_INFINITY;
  let chosen: T[] = [];
  for (const one of candidates) {
    const its = score(one);
    if (its < best) {
      best = its;
      chosen = [one];
    } else if (its === best) chosen.push(one);
  }
  return chosen.length === 0 ? only : byWeight(chosen, random());
}

function byWeight<T extends Choosable>(candidates: readonly T[], random: number): T {
  let total = 0;
  for (const { weight } of candidates) total += weight;
  let left = random * total;
  for (const one of candidates) {
    left -= one.weight;
    if (left < 0) return one;
  }
  return candidates.at(-1) as T;
}

function expectedMs({ latencyMs, latencyAt, inFlight, weight }: Choosable, now: number): number {
  if (latencyMs === null) return inFlight / weight;
  return latencyMs * 2 ** (-Math.max(0, now - latencyAt) / LATENCY_HALF_LIFE_MS) * (1 + inFlight / weight);
}
