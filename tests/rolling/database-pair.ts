import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { type PostgresServer, startPostgresServer } from '@slipway/db/embedded';
import { until } from '@slipway/testing';
import pg from 'pg';

/** What a crash of the machine would lose is lost with the folder anyway. */
export const POSTGRES_FLAGS = ['-c', 'fsync=off', '-c', 'full_page_writes=off'];
/** Longest that a standby takes to connect, or to become the primary. Milliseconds. */
const STANDBY_MS = 20_000;

/**
 * A primary that commits when its streaming standby has it too, so that nothing that was acknowledged is lost with
 * either.
 */
export class DatabasePair implements PostgresServer {
  private readonly folder: string;
  private primary: PostgresServer;
  private readonly standby: PostgresServer;
  private promoted = false;

  private constructor(folder: string, primary: PostgresServer, standby: PostgresServer) {
    this.folder = folder;
    this.primary = primary;
    this.standby = standby;
  }

  static async start(directory: string): Promise<DatabasePair> {
    const folder = path.join(directory, 'postgres');
    // A copy of a server that is shut down: the binaries at hand have no pg_basebackup.
    await (await startPostgresServer(folder, 0, POSTGRES_FLAGS)).stop();
    const copy = path.join(directory, 'standby');
    // With its owner: as root, the server runs as another user.
    await promisify(execFile)('cp', ['-a', folder, copy]);
    const primary = await startPostgresServer(folder, 0, [...POSTGRES_FLAGS, '-c', 'synchronous_standby_names=*']);
    const { port, username, password } = new URL(primary.url);
    await writeFile(path.join(copy, 'standby.signal'), '');
    const from = `host=127.0.0.1 port=${port} user=${username} password=${password}`;
    const standby = await startPostgresServer(copy, 0, [...POSTGRES_FLAGS, '-c', `primary_conninfo=${from}`]);
    await until(
      'the standby is synchronous',
      async () => (await ask(primary.url, "SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'")) === 1,
      STANDBY_MS,
    );
    return new DatabasePair(folder, primary, standby);
  }

  /** Of whichever is the primary. */
  get url(): string {
    return this.promoted ? this.standby.url : this.primary.url;
  }

  /** The primary ends in order and is started again. */
  async restart(): Promise<void> {
    const { port } = new URL(this.primary.url);
    await this.primary.stop();
    this.primary = await startPostgresServer(this.folder, Number(port), [
      ...POSTGRES_FLAGS,
      '-c',
      'synchronous_standby_names=*',
    ]);
  }

  /** Kills the primary, and makes the standby the primary. */
  async failOver(): Promise<void> {
    const postmaster = Number(readFileSync(path.join(this.folder, 'postmaster.pid'), 'utf8').split('\n')[0]);
    process.kill(postmaster, 'SIGKILL');
    await this.primary.stop();
    await ask(this.standby.url, `SELECT CASE WHEN pg_promote(true, ${STANDBY_MS / 1_000}) THEN 1 ELSE 0 END`);
    this.promoted = true;
  }

  async stop(): Promise<void> {
    // The primary first: it waits until its standby has the remainder.
    await this.primary.stop();
    await this.standby.stop();
  }
}

/** The first value of the first row, as a number. */
async function ask(url: string, text: string): Promise<number | undefined> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const row = (await client.query({ text, rowMode: 'array' })).rows[0] as unknown[] | undefined;
    return row === undefined ? undefined : Number(row[0]);
  } finally {
    await client.end();
  }
}
