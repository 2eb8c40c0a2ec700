'use client';
import { cn } from '@slipway/ui';
import { ChevronRight, CornerDownRight, File, Folder, FolderOpen } from 'lucide-react';
import { useTranslations } from 'next-intl';
import type { TreeRow } from './tree-rows.ts';

interface TreeLineProps {
  id: string;
  row: TreeRow;
  top: number;
  height: number;
  isActive: boolean;
  isOpen: boolean;
  isUnsaved: boolean;
  press: () => void;
}

/** One row of the tree: a file, a directory, or a note in their place. */
export function TreeLine({ id, row, top, height, isActive, isOpen, isUnsaved, press }: TreeLineProps) {
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
