/**
 * Nearest-rank percentile of unsorted samples: the smallest sample with at least `p` of all at or below it. `p` is in
 * (0, 1]. @throws Error when there is no sample.
 */
export function percentile(samples: readonly number[], p: number): number {
  const sorted = Float64Array.from(samples).sort();
  const value = sorted[Math.max(0, Math.ceil(sorted.length * p) - 1)];
  if (value === undefined) throw new Error('no samples');
  return value;
}

/**
 * Runs `once` `warmup` times unmeasured, then `n` times one after the other. @returns milliseconds of each measured
 * run.
 */
export async function timeEach(
  n: number,
  once: (index: number) => Promise<unknown>,
  warmup = Math.min(200, Math.ceil(n / 5)),
): Promise<number[]> {
  for (let index = 0; index < warmup; index += 1) await once(index);
  const samples: number[] = [];
  for (let index = 0; index < n; index += 1) {
    const began = performance.now();
    await once(warmup + index);
    samples.push(performance.now() - began);
  }
  return samples;
}
