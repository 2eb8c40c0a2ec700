import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';

export interface RunningProcess {
  readonly pid: number;
  /** Standard output and error so far, the last 64 KiB. */
  output(): string;
  /** SIGTERM, after five seconds SIGKILL; answers when it is gone. */
  stop(): Promise<void>;
  kill(signal: NodeJS.Signals): void;
}

/** A child of the bench that ends with it, even when the bench itself is killed by its own error. */
export function startProcess(
  command: string,
  argv: readonly string[],
  env: Readonly<Record<string, string>>,
  cwd?: string,
): RunningProcess & { readonly child: ChildProcess } {
  const child = spawn(command, argv, {
    env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(cwd === undefined ? {} : { cwd }),
  });
  let text = '';
  const keep = (part: Buffer): void => {
    text = (text + part.toString()).slice(-65_536);
  };
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  const gone = new Promise<void>((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', (error) => {
      text += String(error);
      resolve();
    });
  });
  const atExit = (): void => void child.kill('SIGKILL');
  process.once('exit', atExit);
  void gone.then(() => process.off('exit', atExit));
  return {
    child,
    pid: child.pid ?? -1,
    output: () => text,
    kill: (signal) => void child.kill(signal),
    stop: async () => {
      child.kill('SIGTERM');
      await Promise.race([gone, wait(5_000, undefined, { ref: false })]);
      child.kill('SIGKILL');
      await gone;
    },
  };
}

/** Waits until a URL answers 200. @throws Error with the process's output when it ends first or `timeoutMs` pass. */
export async function waitForHttp(
  url: string,
  running: RunningProcess & { readonly child: ChildProcess },
  timeoutMs = 60_000,
): Promise<void> {
  const end = performance.now() + timeoutMs;
  while (performance.now() < end) {
    if (running.child.exitCode !== null || running.child.signalCode !== null)
      throw new Error(`it ended before ${url} answered:\n${running.output()}`);
    try {
      const response = await fetch(url, { signal: AbortSignal.timeout(1_000) });
      await response.arrayBuffer();
      if (response.status === 200) return;
    } catch {
      // Not listening yet.
    }
    await wait(20);
  }
  throw new Error(`${url} did not answer 200 within ${timeoutMs} ms:\n${running.output()}`);
}
