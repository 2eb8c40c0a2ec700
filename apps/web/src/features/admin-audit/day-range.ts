const DAY = /^\d{4}-\d{2}-\d{2}$/;

/**
 * The range of times of whole days in the reader's zone.
 *
 * @param from first day as `2026-11-28`; anything else is no bound.
 * @param to last day, which belongs to the range.
 * @returns ISO times for the query, `from` inclusive and `to` exclusive.
 */
export function rangeOfDays(from: string | null, to: string | null): { from?: string; to?: string } {
  const begin = midnight(from, 0);
  const end = midnight(to, 1);
  return { ...(begin === null ? {} : { from: begin }), ...(end === null ? {} : { to: end }) };
}

/** Is the last day before the first? Such a range holds nothing. */
export function isBackward(from: string | null, to: string | null): boolean {
  return from !== null && to !== null && DAY.test(from) && DAY.test(to) && to < from;
}

function midnight(day: string | null, after: number): string | null {
  if (day === null || !DAY.test(day)) return null;
  const [year = 0, month = 0, date = 0] = day.split('-').map(Number);
  const time = new Date(year, month - 1, date + after);
  return Number.isNaN(time.getTime()) ? null : time.toISOString();
}
