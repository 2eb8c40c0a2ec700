'use client';
import { cn, SkeletonLines } from '@slipway/ui';
import { useVirtualizer, type Virtualizer } from '@tanstack/react-virtual';
import { useTranslations } from 'next-intl';
import { type KeyboardEvent, useEffect, useId, useRef } from 'react';
import { useMedia } from '../../browser/media.ts';
import { useSlice } from '../conversation/conversation-context.ts';
import type { FilesSession } from './files-session.ts';
import { rowThatBegins, stepOf } from './tree-keys.ts';
import { TreeLine } from './tree-line.tsx';
import { PAGE, rowAt, rowCount, rowOf, type TreeRow } from './tree-rows.ts';

/** Letters typed within this time belong together. Milliseconds. */
const TYPE_AHEAD_MS = 700;
/** Rows beyond the edge of what is seen. */
const OVERSCAN = 8;

interface FileTreeProps {
  session: FilesSession;
  connected: boolean;
  /** The row that keys act on. */
  active: string | null;
  setActive: (path: string | null) => void;
  openPath: (path: string) => void;
}

/** The tree, of any size: only what is in sight is on the page. Arrows move, Enter opens, letters find. */
export function FileTree({ session, connected, active, setActive, openPath }: FileTreeProps) {
  const t = useTranslations();
  const tree = useSlice(session.tree.tree);
  const unsaved = useSlice(session.files.unsaved);
  const open = useSlice(session.files.file)?.path ?? null;
  const scroller = useRef<HTMLDivElement>(null);
  const join = useTypedLetters();
  const touch = useMedia(t('files.pointerCoarseWidth48rem'));
  const id = useId();
  const height = touch ? 44 : 26;
  const count = tree.directories.has('') ? rowCount(tree) : 0;
  const list = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => height,
    overscan: OVERSCAN,
  });
  const items = list.getVirtualItems();
  const rows = items.map((item) => ({ item, row: rowAt(t, tree, item.index) }));

  // biome-ignore lint/correctness/useExhaustiveDependencies: the height of a row is the whole list's
  useEffect(() => list.measure(), [height]);

  useShownPages(
    session,
    rows.map(({ row }) => row),
  );

  const place = open === null ? -1 : rowOf(tree, open);
  useOpenedInSight({ open, place, list, setActive });

  const goTo = (index: number): void => {
    const row = rowAt(t, tree, Math.max(0, Math.min(count - 1, index)));
    if (row === undefined) return;
    setActive(row.path);
    list.scrollToIndex(Math.max(0, Math.min(count - 1, index)), { align: 'auto' });
  };
  const press = (row: TreeRow): void => {
    setActive(row.path);
    if (row.entry === null) return;
    if (row.expanded === null) openPath(row.path);
    else if (row.expanded) session.tree.collapse(row.path);
    else session.tree.expand(row.path);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.metaKey || event.ctrlKey || event.altKey) return;
    const step = stepOf(t, tree, { active, key: event.key, page: Math.max(1, items.length - 2 * OVERSCAN) });
    if (step === null && event.key.length !== 1) return;
    event.preventDefault();
    if (step === null) typeAhead(event.key);
    else if ('press' in step) press(step.press);
    else goTo(step.to);
  };
  const typeAhead = (letter: string): void => {
    const letters = join(letter);
    const found = rowThatBegins(tree, active ?? '', letters);
    if (found !== null) goTo(rowOf(tree, found));
  };

  if (count === 0)
    return (
      <div className="min-h-0 flex-1 p-3">{connected ? <TreeSkeleton words={tree.problems.get('')} /> : null}</div>
    );
  const activeIndex = active === null ? -1 : rows.findIndex(({ row }) => row?.path === active);
  return (
    <div
      ref={scroller}
      role="tree"
      aria-label={t('files.workspaceFiles')}
      tabIndex={0}
      aria-activedescendant={activeIndex < 0 ? undefined : `${id}-${rows[activeIndex]?.item.index}`}
      onKeyDown={onKeyDown}
      onFocus={() => active === null && goTo(0)}
      // The row has the ring, once it is there.
      className={cn(
        'group min-h-0 flex-1 overflow-auto py-1 outline-offset-[-2px]',
        activeIndex >= 0 && 'outline-none',
      )}
    >
      <div role="presentation" className="relative w-full" style={{ height: list.getTotalSize() }}>
        {rows.map(({ item, row }) =>
          row === undefined ? null : (
            <TreeLine
              key={`${row.parent} ${row.index} ${row.note ?? ''}`}
              id={`${id}-${item.index}`}
              row={row}
              top={item.start}
              height={height}
              isActive={row.path === active}
              isOpen={row.path === open}
              isUnsaved={unsaved.has(row.path)}
              press={() => press(row)}
            />
          ),
        )}
      </div>
    </div>
  );
}

/** Has the pages of the tree that are in sight read. */
function useShownPages(session: FilesSession, rows: readonly (TreeRow | undefined)[]): void {
  const seen = rows.flatMap((row) =>
    row === undefined || row.note !== null ? [] : [`${Math.floor(row.index / PAGE)} ${row.parent}`],
  );
  const pages = [...new Set(seen)].join('\n');
  useEffect(() => {
    if (pages === '') return;
    session.tree.show(
      pages.split('\n').map((one) => ({ page: Number.parseInt(one, 10), directory: one.slice(one.indexOf(' ') + 1) })),
    );
  }, [session, pages]);
}

/** What is opened from elsewhere is shown where it is, once. */
function useOpenedInSight({
  open,
  place,
  list,
  setActive,
}: {
  open: string | null;
  place: number;
  list: Virtualizer<HTMLDivElement, Element>;
  setActive: (path: string | null) => void;
}): void {
  const shown = useRef<string | null>(null);
  useEffect(() => {
    if (open === null) shown.current = null;
    if (open === null || place < 0 || shown.current === open) return;
    shown.current = open;
    setActive(open);
    list.scrollToIndex(place, { align: 'auto' });
  }, [open, place, list, setActive]);
}

/** Joins a letter to those typed shortly before it. */
function useTypedLetters(): (letter: string) => string {
  const typed = useRef({ letters: '', at: 0 });
  return (letter) => {
    const now = performance.now();
    const letters = now - typed.current.at < TYPE_AHEAD_MS ? typed.current.letters + letter : letter;
    typed.current = { letters, at: now };
    return letters;
  };
}

function TreeSkeleton({ words }: { words: string | undefined }) {
  if (words !== undefined) return <p className="text-sm text-bad">{words}</p>;
  return <SkeletonLines />;
}
