'use client';
import type { ConversationSummary } from '@slipway/contracts/conversations';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useTranslations } from 'next-intl';
import { useEffect, useRef } from 'react';
import { EditableLine } from '../conversation-edits/editable-line.tsx';
import type { Edits } from '../conversation-edits/use-edits.ts';
import { useSession } from '../session/me.ts';
import { ConversationColumns, ConversationLine } from './conversation-row.tsx';

/** Lines of a list of any length; those in sight are on the page. */
export function VirtualList({
  rows,
  more,
  columns,
  editing,
}: {
  rows: readonly ConversationSummary[];
  more: (() => void) | null;
  /** Names over the columns; what is in the trash has none of them. */
  columns: boolean;
  /** `null`: this user changes none. */
  editing: {
    readonly edits: Edits;
    readonly chosen: ReadonlySet<string>;
    readonly select: (id: string, on: boolean) => void;
  } | null;
}) {
  const t = useTranslations();
  const { org } = useSession();
  const scroller = useRef<HTMLDivElement>(null);
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => 44,
    getItemKey: (index) => rows[index]?.id ?? index,
    overscan: 12,
  });
  const items = virtualizer.getVirtualItems();
  const nearEnd = (items.at(-1)?.index ?? 0) >= rows.length - 20;
  useEffect(() => {
    if (nearEnd) more?.();
  }, [nearEnd, more]);
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      {columns ? (
        <div className={editing === null ? '' : 'border-b border-line md:px-11 [&>div]:border-b-0'}>
          <ConversationColumns />
        </div>
      ) : null}
      <div ref={scroller} className="min-h-0 flex-1 overflow-auto">
        <ul aria-label={t('common.conversations')} className="relative" style={{ height: virtualizer.getTotalSize() }}>
          {items.map((item) => {
            const row = rows[item.index];
            return row ? (
              <li
                key={item.key}
                ref={virtualizer.measureElement}
                data-index={item.index}
                aria-setsize={rows.length}
                aria-posinset={item.index + 1}
                className="absolute inset-x-0 top-0"
                style={{ transform: `translateY(${item.start}px)` }}
              >
                {editing === null ? (
                  <ConversationLine orgSlug={org.slug} conversation={row} />
                ) : (
                  <EditableLine
                    conversation={row}
                    edits={editing.edits}
                    chosen={editing.chosen.has(row.id)}
                    select={editing.select}
                  />
                )}
              </li>
            ) : null;
          })}
        </ul>
      </div>
    </div>
  );
}
