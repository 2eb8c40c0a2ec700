import type { UsageRow } from '@slipway/contracts/spending';
import { useTranslations } from 'next-intl';
import { money, number } from '../../browser/format.ts';
import { barsOf, daysOf } from './usage-filters.ts';

const day = new Intl.DateTimeFormat('en', { month: 'short', day: 'numeric', timeZone: 'UTC' });
const dayOfYear = new Intl.DateTimeFormat('en', { month: 'short', day: 'numeric', year: 'numeric', timeZone: 'UTC' });
const label = (date: string, format = day): string => format.format(new Date(`${date}T00:00:00Z`));

/**
 * Cost of each day or, of long spans, of each week as a bar; calls where nothing has a price. Each bar says its time
 * and figure.
 */
export function DayBars({ rows, from, to }: { rows: readonly UsageRow[]; from: string; to: string }) {
  const t = useTranslations();
  const priced = rows.some((row) => Number(row.costUsd) > 0);
  const bars = barsOf(
    daysOf(from, to),
    new Map(rows.map((row) => [row.day ?? '', priced ? Number(row.costUsd) : row.requests])),
  );
  const most = Math.max(...bars.map(({ figure }) => figure), 0);
  const inWords = (figure: number): string => (priced ? money(figure) : number(figure));
  const ends = from.slice(0, 4) === to.slice(0, 4) ? day : dayOfYear;
  const weekly = bars.some((bar) => bar.from !== bar.to);
  return (
    <figure className="flex min-w-0 flex-col gap-1">
      <figcaption className="text-xs text-ink-muted">
        {t('adminUsage.chart', {
          figure: priced ? 'cost' : 'calls',
          span: weekly ? 'week' : 'day',
          most: inWords(most),
        })}
      </figcaption>
      <div className="rounded-lg border border-line bg-surface p-3">
        <ul className="flex h-40 items-end gap-px">
          {bars.map((bar) => {
            const words = `${bar.from === bar.to ? label(bar.from) : t('adminUsage.to', { from: label(bar.from), to: label(bar.to) })}: ${inWords(bar.figure)}`;
            return (
              <li key={bar.from} title={words} className="relative flex h-full min-w-0 flex-1 items-end">
                <span className="sr-only">{words}</span>
                <span
                  aria-hidden
                  className={`block w-full rounded-t-sm ${bar.figure > 0 ? 'bg-accent' : 'bg-line'}`}
                  style={{ height: bar.figure > 0 ? `${Math.max(2, (bar.figure / most) * 100)}%` : '1px' }}
                />
              </li>
            );
          })}
        </ul>
        <div aria-hidden className="flex justify-between pt-1 text-xs text-ink-muted">
          <span>{label(from, ends)}</span>
          <span>{label(to, ends)}</span>
        </div>
      </div>
    </figure>
  );
}
