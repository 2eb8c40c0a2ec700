'use client';
import { cn, SkeletonLines } from '@slipway/ui';
import { useVirtualizer } from '@tanstack/react-virtual';
import { ChevronRight, CornerDownRight, File, Folder, FolderOpen } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { type KeyboardEvent, useEffect, useId, useRef } from 'react';
import { useMedia } from '../../browser/media.ts';
import { useSlice } from '../conversation/conversation-context.ts';
import type { FilesSession } from './files-session.ts';
import { rowThatBegins, stepOf } from './tree-keys.ts';
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
  const typed = useRef({ letters: '', at: 0 });
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

  const seen = rows.flatMap(({ row }) =>
    row === undefined || row.note !== null ? [] : [`${Math.floor(row.index / PAGE)} ${row.parent}`],
  );
  const pages = [...new Set(seen)].join('\n');
  useEffect(() => {
    if (pages === '') return;
    session.tree.show(
      pages.split('\n').map((one) => ({ page: Number.parseInt(one, 10), directory: one.slice(one.indexOf(' ') + 1) })),
    );
  }, [session, pages]);

  // What is opened from elsewhere is shown where it is.
  const place = open === null ? -1 : rowOf(tree, open);
  const shown = useRef<string | null>(null);
  useEffect(() => {
    if (open === null) shown.current = null;
    if (open === null || place < 0 || shown.current === open) return;
    shown.current = open;
    setActive(open);
    list.scrollToIndex(place, { align: 'auto' });
  }, [open, place, list, setActive]);

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
    const now = performance.now();
    const letters = now - typed.current.at < TYPE_AHEAD_MS ? typed.current.letters + letter : letter;
    typed.current = { letters, at: now };
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
            <Line
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

interface LineProps {
  id: string;
  row: TreeRow;
  top: number;
  height: number;
  isActive: boolean;
  isOpen: boolean;
  isUnsaved: boolean;
  press: () => void;
}

function Line({ id, row, top, height, isActive, isOpen, isUnsaved, press }: LineProps) {
  const t = useTranslations();
  const { entry } = row;
  const style = { top, height, paddingLeft: 8 + (row.level - 1) * 14 };
  if (entry === null)
    return (
      <div
        role="treeitem"
        id={id}
        aria-level={row.level}
        aria-disabled="true"
        aria-selected="false"
        tabIndex={-1}
        className="absolute inset-x-0 flex items-center pr-2 text-sm text-ink-muted"
        style={style}
      >
        <span className="truncate pl-5">{row.note ?? '…'}</span>
      </div>
    );
  const quiet = entry.ignored || entry.name.startsWith('.');
  const words = [
    entry.name,
    entry.link ? 'link' : '',
    entry.ignored ? t('files.ignoredByGit') : '',
    isUnsaved ? t('files.unsaved') : '',
  ]
    .filter(Boolean)
    .join(', ');
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: keys are the tree's
    <div
      role="treeitem"
      id={id}
      tabIndex={-1}
      aria-label={words}
      aria-level={row.level}
      aria-posinset={row.index + 1}
      aria-setsize={row.count}
      aria-expanded={row.expanded ?? undefined}
      aria-selected={isOpen}
      onClick={press}
      title={words}
      style={style}
      className={cn(
        'absolute inset-x-0 flex cursor-default items-center gap-1.5 pr-2 text-sm select-none hover:bg-raised',
        isOpen && 'bg-accent-soft hover:bg-accent-soft',
        isActive &&
          'group-focus-visible:outline-2 group-focus-visible:outline-offset-[-2px] group-focus-visible:outline-accent',
        quiet ? 'text-ink-muted' : 'text-ink',
        entry.ignored && 'italic',
      )}
    >
      {row.expanded === null ? (
        <span className="w-3.5 shrink-0" />
      ) : (
        <ChevronRight
          aria-hidden
          className={cn('size-3.5 shrink-0 text-ink-muted transition-transform', row.expanded && 'rotate-90')}
        />
      )}
      <Icon row={row} />
      <span className="truncate">{entry.name}</span>
      {isUnsaved ? <span aria-hidden className="ml-auto size-2 shrink-0 rounded-full bg-warn" /> : null}
    </div>
  );
}

function Icon({ row }: { row: TreeRow }) {
  const Kind = row.expanded === null ? File : row.expanded ? FolderOpen : Folder;
  return (
    <span aria-hidden className="relative shrink-0 text-ink-muted">
      <Kind className="size-4" />
      {row.entry?.link === true ? (
        <CornerDownRight className="absolute -bottom-0.5 -left-1 size-2.5 bg-surface text-ink" />
      ) : null}
    </span>
  );
}

function TreeSkeleton({ words }: { words: string | undefined }) {
  if (words !== undefined) return <p className="text-sm text-bad">{words}</p>;
  return <SkeletonLines />;
}
