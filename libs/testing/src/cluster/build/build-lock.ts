import { mkdir, open, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { processStart } from '../lab/process-table.js';

/**
 * Waits while another process holds `file`, calling `onWait` once; a dead holder's lock is taken over. @returns a
 * function that releases it.
 */
export async function takeBuildLock(
  file: string,
  onWait: (pid: number) => void,
  signal?: AbortSignal,
): Promise<() => Promise<void>> {
  await mkdir(path.dirname(file), { recursive: true });
  for (let reported = false; ; ) {
    signal?.throwIfAborted();
    try {
      const handle = await open(file, 'wx');
      await handle.writeFile(`${process.pid} ${processStart(process.pid)}`);
      await handle.close();
      return () => rm(file, { force: true });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const [pid, started] = (await readFile(file, 'utf8').catch(() => '')).split(' ');
    // An empty one is being written this moment.
    if (started !== undefined && processStart(Number(pid)) !== started) await rm(file, { force: true });
    else {
      if (!reported) onWait(Number(pid));
      reported = true;
      await wait(250, undefined, { signal });
    }
  }
}
