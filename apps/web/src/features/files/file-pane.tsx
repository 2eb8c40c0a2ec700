'use client';
import type { FileState } from '@slipway/contracts/live';
import { shownText } from '@slipway/domain';
import { Badge, Button, EmptyState, IconButton, SkeletonLines } from '@slipway/ui';
import { ArrowLeft, Download, Save } from 'lucide-react';
import dynamic from 'next/dynamic';
import { useTranslations } from 'next-intl';
import { type ReactNode, useState } from 'react';
import { bytes } from '../../browser/format.ts';
import type { OpenFile } from './file-store.ts';
import { useFileDownload } from './file-tools.tsx';
import type { FilesSession } from './files-session.ts';
import { Sides } from './sides.tsx';
import { nameOfPath, parentPath } from './tree-rows.ts';

const CodeEditor = dynamic(() => import('./code-editor.tsx'), {
  ssr: false,
  loading: () => <SkeletonLines className="p-4" />,
});

interface FilePaneProps {
  session: FilesSession;
  file: OpenFile;
  connected: boolean;
  close: () => void;
}

/** The file that is open: its text in an editor, or what it is instead. */
export function FilePane({ session, file, connected, close }: FilePaneProps) {
  const t = useTranslations();
  const { path, state, draft } = file;
  const { files } = session;
  const download = useFileDownload();
  const [compared, setCompared] = useState<string | null>(null);
  const unsaved = draft !== null && draft.draft !== null;
  const showsText = draft !== null && (state === null || state.kind === 'text' || unsaved);
  const other = draft?.theirs?.text ?? draft?.replaced ?? null;
  const readOnly = file.masked || (state?.kind === 'text' && state.readOnly && !unsaved);
  return (
    <section aria-label={t('files.file', { path })} className="flex min-h-0 flex-1 flex-col">
      <header className="flex min-h-10 shrink-0 touch:min-h-12 items-center gap-1.5 border-b border-line px-2">
        <IconButton label={t('files.closeFile')} onClick={close}>
          <ArrowLeft aria-hidden />
        </IconButton>
        <h2 className="flex min-w-0 flex-1 items-baseline gap-1.5 text-sm" title={path}>
          <span className="max-w-full shrink-0 truncate font-medium text-ink">{nameOfPath(path)}</span>
          <span className="truncate text-xs text-ink-muted">{parentPath(path)}</span>
        </h2>
        {readOnly ? <Badge>{t('files.readOnly')}</Badge> : null}
        {unsaved ? <Badge tone="warn">{t('files.unsaved')}</Badge> : null}
        {state === null || state.kind === 'gone' || state.kind === 'refused' || state.kind === 'directory' ? null : (
          <IconButton label={t('files.download')} onClick={() => download(path, 'file')} disabled={!connected}>
            <Download aria-hidden />
          </IconButton>
        )}
        {showsText && !readOnly ? (
          <Button
            size="small"
            tone={unsaved ? 'primary' : 'plain'}
            disabled={!unsaved || draft.theirs !== null}
            busy={draft.saving !== null}
            onClick={() => void files.save()}
          >
            {draft.saving === null ? <Save aria-hidden /> : null} {t('common.save')}
          </Button>
        ) : null}
      </header>
      <Sides
        session={session}
        file={file}
        compares={compared === path}
        compare={(on) => setCompared(on ? path : null)}
      />
      <div className="min-h-0 flex-1 overflow-auto">
        {showsText ? (
          <CodeEditor
            path={path}
            text={shownText(draft)}
            current={() => currentText(session, path)}
            other={compared === path ? other : null}
            readOnly={readOnly}
            onChange={(text) => files.typed(text)}
            onSave={() => void files.save()}
          />
        ) : (
          <Instead
            state={state}
            path={path}
            download={() => download(path, 'file')}
            connected={connected}
            problem={file.problem}
          />
        )}
      </div>
    </section>
  );
}

function currentText(session: FilesSession, path: string): string {
  const file = session.files.file.get();
  return file?.path === path && file.draft !== null ? shownText(file.draft) : '';
}

interface InsteadProps {
  state: FileState | null;
  path: string;
  download: () => void;
  connected: boolean;
  problem: string | null;
}

/** What is at the path when it is no text. */
function Instead({ state, path, download, connected, problem }: InsteadProps): ReactNode {
  const t = useTranslations();
  const get = (
    <Button onClick={download} disabled={!connected}>
      <Download aria-hidden /> {t('files.download')}
    </Button>
  );
  if (state === null)
    return problem !== null ? (
      <EmptyState title={t('files.thisFileCannotBeShown')}>{problem}</EmptyState>
    ) : connected ? (
      <SkeletonLines className="p-4" />
    ) : null;
  switch (state.kind) {
    case 'text':
      return null;
    case 'picture':
      return (
        <div className="flex min-h-full items-center justify-center bg-raised p-4">
          {/* biome-ignore lint/performance/noImgElement: it comes from the sandbox, not from a server that could make it smaller */}
          <img src={`data:${state.mediaType};base64,${state.base64}`} alt={nameOfPath(path)} className="max-w-full" />
        </div>
      );
    case 'binary':
      return (
        <EmptyState title={t('files.binaryFile')} action={get}>
          {t('files.neitherTextNorAnImage', { sizeBytes: bytes(state.sizeBytes) })}
        </EmptyState>
      );
    case 'too-large':
      return (
        <EmptyState title={t('files.tooLargeToShow')} action={get}>
          {t('files.thisFileIsFilesUp', { sizeBytes: bytes(state.sizeBytes), limitBytes: bytes(state.limitBytes) })}
        </EmptyState>
      );
    case 'directory':
      return <EmptyState title={t('files.thisIsNowAFolder')}>{t('files.isNoLongerAFile', { path })}</EmptyState>;
    case 'gone':
      return <EmptyState title={t('files.fileNotFound')}>{t('files.isNotInTheSandbox', { path })}</EmptyState>;
    case 'refused':
      return <EmptyState title={t('files.thisCannotBeOpened')}>{state.detail}</EmptyState>;
  }
}
