'use client';
import { cn, Dialog, Input } from '@slipway/ui';
import { useTranslations } from 'next-intl';
import { type KeyboardEvent, useEffect, useId, useState } from 'react';
import type { FilesSession } from './files-session.ts';
import { nameOfPath, parentPath } from './tree-rows.ts';

/** Quiet time after the last letter. Milliseconds. */
const SETTLE_MS = 120;

interface Found {
  /** What was looked for: Enter opens nothing that was found for other letters. */
  readonly query: string;
  readonly paths: readonly string[];
  readonly complete: boolean;
}

/** Finds a file by letters of its path. */
export function QuickOpen({
  session,
  close,
  openPath,
}: {
  session: FilesSession;
  close: () => void;
  openPath: (path: string) => void;
}) {
  const t = useTranslations();
  const [query, setQuery] = useState('');
  const [found, setFound] = useState<Found | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  const [at, setAt] = useState(0);
  const id = useId();
  useEffect(() => {
    let stale = false;
    const look = async (): Promise<void> => {
      try {
        const answer = await session.requests.ask({ type: 'find', query: query.trim() }, 'found');
        if (stale) return;
        setFound({ ...answer, query });
        setFailure(null);
        setAt(0);
      } catch (error) {
        if (!stale) setFailure(error instanceof Error ? error.message : t('files.theFileSearchFailed'));
      }
    };
    const timer = setTimeout(() => void look(), SETTLE_MS);
    return () => {
      stale = true;
      clearTimeout(timer);
    };
  }, [session, query, t]);
  const paths = found?.paths ?? [];
  const open = (path: string | undefined): void => {
    if (path === undefined) return;
    close();
    openPath(path);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step !== 0) setAt((now) => Math.max(0, Math.min(paths.length - 1, now + step)));
    else if (event.key === 'Enter') open(found?.query === query ? paths[at] : undefined);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog open onOpenChange={close} title={t('files.findAFile')}>
      <div className="flex flex-col gap-2 p-3">
        <Input
          data-autofocus
          role="combobox"
          aria-expanded={paths.length > 0}
          aria-controls={`${id}-list`}
          aria-activedescendant={paths.length > 0 ? `${id}-${at}` : undefined}
          aria-label={t('files.lettersOfThePath')}
          placeholder={t('files.lettersOfThePath')}
          value={query}
          onChange={(event) => setQuery(event.target.value)}
          onKeyDown={onKeyDown}
          autoComplete="off"
          autoCapitalize="none"
          spellCheck={false}
        />
        <p role="status" className={failure === null ? 'sr-only' : 'text-sm text-bad'}>
          {failure ?? (found === null ? '' : t('files.found', { count: paths.length }))}
        </p>
        <div
          role="listbox"
          id={`${id}-list`}
          aria-label={t('files.files')}
          tabIndex={-1}
          className="max-h-[50dvh] overflow-auto"
        >
          {paths.map((path, index) => (
            <Line key={path} id={`${id}-${index}`} path={path} chosen={index === at} open={() => open(path)} />
          ))}
        </div>
        {found !== null && paths.length === 0 ? (
          <p className="px-2 pb-2 text-sm text-ink-muted">{t('files.noFilePathMatchesFiles')}</p>
        ) : null}
      </div>
    </Dialog>
  );
}

function Line({ id, path, chosen, open }: { id: string; path: string; chosen: boolean; open: () => void }) {
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: keys are the field's
    <div
      role="option"
      id={id}
      tabIndex={-1}
      aria-selected={chosen}
      onClick={open}
      ref={(line) => {
        if (chosen) line?.scrollIntoView({ block: 'nearest' });
      }}
      className={cn(
        'flex min-h-8 touch:min-h-11 cursor-default items-baseline gap-2 rounded-md px-2 py-1 text-sm',
        chosen && 'bg-raised',
      )}
    >
      <span className="max-w-full shrink-0 truncate text-ink">{nameOfPath(path)}</span>
      <span className="truncate text-xs text-ink-muted">{parentPath(path)}</span>
    </div>
  );
}
