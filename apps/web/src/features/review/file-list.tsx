'use client';
import type { ReviewThread } from '@slipway/contracts/conversations';
import type { FileChange } from '@slipway/contracts/repositories';
import { type Chapter, chapterOf, visibleMarks } from '@slipway/domain/review';
import { cn, Input } from '@slipway/ui';
import { useVirtualizer } from '@tanstack/react-virtual';
import { Check } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { useRef } from 'react';
import { useMedia } from '../../browser/media.ts';
import type { MessageKey } from '../../messages/translate.ts';
import { isViewed, type Order } from './review-files.ts';

const CHAPTER_LABELS: Readonly<Record<Chapter, MessageKey>> = {
  contract: 'reviewPage.contract',
  core: 'reviewPage.core',
  tests: 'reviewPage.tests',
  generated: 'reviewPage.generated',
};
type Row = { readonly chapter: Chapter; readonly count: number } | FileChange;

interface FileListProps {
  readonly files: readonly FileChange[];
  readonly order: Order;
  readonly chosen: string | null;
  readonly viewed: ReadonlyMap<string, string>;
  readonly threads: readonly ReviewThread[];
  readonly filter: string;
  readonly onFilter: (filter: string) => void;
  readonly onChoose: (path: string) => void;
}

/** The changed files; only those in sight are in the page. */
export function FileList({ files, order, chosen, viewed, threads, filter, onFilter, onChoose }: FileListProps) {
  const t = useTranslations();
  const box = useRef<HTMLDivElement>(null);
  const touch = useMedia('(pointer: coarse)');
  const rows = order === 'chapters' ? withChapters(files) : files;
  const list = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => (touch ? 44 : 28),
    overscan: 12,
  });
  const open = Map.groupBy(
    threads.filter((thread) => thread.resolvedAt === null),
    (thread) => thread.anchor.path,
  );
  return (
    <nav
      aria-label={t('reviewPage.files')}
      className="flex w-72 shrink-0 flex-col border-line max-md:h-44 max-md:w-full max-md:border-b md:border-r"
    >
      <div className="p-2">
        <Input
          type="search"
          aria-label={t('reviewPage.filterFiles')}
          placeholder={t('reviewPage.filterFiles')}
          value={filter}
          onChange={(event) => onFilter(event.target.value)}
        />
      </div>
      <div ref={box} className="min-h-0 flex-1 overflow-auto">
        <ul className="relative" style={{ height: list.getTotalSize() }}>
          {list.getVirtualItems().map(({ index, start, size }) => {
            const row = rows[index] as Row;
            return (
              <li
                key={index}
                className="absolute inset-x-0 top-0"
                style={{ height: size, transform: `translateY(${start}px)` }}
              >
                {'chapter' in row ? (
                  <h2 className="truncate px-3 pt-1.5 text-xs font-medium text-ink-muted">
                    {t(CHAPTER_LABELS[row.chapter])} {row.count}
                  </h2>
                ) : (
                  <button
                    type="button"
                    aria-current={row.path === chosen ? 'true' : undefined}
                    onClick={() => onChoose(row.path)}
                    className={cn(
                      'flex size-full min-w-0 items-center gap-1.5 px-3 text-left text-sm outline-offset-[-2px] hover:bg-raised',
                      row.path === chosen && 'bg-raised font-medium',
                    )}
                  >
                    <span dir="rtl" className="min-w-0 flex-1 truncate text-left" title={visibleMarks(row.path)}>
                      <bdi dir="ltr">{visibleMarks(row.path)}</bdi>
                    </span>
                    {open.has(row.path) ? (
                      <span className="text-xs text-accent tabular-nums">
                        {open.get(row.path)?.length}
                        <span className="sr-only"> {t('reviewPage.openThreads')}</span>
                      </span>
                    ) : null}
                    {isViewed(row, viewed) ? (
                      <span className="text-ok">
                        <Check aria-hidden className="size-4" />
                        <span className="sr-only">{t('reviewPage.viewed')}</span>
                      </span>
                    ) : null}
                  </button>
                )}
              </li>
            );
          })}
        </ul>
      </div>
    </nav>
  );
}

function withChapters(files: readonly FileChange[]): readonly Row[] {
  const counts = Map.groupBy(files, ({ path }) => chapterOf(path));
  let last: Chapter | undefined;
  return files.flatMap((file): Row[] => {
    const chapter = chapterOf(file.path);
    const head = chapter === last ? [] : [{ chapter, count: counts.get(chapter)?.length ?? 0 }];
    last = chapter;
    return [...head, file];
  });
}
