import { link, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { startTimeOf } from './process-identity.js';

const queues = new Map<string, Promise<void>>();

/**
 * One change of a sandbox at a time, over all runtime-api processes of this machine. The lock of a process that was
 * killed is taken over.
 * @param file path of the lock; its folder must exist or be makeable.
 * @throws the reason of `signal` when the lock does not come free before it.
 */
export async function withLock<T>(file: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  const before = queues.get(file) ?? Promise.resolve();
  let release = (): void => {};
  const mine = new Promise<void>((resolve) => {
    release = resolve;
  });
  const tail = before.then(() => mine);
  queues.set(file, tail);
  try {
    await before;
    await acquire(file, signal);
    try {
      return await work();
    } finally {
      await rm(file, { force: true });
    }
  } finally {
    release();
    if (queues.get(file) === tail) queues.delete(file);
  }
}

async function acquire(file: string, signal: AbortSignal): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  const owner = JSON.stringify({ pid: process.pid, startTime: await startTimeOf(process.pid) });
  const mine = `${file}.${process.pid}`;
  await writeFile(mine, owner, { mode: 0o600 });
  try {
    while (true) {
      signal.throwIfAborted();
      // A link, so that the lock appears with its owner's name already in it.
      const taken = await link(mine, file).then(
        () => true,
        (error: NodeJS.ErrnoException) => {
          if (error.code === 'EEXIST') return false;
          throw error;
        },
      );
      if (taken) return;
      if (!(await breakStale(file))) await wait(10);
    }
  } finally {
    await rm(mine, { force: true });
  }
}

/** Removes the lock of a process that has ended. @returns false when its owner runs, or the lock is gone. */
async function breakStale(file: string): Promise<boolean> {
  const text = await readFile(file, 'utf8').catch(() => null);
  if (text === null || (await ownerRuns(text))) return false;
  const aside = `${file}.stale.${process.pid}`;
  await rename(file, aside).catch(() => {});
  // Another may have broken the same lock and taken it between the check and the rename: then it gets it back.
  const moved = await readFile(aside, 'utf8').catch(() => null);
  if (moved !== null && moved !== text) await link(aside, file).catch(() => {});
  await rm(aside, { force: true });
  return true;
}

async function ownerRuns(text: string): Promise<boolean> {
  try {
    const owner = JSON.parse(text) as { pid: number; startTime: string };
    return (await startTimeOf(owner.pid)) === owner.startTime;
  } catch {
    return false;
  }
}
