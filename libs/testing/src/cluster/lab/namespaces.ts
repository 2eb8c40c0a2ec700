import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { childOf } from './process-table.js';

const run = promisify(execFile);

/** What a cluster's programs see of the environment: no proxies, no settings of whoever runs the test. */
export const PLAIN_ENVIRONMENT = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  HOME: '/root',
  LANG: 'C.UTF-8',
};

export interface Namespaces {
  /** The first process inside, as the host numbers it. When it ends, all inside end with it. */
  readonly pid: number;
  /** SIGKILL for everything inside; returns when the kernel has ended all of it. */
  end(): Promise<void>;
}

/**
 * A mount, network, process, host name and IPC namespace of its own. With the lifetime `process` the kernel ends it
 * when this process ends, also by SIGKILL: the holder gets a signal at its parent's death.
 */
export async function openNamespaces(
  init: string,
  directory: string,
  hostname: string,
  lifetime: 'process' | 'detached',
): Promise<Namespaces> {
  const unshare = [
    'unshare',
    '--mount',
    '--net',
    '--pid',
    '--uts',
    '--ipc',
    '--fork',
    '--kill-child=SIGKILL',
    '--mount-proc',
    '--propagation',
    'private',
  ];
  const command = [
    ...(lifetime === 'process' ? ['setpriv', '--pdeathsig', 'KILL'] : []),
    ...unshare,
    '--',
    init,
    directory,
    hostname,
  ];
  const log = openSync(path.join(directory, 'logs/init.log'), 'a');
  const holder = spawn(command[0] as string, command.slice(1), {
    detached: true,
    stdio: ['ignore', 'pipe', log],
    env: PLAIN_ENVIRONMENT,
    cwd: '/',
  });
  closeSync(log);
  const ended = new Promise<void>((resolve) => holder.once('exit', () => resolve()).once('error', () => resolve()));
  await said(holder, 'ready', path.join(directory, 'logs/init.log'));
  const pid = childOf(holder.pid as number);
  if (pid === null) throw new Error('the first process of the namespaces ended at once');
  holder.stdout?.destroy();
  holder.unref();
  return {
    pid,
    end: async () => {
      holder.ref();
      if (holder.exitCode === null && holder.signalCode === null) process.kill(pid, 'SIGKILL');
      await ended;
    },
  };
}

function said(child: ChildProcess, word: string, log: string): Promise<void> {
  return new Promise((resolve, reject) => {
    let output = '';
    child.once('error', reject);
    child.once('exit', (code) =>
      reject(new Error(`the namespaces could not be made: unshare ended with ${code}, see ${log}`)),
    );
    child.stdout?.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      if (output.includes(word)) resolve();
    });
  });
}

/** The command that enters all namespaces of `pid` for what stands behind it. */
export const enter = (pid: number): string[] => [
  'nsenter',
  '-t',
  String(pid),
  '--mount',
  '--net',
  '--pid',
  '--uts',
  '--ipc',
  '--',
];

/** The same for the network alone: files and processes are this machine's. */
export const enterNetwork = (pid: number): string[] => ['nsenter', '-t', String(pid), '--net', '--'];

/** Runs lines of `ip`, in this machine's network or in that of `pid`. @throws Error with what `ip` said. */
export async function configureNetwork(lines: readonly string[], pid: number | null = null): Promise<void> {
  const command = [...(pid === null ? [] : enterNetwork(pid)), 'ip', '-batch', '-'];
  const promise = run(command[0] as string, command.slice(1), { env: PLAIN_ENVIRONMENT, timeout: 10_000 });
  promise.child.stdin?.end(`${lines.join('\n')}\n`);
  await promise;
}
