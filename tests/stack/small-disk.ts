import { execFile } from 'node:child_process';
import { mkdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { type PostgresServer, startPostgresServer } from '@slipway/db/embedded';
import pg from 'pg';

const run = promisify(execFile);
/** Of the volume; the migrated schemas take less than half of it. */
const SIZE_MIB = 160;

/**
 * A Postgres whose tables lie on a small volume of their own (a tmpfs); its WAL has room, as it has in a real
 * installation.
 */
export class SmallDisk {
  readonly url: string;
  private readonly volume: string;
  private readonly server: PostgresServer;

  private constructor(url: string, volume: string, server: PostgresServer) {
    this.url = url;
    this.volume = volume;
    this.server = server;
  }

  /** @returns a sentence that says why there is none, where mounting is not allowed. */
  static async open(folder: string): Promise<SmallDisk | string> {
    const volume = path.join(folder, 'volume');
    await mkdir(volume, { recursive: true });
    try {
      await run('mount', ['-t', 'tmpfs', '-o', `size=${SIZE_MIB}m,mode=0755`, 'slipway-small-disk', volume]);
    } catch (error) {
      return `a small volume cannot be mounted here (${(error as { stderr?: string }).stderr?.trim() || String(error)}): run as root`;
    }
    try {
      const data = path.join(folder, 'postgres');
      const server = await startPostgresServer(data, 0, [
        '-c',
        'fsync=off',
        '-c',
        'checkpoint_timeout=1h',
        '-c',
        'autovacuum=off',
      ]);
      const tables = path.join(volume, 'tables');
      await mkdir(tables);
      const { uid, gid } = await stat(data);
      await run('chown', [`${uid}:${gid}`, tables]);
      const url = new URL(server.url);
      url.pathname = '/slipway';
      const admin = new pg.Client({ connectionString: server.url });
      await admin.connect();
      await admin.query(`CREATE TABLESPACE small LOCATION '${tables}'`);
      await admin.query('CREATE DATABASE slipway TABLESPACE small');
      await admin.end();
      return new SmallDisk(url.href, volume, server);
    } catch (error) {
      await run('umount', ['--lazy', volume]);
      throw error;
    }
  }

  /** Rows of all tables want a page of their own from now on, almost each. Waits for every transaction that is open. */
  async spread(): Promise<void> {
    const owner = new pg.Client({ connectionString: this.url });
    await owner.connect();
    try {
      const { rows } = await owner.query<{ name: string }>(
        "SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')",
      );
      for (const { name } of rows) {
        await owner.query(`ALTER TABLE ${name} SET (fillfactor = 10)`);
        await owner.query(`VACUUM FULL ${name}`);
      }
    } finally {
      await owner.end();
    }
  }

  /**
   * No table takes a further page. One whose rows were not spread takes as many as there is room for in its last page.
   */
  async fill(): Promise<void> {
    await run('dd', ['if=/dev/zero', `of=${this.ballast}`, 'bs=64k']).catch(() => {});
  }

  /** Room was made. */
  async free(): Promise<void> {
    await rm(this.ballast, { force: true });
  }

  async close(): Promise<void> {
    await this.server.stop();
    await run('umount', ['--lazy', this.volume]);
  }

  private get ballast(): string {
    return path.join(this.volume, 'ballast');
  }
}
