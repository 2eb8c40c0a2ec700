'use client';
import type { ReviewThread } from '@slipway/contracts/conversations';
import type { FileChange } from '@slipway/contracts/repositories';
import { useState } from 'react';
import { useCommand } from '../commands/command-context.tsx';
import { threadBeside } from './review-files.ts';
import type { Landing } from './use-hunk-steps.ts';

interface ReviewKeys {
  readonly files: readonly FileChange[];
  readonly threads: readonly ReviewThread[];
  readonly file: FileChange | undefined;
  readonly choose: (path: string) => void;
}

interface Steps {
  /** Where the file was entered by a step from hunk to hunk. */
  readonly landing: Landing;
  readonly leave: ((by: 1 | -1) => void) | null;
  /** The thread that was stepped to. */
  readonly thread: string | null;
}

/** Steps by key from file to file and from thread to thread. */
export function useReviewKeys({ files, threads, file, choose }: ReviewKeys): Steps {
  const [entered, setEntered] = useState<{ path: string; landing: Landing } | null>(null);
  const [thread, setThread] = useState<string | null>(null);
  const index = file === undefined ? -1 : files.indexOf(file);
  const step = (by: 1 | -1, landing: Landing) => {
    const next = files[index + by];
    if (next === undefined) return;
    setEntered({ path: next.path, landing });
    choose(next.path);
  };
  const toThread = (by: 1 | -1) => () => {
    const next = threadBeside(threads, files, { path: file?.path ?? null, thread }, by);
    if (next === null) return;
    setEntered(null);
    setThread(next.id);
    if (next.anchor.path !== file?.path) choose(next.anchor.path);
  };
  useCommand('review.next-file', files[index + 1] === undefined ? null : () => step(1, null));
  useCommand('review.previous-file', files[index - 1] === undefined ? null : () => step(-1, null));
  useCommand('review.next-thread', threads.length === 0 ? null : toThread(1));
  useCommand('review.previous-thread', threads.length === 0 ? null : toThread(-1));
  return {
    landing: entered !== null && entered.path === file?.path ? entered.landing : null,
    leave: (by) => step(by, by === 1 ? 'first' : 'last'),
    thread,
  };
}
