import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { takeBuildLock } from '../cluster/build/build-lock.js';

export interface MakeOnce {
  /** For what is said. */
  readonly what: string;
  readonly say: (line: string) => void;
  readonly signal?: AbortSignal | undefined;
  /** Fills an empty folder, which then gets the name. */
  readonly make: (making: string) => Promise<void>;
}

/**
 * A folder that is made where it is not yet: two processes at once make it once, and one that fails or is killed leaves
 * none that seems complete.
 */
export async function makeOnce(folder: string, { what, say, signal, make }: MakeOnce): Promise<void> {
  if (existsSync(folder)) return;
  const release = await takeBuildLock(
    `${folder}.lock`,
    (pid) => say(`${what}: process ${pid} is making it; waiting for it`),
    signal,
  );
  try {
    if (existsSync(folder)) return;
    await removeUnfinished(folder);
    const making = `${folder}.making-${process.pid}`;
    await mkdir(making, { recursive: true });
    await make(making);
    await rename(making, folder);
  } finally {
    await removeUnfinished(folder);
    await release();
  }
}

/** Also what was left by those that were killed. Only with the lock. */
async function removeUnfinished(folder: string): Promise<void> {
  for (const name of await readdir(path.dirname(folder)))
    if (name.startsWith(`${path.basename(folder)}.making-`))
      await rm(path.join(path.dirname(folder), name), { recursive: true, force: true });
}
