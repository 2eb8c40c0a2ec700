import os from 'node:os';
import { startProcess } from './child-process.ts';

/** Keeps every core of this machine busy, as builds and tests beside a bench do, until it is stopped. */
export function busyCores(): { stop(): Promise<void> } {
  const loops = Array.from({ length: os.availableParallelism() }, () =>
    startProcess(process.execPath, ['--eval', 'for (;;);'], {}),
  );
  return {
    stop: async () => {
      for (const loop of loops) loop.kill('SIGKILL');
      await Promise.all(loops.map((loop) => loop.stop()));
    },
  };
}
