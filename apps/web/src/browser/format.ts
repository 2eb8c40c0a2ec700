import type { Translate } from '../messages/translate.ts';

/** The language of times and figures. Another catalogue brings its own. */
export const LOCALE = 'en';
const relative = new Intl.RelativeTimeFormat(LOCALE, { numeric: 'auto', style: 'short' });
const absolute = new Intl.DateTimeFormat(LOCALE, { dateStyle: 'medium', timeStyle: 'medium' });
const hourAndMinute = new Intl.DateTimeFormat(LOCALE, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
const count = new Intl.NumberFormat(LOCALE);
const compact = new Intl.NumberFormat(LOCALE, { notation: 'compact', maximumFractionDigits: 1 });
const dollars = new Intl.NumberFormat(LOCALE, { style: 'currency', currency: 'USD' });

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const;

/** How long ago, coarsely: under a minute is "just now". */
export function ago(t: Translate, at: string, now: number): string {
  const elapsed = now - Date.parse(at);
  const unit = UNITS.find(([, ms]) => elapsed >= ms);
  return unit ? relative.format(-Math.floor(elapsed / unit[1]), unit[0]) : t('common.justNow');
}

/** In how long, coarsely and never too much: the last minute is "in a moment", and then it is over. */
export function ahead(t: Translate, at: string, now: number): string {
  const left = Date.parse(at) - now;
  const unit = UNITS.find(([, ms]) => left >= ms);
  return unit
    ? relative.format(Math.floor(left / unit[1]), unit[0])
    : left > 0
      ? t('common.inAMoment')
      : t('common.now');
}

export function exactTime(at: string): string {
  return absolute.format(new Date(at));
}

/** The time of day as `14:02`, in the reader's zone. */
export function clock(at: string): string {
  return hourAndMinute.format(new Date(at));
}

/** Milliseconds as `240 ms`, `4.1 s`, `2 min 05 s`. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  return `${Math.floor(ms / 60_000)} min ${String(Math.floor((ms % 60_000) / 1_000)).padStart(2, '0')} s`;
}

/** Whole seconds, minutes and hours: `14 s`, `2 min 05 s`, `1 h 02 min`. What lies ahead is 0 s. */
export function longDuration(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${twoDigits(seconds % 60)} s`;
  return `${Math.floor(seconds / 3_600)} h ${twoDigits(Math.floor((seconds % 3_600) / 60))} min`;
}

const twoDigits = (value: number): string => String(value).padStart(2, '0');

export function number(value: number): string {
  return count.format(value);
}

export function shortNumber(value: number): string {
  return compact.format(value);
}

/** To the cent; something that is not nothing never reads as $0.00. */
export function money(usd: number): string {
  return usd > 0 && usd < 0.005 ? '< $0.01' : dollars.format(usd);
}

/** `host/owner/name` of a repository's URL, without scheme and `.git`. */
export function repositoryName(url: string): string {
  return url.replace(/^https?:\/\//, '').replace(/(\.git)?\/?$/, '');
}

export function bytes(size: number): string {
  return size < 1024
    ? `${size} B`
    : size < 1024 * 1024
      ? `${(size / 1024).toFixed(1)} KB`
      : size < 1024 ** 3
        ? `${(size / 1024 ** 2).toFixed(1)} MB`
        : `${(size / 1024 ** 3).toFixed(1)} GB`;
}
