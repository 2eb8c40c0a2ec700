import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { freePort, until } from '@slipway/testing';

const MODULE = 'github.com/johannesboyne/gofakes3/cmd/gofakes3';
const VERSION = 'v1.2.0';
const FOLDER = path.join(os.homedir(), '.cache', 'slipway', 'gofakes3', VERSION);
const PROGRAM = path.join(FOLDER, 'gofakes3');
/** The first build fetches and compiles. Milliseconds. */
const BUILD_TIMEOUT_MS = 240_000;

export interface S3Server {
  readonly endpoint: string;
  readonly bucket: string;
  close(): Promise<void>;
}

/**
 * A small server that speaks S3 over HTTP, of Go's module proxy, built once into the cache. @returns why there is none,
 * in a sentence, when it cannot be built. @param address where it listens.
 */
export async function startS3Server(address = '127.0.0.1'): Promise<S3Server | string> {
  const missing = existsSync(PROGRAM) ? null : await build();
  if (missing !== null) return missing;
  const port = await freePort();
  const server = spawn(
    PROGRAM,
    ['-host', `${address}:${port}`, '-backend', 'memory', '-initialbucket', 'workspaces', '-quiet'],
    { stdio: 'ignore' },
  );
  const endpoint = `http://${address}:${port}`;
  await until('the S3 server answers', () => fetch(endpoint).then((response) => response.status < 500));
  return { endpoint, bucket: 'workspaces', close: () => end(server) };
}

async function build(): Promise<string | null> {
  await mkdir(FOLDER, { recursive: true });
  const env = { ...process.env, GOBIN: FOLDER, GOFLAGS: '-buildvcs=false', CGO_ENABLED: '0' };
  try {
    await promisify(execFile)('go', ['install', '-trimpath', `${MODULE}@${VERSION}`], {
      cwd: os.tmpdir(),
      env,
      timeout: BUILD_TIMEOUT_MS,
    });
    return null;
  } catch (error) {
    return `The S3 store was not tested: its server is built with Go, which ${(error as NodeJS.ErrnoException).code === 'ENOENT' ? 'is not installed' : 'failed'}.`;
  }
}

async function end(server: ChildProcess): Promise<void> {
  const ended = new Promise((resolve) => server.once('exit', resolve));
  server.kill('SIGKILL');
  await ended;
}
