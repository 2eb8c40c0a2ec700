'use client';
import { MAX_ATTACHMENT_BYTES, MAX_MESSAGE_ATTACHMENTS } from '@slipway/contracts/conversations';
import { useTranslations } from 'next-intl';
import { useEffect, useRef, useState } from 'react';
import { toast } from 'sonner';
import { api, newId } from '../../api/client.ts';
import { bytes } from '../../browser/format.ts';
import { useStored } from '../../browser/stored.ts';
import type { Translate } from '../../messages/translate.ts';
import { type AttachedFile, filesOf, freeName, type KeptFile, keptOf, readFiles, writeFiles } from './attached-file.ts';
import { UploadFailure, uploadFile } from './upload-file.ts';

export interface Attachments {
  readonly files: readonly AttachedFile[];
  /** None of them is on its way or failed: the message can take them along. */
  readonly ready: boolean;
  readonly add: (given: readonly File[], pasted?: string) => void;
  readonly remove: (file: AttachedFile) => void;
  readonly retry: (file: AttachedFile) => void;
  /** Gives the files to a message: there are none afterwards. */
  readonly take: () => KeptFile[];
  /** Of a message that was not sent. */
  readonly giveBack: (files: readonly KeptFile[]) => void;
}

/**
 * Files of the next message: each is uploaded as soon as it is given. @param conversation `null`: the message is the
 * task of a new one.
 */
export function useAttachments(org: string, conversation: string | null): Attachments {
  const t = useTranslations();
  const [stored, store] = useStored(
    conversation === null ? `slipway.draft.${org}.files` : `slipway.message.${conversation}.files`,
    '',
  );
  const [files, setFiles] = useState<readonly AttachedFile[]>(() => readFiles(stored));
  /** As of now: an upload that ends meets what is there by then. */
  const now = useRef(files);
  const running = useRef(new Map<string, { content: Blob; stop: AbortController }>());
  const change = (work: (files: readonly AttachedFile[]) => readonly AttachedFile[]) => {
    now.current = work(now.current);
    setFiles(now.current);
    store(writeFiles(now.current));
  };
  const patch = (key: string, more: Partial<AttachedFile>) =>
    change((all) => all.map((each) => (each.key === key ? { ...each, ...more } : each)));

  useEffect(() => {
    const { current } = running;
    return () => {
      for (const { stop } of current.values()) stop.abort();
    };
  }, []);

  const start = (file: AttachedFile, content: Blob) => {
    const stop = new AbortController();
    running.current.set(file.key, { content, stop });
    uploadFile(
      { org, conversation, key: file.key, name: file.name, content },
      (progress) => patch(file.key, { progress }),
      stop.signal,
    ).then(
      ({ id, name, mediaType, sizeBytes }) => {
        running.current.delete(file.key);
        // Removed meanwhile.
        if (!now.current.some(({ key }) => key === file.key)) return drop(org, conversation, id);
        patch(file.key, { id, name, mediaType, sizeBytes, progress: 1 });
      },
      (error: unknown) => {
        if (stop.signal.aborted) return;
        const failure = error instanceof UploadFailure ? error.failure : null;
        const message = [failure?.title ?? t('attachments.notUploaded'), failure?.detail || failure?.nextStep];
        patch(file.key, {
          error: { message: message.filter(Boolean).join('. '), retry: failure?.retry !== 'never' },
        });
      },
    );
  };

  const add: Attachments['add'] = (given, pasted) => {
    const room = MAX_MESSAGE_ATTACHMENTS - now.current.length;
    if (given.length > room)
      toast.error(t('attachments.tooMany'), {
        description: t('attachments.limitOfMessage', { max: MAX_MESSAGE_ATTACHMENTS }),
      });
    for (const content of given.slice(0, Math.max(0, room))) {
      if (refused(content, t)) continue;
      const name = freeName(
        content.name,
        now.current.map((each) => each.name),
      );
      const file: AttachedFile = {
        key: newId(),
        name,
        sizeBytes: content.size,
        mediaType: content.type,
        progress: 0,
        ...(pasted === undefined ? {} : { pasted }),
      };
      change((all) => [...all, file]);
      start(file, content);
    }
  };

  return {
    files,
    ready: files.every(({ id }) => id !== undefined),
    add,
    remove: ({ key, id }) => {
      running.current.get(key)?.stop.abort();
      running.current.delete(key);
      change((all) => all.filter((each) => each.key !== key));
      if (id !== undefined) drop(org, conversation, id);
    },
    retry: (file) => {
      const content = running.current.get(file.key)?.content;
      if (content === undefined) return;
      const { error: _, ...again } = file;
      change((all) => all.map((each) => (each.key === file.key ? { ...again, progress: 0 } : each)));
      start(again, content);
    },
    take: () => {
      const taken = keptOf(now.current);
      change(() => []);
      return taken;
    },
    giveBack: (back) => change((all) => [...filesOf(back), ...all]),
  };
}

/** Best effort: one that stays is deleted by the server in time. */
function drop(org: string, conversation: string | null, attachment: string): void {
  const dropped =
    conversation === null
      ? api.deleteTaskAttachment({ org, attachment })
      : api.deleteAttachment({ org, conversation, attachment });
  dropped.catch(() => {});
}

/** Whether no server would take it, and the user was shown why. */
function refused({ name, size }: File, t: Translate): boolean {
  if (size > 0 && size <= MAX_ATTACHMENT_BYTES) return false;
  toast.error(t(size === 0 ? 'attachments.empty' : 'attachments.tooLarge', { name }), {
    description: t('attachments.limitOfFile', { max: bytes(MAX_ATTACHMENT_BYTES) }),
  });
  return true;
}
