'use client';
import type { ReviewThread } from '@slipway/contracts/conversations';
import type { FileChange, FolderChange } from '@slipway/contracts/repositories';
import { type Chapter, chapterOf } from '@slipway/domain/review';
import { Input } from '@slipway/ui';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useTranslations } from 'next-intl';
import { useMemo, useRef } from 'react';
import { useMedia } from '../../browser/media.ts';
import type { MessageKey } from '../../messages/translate.ts';
import { FileRow, FolderRow, UpRow } from './file-row.tsx';
import { isViewed, type Order } from './review-files.ts';

const CHAPTER_LABELS: Readonly<Record<Chapter, MessageKey>> = {
  contract: 'reviewPage.contract',
  core: 'reviewPage.core',
  tests: 'reviewPage.tests',
  generated: 'reviewPage.generated',
};
type Row = { readonly chapter: Chapter; readonly count: number } | { readonly up: string } | FolderChange | FileChange;

interface FileListProps {
  readonly files: readonly FileChange[];
  /** Those whose files are not listed one by one. */
  readonly folders: readonly FolderChange[];
  /** The one whose files are listed; `null`: all. */
  readonly folder: string | null;
  readonly onFolder: (path: string | null) => void;
  readonly order: Order;
  readonly chosen: string | null;
  readonly viewed: ReadonlyMap<string, string>;
  readonly threads: readonly ReviewThread[];
  readonly filter: string;
  readonly onFilter: (filter: string) => void;
  readonly onChoose: (path: string) => void;
}

/** The changed files; only those in sight are in the page. */
export function FileList(props: FileListProps) {
  const { files, folders, folder, onFolder, order, chosen, viewed, threads, filter, onFilter, onChoose } = props;
  const t = useTranslations();
  const box = useRef<HTMLDivElement>(null);
  const touch = useMedia('(pointer: coarse)');
  const rows = useMemo<readonly Row[]>(
    () => [
      ...(folder === null ? [] : [{ up: folder }]),
      ...folders,
      ...(order === 'chapters' ? withChapters(files) : files),
    ],
    [files, folders, folder, order],
  );
  const list = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => (touch ? 44 : 28),
    overscan: 12,
  });
  const open = useMemo(
    () =>
      Map.groupBy(
        threads.filter((thread) => thread.resolvedAt === null),
        (thread) => thread.anchor.path,
      ),
    [threads],
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
                ) : 'up' in row ? (
                  <UpRow folder={row.up} onChoose={onFolder} />
                ) : 'files' in row ? (
                  <FolderRow folder={row} onChoose={onFolder} />
                ) : (
                  <FileRow
                    file={row}
                    chosen={row.path === chosen}
                    viewed={isViewed(row, viewed)}
                    threads={open.get(row.path)?.length ?? 0}
                    onChoose={onChoose}
                  />
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
