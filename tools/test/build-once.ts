import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

/**
 * Builds what has changed, in Nx's cache of this checkout. One build at a time: two would write the same files.
 * @returns its output when it failed.
 */
export async function buildAll(root: string, signal: AbortSignal): Promise<string | null> {
  const release = await lock(path.join(root, '.nx/build.lock'), signal);
  try {
    const child = spawn(
      process.execPath,
      [path.join(root, 'node_modules/nx/dist/bin/nx.js'), 'run-many', '-t', 'build', '--outputStyle=static'],
      {
        cwd: root,
        stdio: ['ignore', 'pipe', 'pipe'],
        signal,
      },
    );
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => {
        output = (output + chunk.toString()).slice(-100_000);
      });
    }
    const code = await new Promise<number>((resolve) =>
      child.once('error', () => resolve(1)).once('close', (status) => resolve(status ?? 1)),
    );
    return code === 0 ? null : output;
  } finally {
    release();
  }
}

/** A file that holds the owner's process id; one whose owner has died is taken over. */
async function lock(file: string, signal: AbortSignal): Promise<() => void> {
  mkdirSync(path.dirname(file), { recursive: true });
  for (;;) {
    signal.throwIfAborted();
    try {
      const descriptor = openSync(file, 'wx');
      writeSync(descriptor, String(process.pid));
      closeSync(descriptor);
      return () => rmSync(file, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      if (!lives(file)) rmSync(file, { force: true });
      else await wait(200);
    }
  }
}

function lives(file: string): boolean {
  try {
    const pid = Number(readFileSync(file, 'utf8'));
    // An empty file is being written.
    if (pid > 0) process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
