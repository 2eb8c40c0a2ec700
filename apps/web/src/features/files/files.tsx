'use client';
import { cn, EmptyState } from '@slipway/ui';
import { useTranslations } from 'next-intl';
import { useState } from 'react';
import { useSlice, useView } from '../conversation/conversation-context.ts';
import { LiveNotice } from '../live/live-notice.tsx';
import { FilePane } from './file-pane.tsx';
import { FileTools } from './file-tools.tsx';
import { FileTree } from './file-tree.tsx';
import { useFiles } from './use-files.ts';

/**
 * The workspace of the sandbox: its tree, and the file that is open. Where there is no room for both, one after the
 * other.
 */
export function FilesPanel() {
  const t = useTranslations();
  const hadWorkspace = useView((view) => view.hadWorkspace);
  const files = useFiles();
  const { session, channel, openPath } = files;
  const file = useSlice(session.files.file);
  const tree = useSlice(session.tree.tree);
  const [active, setActive] = useState<string | null>(null);
  const known = tree.directories.has('');
  if (!hadWorkspace && !known)
    return <EmptyState title={t('files.noWorkspaceYet')}>{t('files.theSandboxsFilesAppearHere')}</EmptyState>;
  return (
    <div className="@container flex h-full min-h-0 flex-col">
      <LiveNotice channel={channel} what={t('files.theFileTree')} />
      <div className="flex min-h-0 flex-1">
        <div
          className={cn(
            'min-h-0 min-w-0 flex-1 flex-col',
            file === null ? 'flex' : 'hidden @xl:flex @xl:w-56 @xl:flex-none @xl:border-r @xl:border-line',
          )}
        >
          <FileTools session={session} connected={channel.state.phase === 'open'} active={active} openPath={openPath} />
          <FileTree
            session={session}
            connected={channel.state.phase === 'open'}
            active={active}
            setActive={setActive}
            openPath={openPath}
          />
        </div>
        {file === null ? null : (
          <div className="flex min-h-0 min-w-0 flex-1 flex-col">
            <FilePane
              session={session}
              file={file}
              connected={channel.state.phase === 'open'}
              close={() => openPath(null)}
            />
          </div>
        )}
      </div>
    </div>
  );
}
