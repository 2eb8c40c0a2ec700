import type { Translate } from '../../messages/translate.ts';

const UNITS = [
  [10_080, 'adminSecurity.weeks'],
  [1_440, 'adminSecurity.days'],
  [60, 'adminSecurity.hours'],
  [1, 'adminSecurity.minutes'],
] as const;

/** `8 hours`, in the largest unit that says it in whole numbers. @param minutes above 0. */
export function lengthOf(t: Translate, minutes: number): string {
  const [size, unit] = UNITS.find(([each]) => minutes % each === 0) ?? UNITS[3];
  return t(unit, { count: minutes / size });
}

export interface OfferedLengths {
  readonly offered: readonly number[];
  readonly present: number | null;
  readonly none: string;
  readonly noneLabel: string;
}

/** What a select offers: no rule first, then each length; one that was set otherwise is there as well. */
export function lengthOptions(
  t: Translate,
  { offered, present, none, noneLabel }: OfferedLengths,
): Array<{ value: string; label: string }> {
  const all = present === null || offered.includes(present) ? offered : [...offered, present].sort((a, b) => a - b);
  return [
    { value: none, label: noneLabel },
    ...all.map((minutes) => ({ value: String(minutes), label: lengthOf(t, minutes) })),
  ];
}
