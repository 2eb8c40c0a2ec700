const HOUR_MS = 3_600_000;

/** A straight line through what a process held, by least squares. All in MiB. */
export interface Growth {
  readonly perHour: number;
  /**
   * Standard error of `perHour`, as if the samples were independent; neighbours are not, so that the true one is
   * larger.
   */
  readonly error: number;
  /** Means of the first and the last fifth. */
  readonly first: number;
  readonly last: number;
  readonly samples: number;
}

/** @param samples `at` in milliseconds, in their order. @throws Error for fewer than ten. */
export function growthPerHour(samples: ReadonlyArray<{ readonly at: number; readonly mib: number }>): Growth {
  const n = samples.length;
  if (n < 10) throw new Error(`${n} samples are too few for a line: let it run for longer`);
  const hours = samples.map(({ at }) => at / HOUR_MS);
  const held = samples.map(({ mib }) => mib);
  const [meanHours, meanHeld] = [mean(hours), mean(held)];
  const spread = sum(hours.map((hour) => (hour - meanHours) ** 2));
  const perHour = sum(hours.map((hour, index) => (hour - meanHours) * ((held[index] ?? 0) - meanHeld))) / spread;
  const rest = sum(hours.map((hour, index) => ((held[index] ?? 0) - meanHeld - perHour * (hour - meanHours)) ** 2));
  const fifth = Math.ceil(n / 5);
  return {
    perHour,
    error: Math.sqrt(rest / (n - 2) / spread),
    first: mean(held.slice(0, fifth)),
    last: mean(held.slice(-fifth)),
    samples: n,
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

function mean(numbers: readonly number[]): number {
  return sum(numbers) / numbers.length;
}
