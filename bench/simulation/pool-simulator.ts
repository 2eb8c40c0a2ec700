/**
 * One pool through one day, event by event. A claim takes a ready sandbox or waits for the next that becomes ready,
 * first come first served. What is ready or being made never exceeds the target (I8), so those that wait are served by
 * refills, not by sandboxes beyond it.
 */
import { mulberry } from '../traces/arrivals.ts';

export interface SimulatedPool {
  /** Target for the second that begins at `second`, after `arrivals` in the one before. */
  target(second: number, arrivals: number): number;
}

export interface RefillSpeed {
  /** Half of the sandboxes are ready within this. Seconds. */
  readonly leadP50: number;
  /** All but one in a hundred are. Seconds. */
  readonly leadP99: number;
  /** Sandboxes that the cluster begins in a second, at most. */
  readonly startsPerSecond: number;
}

export interface SimulatedDay {
  readonly claims: number;
  /** Claims that found no ready sandbox. */
  readonly misses: number;
  /** How long those waited, in the order of arrival. Seconds. */
  readonly waits: readonly number[];
  /** Sandboxes made or being made without a claim, over the day. Sandbox-seconds. */
  readonly idle: number;
  readonly largestPopulation: number;
  readonly largestTarget: number;
}

const DAY = 86_400;

/** @param arrivals ascending, seconds within the day. Refill leads are log-normal, drawn from `seed`. */
export function simulateDay(
  arrivals: Float64Array,
  pool: SimulatedPool,
  speed: RefillSpeed,
  seed: number,
): SimulatedDay {
  const random = mulberry(seed);
  const spread = Math.log(speed.leadP99 / speed.leadP50) / 2.326;
  const lead = (): number =>
    speed.leadP50 * Math.exp(spread * Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random()));
  const making = new Times();
  const waiting: number[] = [];
  let served = 0;
  const waits: number[] = [];
  let target = pool.target(0, 0);
  // The day begins with what the night kept.
  let ready = target;
  let idle = 0;
  let lastChange = 0;
  let misses = 0;
  let tokens = speed.startsPerSecond;
  let largestPopulation = ready;
  let largestTarget = target;

  const until = (at: number): void => {
    idle += (ready + making.size) * (at - lastChange);
    lastChange = at;
  };
  const refill = (at: number): void => {
    for (; ready + making.size < target && tokens >= 1; tokens -= 1) making.push(at + lead());
    largestPopulation = Math.max(largestPopulation, ready + making.size);
  };
  const become = (at: number): void => {
    until(at);
    making.pop();
    const claimed = waiting[served];
    if (claimed === undefined) ready += 1;
    else {
      served += 1;
      waits.push(at - claimed);
    }
    refill(at);
  };

  let next = 0;
  for (let second = 0; second < DAY; second += 1) {
    const end = second + 1;
    const first = next;
    for (;;) {
      const claim = arrivals[next] ?? Number.POSITIVE_INFINITY;
      const made = making.least();
      if (Math.min(claim, made) >= end) break;
      if (made <= claim) {
        become(made);
        continue;
      }
      until(claim);
      next += 1;
      if (ready > 0) ready -= 1;
      else {
        misses += 1;
        waiting.push(claim);
      }
      refill(claim);
    }
    until(end);
    tokens = Math.min(speed.startsPerSecond, tokens + speed.startsPerSecond);
    target = pool.target(end, next - first);
    largestTarget = Math.max(largestTarget, target);
    // Scale-down deletes what is ready; what is being made is let through.
    ready = Math.max(0, Math.min(ready, target - making.size));
    refill(end);
  }
  for (; served < waiting.length && making.size > 0; ) become(making.least());
  return { claims: arrivals.length, misses, waits, idle, largestPopulation, largestTarget };
}

/** Times, the least first. */
class Times {
  private readonly heap: number[] = [];

  get size(): number {
    return this.heap.length;
  }

  least(): number {
    return this.heap[0] ?? Number.POSITIVE_INFINITY;
  }

  push(time: number): void {
    const { heap } = this;
    let at = heap.length;
    for (let above = (at - 1) >> 1; at > 0 && (heap[above] as number) > time; above = (at - 1) >> 1) {
      heap[at] = heap[above] as number;
      at = above;
    }
    heap[at] = time;
  }

  pop(): void {
    const { heap } = this;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let at = 0;
    for (;;) {
      let below = 2 * at + 1;
      if (below + 1 < heap.length && (heap[below + 1] as number) < (heap[below] as number)) below += 1;
      if (below >= heap.length || (heap[below] as number) >= last) break;
      heap[at] = heap[below] as number;
      at = below;
    }
    heap[at] = last;
  }
}
