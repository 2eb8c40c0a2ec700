import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { freePort } from '@slipway/db/embedded';
import { until } from './until.js';

export interface RedisServer {
  readonly url: string;
  /** SIGKILL: nothing that was not on disk survives. */
  kill(): Promise<void>;
  /** On the same port, with what was on disk. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * A Redis of its own on a loopback port (Debian package `redis-server`), writing every command to disk; `null` when the
 * machine has none.
 */
export async function startRedisServer(): Promise<RedisServer | null> {
  const program = findProgram('redis-server');
  if (program === null) return null;
  const directory = await mkdtemp(path.join(os.tmpdir(), 'slipway-redis-'));
  const port = await freePort();
  let child = await start(program, port, directory);
  const end = async (signal: 'SIGKILL' | 'SIGTERM'): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    await ended;
  };
  return {
    url: `redis://127.0.0.1:${port}`,
    kill: () => end('SIGKILL'),
    restart: async () => {
      await end('SIGTERM');
      child = await start(program, port, directory);
    },
    stop: async () => {
      await end('SIGTERM');
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function start(program: string, port: number, directory: string): Promise<ChildProcess> {
  const flags = [
    '--port',
    String(port),
    '--bind',
    '127.0.0.1',
    '--dir',
    directory,
    '--save',
    '',
    '--appendonly',
    'yes',
    '--appendfsync',
    'always',
    '--maxmemory-policy',
    'noeviction',
  ];
  const child = spawn(program, flags, { stdio: 'ignore' });
  await until(`redis-server on port ${port}`, () => answers(port));
  return child;
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('PING\r\n'));
    const end = (answer: boolean): void => {
      socket.destroy();
      resolve(answer);
    };
    socket.once('data', (data) => end(data.toString().startsWith('+PONG')));
    socket.once('error', () => end(false));
    socket.setTimeout(500, () => end(false));
  });
}

function findProgram(name: string): string | null {
  for (const directory of (process.env['PATH'] ?? '').split(path.delimiter)) {
    const file = path.join(directory, name);
    try {
      accessSync(file, constants.X_OK);
      return file;
    } catch {
      // Not in this one.
    }
  }
  return null;
}
