import type { UsageRow } from '@slipway/contracts';
import { ScrollBox } from '@slipway/ui';
import { money, number } from '../../browser/format.ts';
import { daysOf } from './usage-filters.ts';

const day = new Intl.DateTimeFormat('en', { month: 'short', day: 'numeric', timeZone: 'UTC' });
const label = (date: string): string => day.format(new Date(`${date}T00:00:00Z`));

/** Cost of each day as a bar, or calls where nothing has a price; each bar says its day and figure. Long spans scroll by themselves. */
export function DayBars({ rows, from, to }: { rows: readonly UsageRow[]; from: string; to: string }) {
  const days = daysOf(from, to);
  const priced = rows.some((row) => Number(row.costUsd) > 0);
  const figures = new Map(rows.map((row) => [row.day, priced ? Number(row.costUsd) : row.requests]));
  const most = Math.max(...figures.values(), 0);
  const name = priced ? 'Cost by day' : 'Model calls by day';
  const inWords = (figure: number): string => (priced ? money(figure) : number(figure));
  return (
    <figure className="flex min-w-0 flex-col gap-1">
      <figcaption className="text-xs text-ink-muted">
        {name} (UTC); the highest is {inWords(most)}
      </figcaption>
      <ScrollBox label={name} className="overflow-x-auto rounded-lg border border-line bg-surface p-3">
        <ul className="flex h-40 items-end gap-px" style={{ minWidth: days.length * 6 }}>
          {days.map((date) => {
            const figure = figures.get(date) ?? 0;
            const words = `${label(date)}: ${inWords(figure)}`;
            return (
              <li key={date} title={words} className="flex h-full min-w-0 flex-1 items-end">
                <span className="sr-only">{words}</span>
                <span
                  aria-hidden
                  className={`block w-full rounded-t-sm ${figure > 0 ? 'bg-accent' : 'bg-line'}`}
                  style={{ height: figure > 0 ? `${Math.max(2, (figure / most) * 100)}%` : '1px' }}
                />
              </li>
            );
          })}
        </ul>
        <div aria-hidden className="flex justify-between pt-1 text-xs text-ink-muted">
          <span>{label(from)}</span>
          <span>{label(to)}</span>
        </div>
      </ScrollBox>
    </figure>
  );
}
