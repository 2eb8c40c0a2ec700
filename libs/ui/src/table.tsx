import type { ReactNode } from 'react';
import { cn } from './class-names.js';

export interface Column<Row> {
  /** Over the column, and before each value on a phone. */
  readonly label: string;
  readonly cell: (row: Row) => ReactNode;
  /** `end` for numbers and for the buttons of a row. */
  readonly align?: 'start' | 'end';
  /**
   * Below 768 px a row becomes a block: `title` is its first line, `actions` stand beside the title, `line` (the
   * default) is a line of its own with the column's name before it, `hidden` is left out.
   */
  readonly phone?: 'title' | 'actions' | 'line' | 'hidden';
  /** The name is for screen readers alone: it says nothing that the cells do not show. */
  readonly unnamed?: boolean;
  readonly className?: string;
}

// Said explicitly, because a table that is laid out as blocks on a phone stops being one for some screen readers.
const AS = {
  table: { role: 'table' },
  group: { role: 'rowgroup' },
  row: { role: 'row' },
  header: { role: 'columnheader' },
  cell: { role: 'cell' },
} as const;

/**
 * Rows of one kind. Scrolls sideways within itself when it must; on a phone each row is a block. The caller loads,
 * filters and pages.
 */
export function Table<Row>({
  label,
  columns,
  rows,
  rowKey,
  current,
  className,
}: {
  /** What the rows are: the table's name. */
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  rowKey: (row: Row) => string;
  /** Key of the row that the address names. */
  current?: string | null;
  className?: string;
}) {
  return (
    <div className={cn('relative rounded-lg border border-line bg-surface md:overflow-x-auto', className)}>
      <table {...AS.table} aria-label={label} className="w-full border-collapse text-sm max-md:block">
        <thead {...AS.group} className="max-md:sr-only">
          <tr {...AS.row}>
            {columns.map((column) => (
              <th
                {...AS.header}
                key={column.label}
                scope="col"
                className={cn(
                  'h-9 border-b border-line px-3 text-left text-xs font-medium whitespace-nowrap text-ink-muted',
                  column.align === 'end' && 'text-right',
                )}
              >
                <span className={column.unnamed ? 'sr-only' : undefined}>{column.label}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody {...AS.group} className="divide-y divide-line max-md:block">
          {rows.map((row) => {
            const key = rowKey(row);
            return (
              <tr
                {...AS.row}
                key={key}
                aria-current={key === current ? 'true' : undefined}
                className={cn(
                  'max-md:grid max-md:grid-cols-[minmax(0,1fr)_auto] max-md:gap-x-3 max-md:gap-y-1 max-md:px-4 max-md:py-3',
                  key === current && 'bg-accent-soft',
                )}
              >
                {columns.map((column) => (
                  <td
                    {...AS.cell}
                    key={column.label}
                    data-label={column.label}
                    className={cn('px-3 py-2 align-middle md:h-12', shapeOf(column), column.className)}
                  >
                    {column.cell(row)}
                  </td>
                ))}
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

function shapeOf(column: Pick<Column<never>, 'align' | 'phone'>): string {
  const phone = {
    title: 'max-md:col-start-1 max-md:row-start-1 max-md:min-w-0 max-md:self-center',
    actions: 'max-md:col-start-2 max-md:row-start-1 max-md:self-center',
    line: 'max-md:col-span-2 max-md:flex max-md:min-w-0 max-md:items-center max-md:justify-between max-md:gap-4 max-md:text-right max-md:before:shrink-0 max-md:before:text-xs max-md:before:text-ink-muted max-md:before:content-[attr(data-label)]',
    hidden: 'max-md:hidden',
  }[column.phone ?? 'line'];
  return cn('max-md:p-0', phone, column.align === 'end' && 'md:text-right');
}
