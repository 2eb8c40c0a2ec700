import { SlipwayError } from '@slipway/errors';

const DAY_MS = 86_400_000;
/** Days that are answered when nothing is said. */
const DEFAULT_DAYS = 30;

/**
 * First and last day, UTC, of what was asked for. @throws SlipwayError `request.invalid` for a span that, with its
 * defaults, is too long.
 */
export function daySpan(
  { from, to }: { readonly from?: string | undefined; readonly to?: string | undefined },
  now: Date,
  maxDays: number,
): { from: string; to: string } {
  const last = to ?? dayOf(from === undefined ? now.getTime() : Math.max(now.getTime(), Date.parse(from)));
  const first = from ?? dayOf(Date.parse(last) - (DEFAULT_DAYS - 1) * DAY_MS);
  if (Date.parse(last) - Date.parse(first) >= maxDays * DAY_MS)
    throw new SlipwayError('request.invalid', `from: is more than ${maxDays} days before to`, {
      fields: [{ path: 'from', message: `is more than ${maxDays} days before to` }],
    });
  return { from: first, to: last };
}

function dayOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString().slice(0, 10);
}
