const UNITS = [
  [10_080, 'week'],
  [1_440, 'day'],
  [60, 'hour'],
  [1, 'minute'],
] as const;

/** `8 hours`, in the largest unit that says it in whole numbers. @param minutes above 0. */
export function lengthOf(minutes: number): string {
  const [size, unit] = UNITS.find(([each]) => minutes % each === 0) ?? [1, 'minute'];
  const count = minutes / size;
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}

/** What a select offers: no rule first, then each length; one that was set otherwise is there as well. */
export function lengthOptions(offered: readonly number[], present: number | null, none: string, noneLabel: string): Array<{ value: string; label: string }> {
  const all = present === null || offered.includes(present) ? offered : [...offered, present].sort((a, b) => a - b);
  return [{ value: none, label: noneLabel }, ...all.map((minutes) => ({ value: String(minutes), label: lengthOf(minutes) }))];
}
