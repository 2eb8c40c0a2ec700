import { type ChildProcess, spawn } from 'node:child_process';
import { open, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { SlipwayError } from '@slipway/errors';
import { startTimeOf } from './process-identity.js';
import type { ServerProcess } from './sandbox-record.js';

export interface Launch {
  /** As sentences name it: `agent-server` or `action-server`. */
  readonly role: string;
  readonly command: readonly string[];
  readonly cwd: string;
  /** The whole environment; nothing of this process's own is added. */
  readonly environment: Readonly<Record<string, string>>;
  readonly logFile: string;
  /** The server writes `{port}` there when it listens. */
  readonly listeningFile: string;
  /** Called when it has a pid; the promise says how it ended: `was killed (SIGKILL)`, `ended with code 1`. */
  readonly onStart: (pid: number, ended: Promise<string>) => void;
}

/** Longest start of one server. Milliseconds. */
const START_TIMEOUT_MS = 15_000;

/**
 * Starts one server of a sandbox so that it outlives this process, and waits until it listens.
 * @throws SlipwayError `sandbox.start-failed` with the last line of its log when it ends first or takes longer than 15
 * s; it is then killed.
 */
export async function launchServer(launch: Launch, signal: AbortSignal): Promise<ServerProcess> {
  await rm(launch.listeningFile, { force: true });
  const log = await open(launch.logFile, 'a', 0o600);
  const [program = '', ...args] = launch.command;
  let ended: string | null = null;
  let child: ChildProcess;
  try {
    // A process group and session of its own: a signal to runtime-api's terminal, or its death, does not reach it.
    child = spawn(program, args, {
      cwd: launch.cwd,
      env: { ...launch.environment },
      stdio: ['ignore', log.fd, log.fd],
      detached: true,
    });
    // At once: without a listener a program or folder that is not there would end this process.
    child.once('error', (error) => {
      ended = `could not be started: ${error.message}`;
    });
  } finally {
    await log.close();
  }
  const exit = new Promise<string>((resolve) => {
    child.once('exit', (code, killedBy) => {
      ended = killedBy === null ? `ended with code ${code}` : `was killed (${killedBy})`;
      resolve(ended);
    });
  });
  if (child.pid !== undefined) launch.onStart(child.pid, exit);
  child.unref();
  const end = performance.now() + START_TIMEOUT_MS;
  try {
    while (true) {
      signal.throwIfAborted();
      if (ended !== null) throw await startFailed(launch, ended);
      const port = await readPort(launch.listeningFile);
      if (port !== null && child.pid !== undefined) {
        const startTime = await startTimeOf(child.pid);
        if (startTime !== null) return { pid: child.pid, startTime, port };
      }
      if (performance.now() > end)
        throw await startFailed(launch, `did not listen within ${START_TIMEOUT_MS / 1000} s`);
      await wait(10);
    }
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  }
}

async function readPort(file: string): Promise<number | null> {
  const text = await readFile(file, 'utf8').catch(() => null);
  if (text === null) return null;
  try {
    const { port } = JSON.parse(text) as { port?: unknown };
    return typeof port === 'number' ? port : null;
  } catch {
    return null;
  }
}

async function startFailed(launch: Launch, how: string): Promise<SlipwayError> {
  const log = await readFile(launch.logFile, 'utf8').catch(() => '');
  const last = log.trimEnd().split('\n').at(-1)?.slice(-500) ?? '';
  return new SlipwayError(
    'sandbox.start-failed',
    `${launch.role} ${how}${last === '' ? '' : `; its last line: ${last}`}`,
  );
}

/** Can a server listen on this loopback port now? */
export async function isPortFree(port: number): Promise<boolean> {
  const probe = createServer();
  return new Promise((resolve) => {
    probe.once('error', () => resolve(false));
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)));
  });
}
