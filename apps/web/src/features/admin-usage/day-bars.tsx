import type { UsageRow } from '@slipway/contracts';
import { ScrollBox } from '@slipway/ui';
import { money } from '../../browser/format.ts';
import { daysOf } from './usage-filters.ts';

const day = new Intl.DateTimeFormat('en', { month: 'short', day: 'numeric', timeZone: 'UTC' });
const label = (date: string): string => day.format(new Date(`${date}T00:00:00Z`));

/** Cost of each day as a bar; each bar says its day and cost. Long spans scroll by themselves. */
export function DayBars({ rows, from, to }: { rows: readonly UsageRow[]; from: string; to: string }) {
  const days = daysOf(from, to);
  const costs = new Map(rows.map((row) => [row.day, Number(row.costUsd)]));
  const most = Math.max(...costs.values(), 0);
  return (
    <figure className="flex min-w-0 flex-col gap-1">
      <figcaption className="text-xs text-ink-muted">Cost by day (UTC); the highest is {money(most)}</figcaption>
      <ScrollBox label="Cost by day" className="overflow-x-auto rounded-lg border border-line bg-surface p-3">
        <ul className="flex h-40 items-end gap-px" style={{ minWidth: days.length * 6 }}>
          {days.map((date) => {
            const cost = costs.get(date) ?? 0;
            const words = `${label(date)}: ${money(cost)}`;
            return (
              <li key={date} title={words} className="flex h-full min-w-0 flex-1 items-end">
                <span className="sr-only">{words}</span>
                <span
                  aria-hidden
                  className={`block w-full rounded-t-sm ${cost > 0 ? 'bg-accent' : 'bg-line'}`}
                  style={{ height: cost > 0 && most > 0 ? `${Math.max(2, (cost / most) * 100)}%` : '1px' }}
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
