'use client';
import type { FileChange, FolderChange } from '@slipway/contracts/repositories';
import { visibleMarks } from '@slipway/domain/review';
import { cn } from '@slipway/ui';
import { Check, CornerLeftUp, Folder } from 'lucide-react';
import { useTranslations } from 'next-intl';

const ROW = 'flex size-full min-w-0 items-center gap-1.5 px-3 text-left text-sm outline-offset-[-2px] hover:bg-raised';

interface FileRowProps {
  readonly file: FileChange;
  readonly chosen: boolean;
  readonly viewed: boolean;
  /** Open threads in it. */
  readonly threads: number;
  readonly onChoose: (path: string) => void;
}

/** A changed file of the list: a press shows its lines. */
export function FileRow({ file, chosen, viewed, threads, onChoose }: FileRowProps) {
  const t = useTranslations();
  return (
    <button
      type="button"
      aria-current={chosen ? 'true' : undefined}
      onClick={() => onChoose(file.path)}
      className={cn(ROW, chosen && 'bg-raised font-medium')}
    >
      <PathText path={file.path} />
      {threads > 0 ? (
        <span className="text-xs text-accent tabular-nums">
          {threads}
          <span className="sr-only"> {t('reviewPage.openThreads')}</span>
        </span>
      ) : null}
      {viewed ? (
        <span className="text-ok">
          <Check aria-hidden className="size-4" />
          <span className="sr-only">{t('reviewPage.viewed')}</span>
        </span>
      ) : null}
    </button>
  );
}

/** A folder whose files are not listed one by one: a press lists them. */
export function FolderRow({ folder, onChoose }: { folder: FolderChange; onChoose: (path: string) => void }) {
  const t = useTranslations();
  return (
    <button type="button" onClick={() => onChoose(folder.path)} className={ROW}>
      <Folder aria-hidden className="size-4 shrink-0 text-ink-muted" />
      <PathText path={`${folder.path}/`} />
      <span className="text-xs text-ink-muted tabular-nums">{t('reviewPage.filesIn', { count: folder.files })}</span>
    </button>
  );
}

/** Leads from a folder to the one around it. */
export function UpRow({ folder, onChoose }: { folder: string; onChoose: (path: string | null) => void }) {
  const t = useTranslations();
  const slash = folder.lastIndexOf('/');
  return (
    <button type="button" onClick={() => onChoose(slash < 0 ? null : folder.slice(0, slash))} className={ROW}>
      <CornerLeftUp aria-hidden className="size-4 shrink-0 text-ink-muted" />
      <span className="sr-only">{t('reviewPage.upFrom')} </span>
      <PathText path={`${folder}/`} />
    </button>
  );
}

/** Its end stays in sight where it is too long. */
function PathText({ path }: { path: string }) {
  return (
    <span dir="rtl" className="min-w-0 flex-1 truncate text-left" title={visibleMarks(path)}>
      <bdi dir="ltr">{visibleMarks(path)}</bdi>
    </span>
  );
}
