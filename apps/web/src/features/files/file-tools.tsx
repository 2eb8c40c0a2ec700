'use client';
import { SANDBOX_PORTS } from '@slipway/contracts/sandboxes';
import { Button, ConfirmDialog, Dialog, Field, IconButton, Input, Menu, MenuItem, MenuSeparator } from '@slipway/ui';
import { Download, Ellipsis, FilePlus, FolderPlus, PencilLine, Search, Trash2 } from 'lucide-react';
import { useTranslations } from 'next-intl';
import { type FormEvent, useState } from 'react';
import { toast } from 'sonner';
import { copyText } from '../../browser/copy-button.tsx';
import { useSlice } from '../conversation/conversation-context.ts';
import { usePortOpening } from '../ports/use-access.ts';
import type { FilesSession } from './files-session.ts';
import type { Asked } from './live-requests.ts';
import { QuickOpen } from './quick-open.tsx';
import { directoryOf } from './tree-keys.ts';
import { entryOf, nameOfPath } from './tree-rows.ts';

type Question =
  | { readonly what: 'new-file' | 'new-folder' | 'rename'; readonly text: string }
  | { readonly what: 'delete' }
  | { readonly what: 'find' };

interface FileToolsProps {
  session: FilesSession;
  connected: boolean;
  active: string | null;
  openPath: (path: string | null) => void;
}

/** What can be done with the tree and with the row that is active in it. */
export function FileTools({ session, connected, active, openPath }: FileToolsProps) {
  const t = useTranslations();
  const tree = useSlice(session.tree.tree);
  const [question, setQuestion] = useState<Question | null>(null);
  const download = useFileDownload();
  const chosen = active === null ? undefined : entryOf(tree, active);
  const path = chosen === undefined ? null : active;
  const beneath = directoryOf(tree, active);
  const start = beneath === '' ? '' : `${beneath}/`;
  const close = (): void => setQuestion(null);
  return (
    <div className="flex h-10 shrink-0 touch:h-12 items-center gap-0.5 border-b border-line px-2">
      <IconButton label={t('files.findAFile')} onClick={() => setQuestion({ what: 'find' })} disabled={!connected}>
        <Search aria-hidden />
      </IconButton>
      <IconButton
        label={t('files.newFile')}
        onClick={() => setQuestion({ what: 'new-file', text: start })}
        disabled={!connected}
      >
        <FilePlus aria-hidden />
      </IconButton>
      <IconButton
        label={t('files.newFolder')}
        onClick={() => setQuestion({ what: 'new-folder', text: start })}
        disabled={!connected}
      >
        <FolderPlus aria-hidden />
      </IconButton>
      <span className="flex-1" />
      <Menu
        trigger={
          <Button
            tone="quiet"
            size="icon"
            aria-label={
              path === null ? t('files.actionsSelectAFileFirst') : t('files.actionsFor', { path: nameOfPath(path) })
            }
            disabled={path === null}
          >
            <Ellipsis aria-hidden />
          </Button>
        }
      >
        <MenuItem disabled={!connected} onSelect={() => setQuestion({ what: 'rename', text: path ?? '' })}>
          <PencilLine aria-hidden /> {t('files.renameOrMove')}
        </MenuItem>
        <MenuItem
          disabled={!connected}
          onSelect={() => path !== null && download(path, chosen?.kind === 'directory' ? 'folder' : 'file')}
        >
          <Download aria-hidden /> {chosen?.kind === 'directory' ? t('files.downloadAsZip') : t('files.download')}
        </MenuItem>
        <MenuItem onSelect={() => path !== null && void copyText(t, Promise.resolve(path))}>
          {t('files.copyPath')}
        </MenuItem>
        <MenuSeparator />
        <MenuItem disabled={!connected} onSelect={() => setQuestion({ what: 'delete' })}>
          <Trash2 aria-hidden /> {t('common.delete')}
        </MenuItem>
      </Menu>
      {question?.what === 'find' ? <QuickOpen session={session} close={close} openPath={openPath} /> : null}
      {question !== null && 'text' in question ? (
        <NameDialog session={session} question={question} path={path} close={close} openPath={openPath} />
      ) : null}
      {question?.what === 'delete' && path !== null ? (
        <DeleteDialog
          session={session}
          path={path}
          folder={chosen?.kind === 'directory'}
          close={close}
          openPath={openPath}
        />
      ) : null}
    </div>
  );
}

/** By a tab of its own on the sandbox's own origin, which the browser ends when it sees that it is a download. */
export function useFileDownload(): (path: string, what: 'file' | 'folder') => void {
  const t = useTranslations();
  const { open } = usePortOpening();
  return (path, what) => {
    const address = {
      port: SANDBOX_PORTS['agent-server'],
      path: `/api/file/${what === 'file' ? 'download' : 'zip'}?path=${encodeURIComponent(path)}`,
    };
    open.mutate(address, {
      onError: (error) =>
        toast.error(t('files.couldNotBeDownloaded', { path: nameOfPath(path) }), { description: error.message }),
    });
  };
}

const TITLES = { 'new-file': 'files.newFile', 'new-folder': 'files.newFolder', rename: 'files.renameOrMove2' } as const;

interface NameDialogProps {
  session: FilesSession;
  question: { readonly what: 'new-file' | 'new-folder' | 'rename'; readonly text: string };
  path: string | null;
  close: () => void;
  openPath: (path: string | null) => void;
}

function NameDialog({ session, question, path, close, openPath }: NameDialogProps) {
  const t = useTranslations();
  const [text, setText] = useState(question.text);
  const { busy, failure, ask } = useAsking(session, close);
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    const wanted = text.trim().replaceAll(/^\/+|\/+$/g, '');
    if (wanted === '' || busy) return;
    if (question.what === 'rename' && wanted === path) close();
    else if (question.what === 'rename') {
      void ask({ type: 'rename', path: path ?? '', to: wanted }, () => {
        const now = session.files.moved(path ?? '', wanted);
        if (now !== null) openPath(now);
        session.tree.reveal(wanted);
      });
    } else {
      const kind = question.what === 'new-file' ? 'file' : 'directory';
      void ask({ type: 'create', path: wanted, kind }, () => {
        session.tree.reveal(wanted);
        if (kind === 'file') openPath(wanted);
        else session.tree.expand(wanted);
      });
    }
  };
  return (
    <Dialog open onOpenChange={close} title={t(TITLES[question.what])}>
      <form onSubmit={submit} noValidate className="flex flex-col gap-4 p-4">
        <Field label={t('files.pathInTheWorkspace')} error={failure} hint={t('files.missingFoldersAreCreated')}>
          {(control) => (
            <Input
              {...control}
              data-autofocus
              value={text}
              onChange={(event) => setText(event.target.value)}
              autoComplete="off"
              autoCapitalize="none"
              spellCheck={false}
            />
          )}
        </Field>
        <div className="flex justify-end gap-2">
          <Button onClick={close}>{t('common.cancel')}</Button>
          <Button type="submit" tone="primary" busy={busy}>
            {question.what === 'rename' ? t('files.move') : t('common.create')}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function DeleteDialog({
  session,
  path,
  folder,
  close,
  openPath,
}: Omit<NameDialogProps, 'question' | 'path'> & { path: string; folder: boolean }) {
  const t = useTranslations();
  const { busy, failure, ask } = useAsking(session, close);
  const open = session.files.file.get()?.path;
  const confirm = (): void => {
    void ask({ type: 'delete', path }, () => {
      if (open === path || open?.startsWith(`${path}/`)) openPath(null);
    });
  };
  return (
    <ConfirmDialog
      open
      onOpenChange={close}
      title={t('files.delete', { path: nameOfPath(path) })}
      confirmLabel={t('common.delete2')}
      busy={busy}
      onConfirm={confirm}
    >
      <p className="break-words">
        {t('files.willBeDeletedInThe', { what: folder ? t('files.andEverythingInIt', { path }) : path })}
      </p>
      {failure === null ? null : (
        <p role="alert" className="text-bad">
          {failure}
        </p>
      )}
    </ConfirmDialog>
  );
}

/** One request of a dialog: it closes when that is done, and says what failed. */
function useAsking(session: FilesSession, close: () => void) {
  const t = useTranslations();
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<string | null>(null);
  const ask = async (request: Asked, done: () => void): Promise<void> => {
    setBusy(true);
    setFailure(null);
    try {
      await session.requests.ask(request, 'done');
      done();
      close();
    } catch (error) {
      setFailure(error instanceof Error ? error.message : t('files.theOperationFailed'));
      setBusy(false);
    }
  };
  return { busy, failure, ask };
}
