'use client';
import { useTranslations } from 'next-intl';
import { useEffect } from 'react';
import { useAddressValue } from '../../browser/address.ts';
import { useRepositories } from '../changes/use-changes.ts';
import { useConversation } from '../conversation/conversation-context.ts';
import { repositoryFolder } from '../conversation/workspace-path.ts';
import type { LiveChannel } from '../live/live-state.ts';
import { useLiveChannel } from '../live/use-live-channel.ts';
import { addressOfFile, fileOfAddress } from './file-address.ts';
import { type FilesSession, filesSession } from './files-session.ts';
import { rootsOf } from './roots.ts';

export interface Files {
  readonly session: FilesSession;
  readonly channel: LiveChannel;
  /** Which file is open is in the address; opening one can be taken back with Back. */
  readonly openPath: (path: string | null) => void;
}

/** The files of this conversation's sandbox, as long as the panel is there. */
export function useFiles(): Files {
  const t = useTranslations();
  const { store, conversation } = useConversation();
  const session = filesSession(store, conversation.id, t);
  const [address, setAddress] = useAddressValue('file');
  const channel = useLiveChannel('files', {
    onOpen: () => session.opened(),
    onMessage: (message) => session.requests.receive(message),
  });
  const { send } = channel;
  const open = channel.state.phase === 'open';
  const path = address === null ? null : fileOfAddress(address, conversation.repository);
  useEffect(() => session.requests.over(send), [session, send]);
  useEffect(() => {
    if (!open) session.requests.lost();
  }, [session, open]);
  const repositories = useRepositories().data?.data ?? [];
  const roots = rootsOf([
    repositoryFolder(conversation.repository),
    ...repositories.map((repository) => repository.path),
  ]).join('\n');
  useEffect(() => {
    if (open) session.tree.openRoots(roots.split('\n'));
  }, [session, open, roots]);
  useEffect(() => {
    session.files.open(path);
    if (path !== null) session.tree.reveal(path);
  }, [session, path]);
  useEffect(() => {
    const flush = () => session.files.flush();
    window.addEventListener('pagehide', flush);
    return () => {
      window.removeEventListener('pagehide', flush);
      flush();
    };
  }, [session]);
  return {
    session,
    channel,
    openPath: (next) => setAddress(next === null ? null : addressOfFile(next, conversation.repository), 'push'),
  };
}
