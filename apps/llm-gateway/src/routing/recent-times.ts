/** How many are remembered. */
const KEPT = 64;

/** The newest measurements of something that takes time, in milliseconds. Adding costs no memory. */
export class RecentTimes {
  private readonly times = new Float64Array(KEPT);
  private added = 0;

  add(ms: number): void {
    this.times[this.added % KEPT] = ms;
    this.added += 1;
  }

  /** Whole milliseconds; `null` before the first. */
  median(): number | null {
    const sorted = this.times.slice(0, Math.min(this.added, KEPT)).sort();
    const middle = sorted[(sorted.length - 1) >> 1];
    return middle === undefined ? null : Math.round(middle);
  }
}
