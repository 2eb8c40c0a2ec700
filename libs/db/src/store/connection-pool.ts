import pg from 'pg';
import type { PoolClient, SqlPool } from '../sql/index.js';

/** Whoever runs statements: a pool, or a client of it in the middle of a transaction. */
export type Connection = SqlPool | PoolClient;

/** What Prisma's transactions are called inside ours. */
const SAVEPOINT = 'prisma';
const NESTED: Readonly<Record<string, string>> = {
  BEGIN: `SAVEPOINT ${SAVEPOINT}`,
  COMMIT: `RELEASE SAVEPOINT ${SAVEPOINT}`,
  ROLLBACK: `ROLLBACK TO SAVEPOINT ${SAVEPOINT}`,
};

/**
 * The pool that Prisma's adapter asks, which is none: what it is given runs on the connection of the moment. So Prisma
 * is inside the transaction of its caller, under its organization and role, and opens no connection of its own.
 */
export class ConnectionPool extends pg.Pool {
  private connection: Connection | null = null;

  /** @param connection `null`: what is asked afterwards fails. */
  bind(connection: Connection | null): void {
    this.connection = connection;
  }

  override query = ((...args: Parameters<SqlPool['query']>): unknown => {
    const connection = this.bound() as { query: (...given: unknown[]) => unknown };
    return connection.query(...args);
  }) as unknown as SqlPool['query'];

  /**
   * For the few operations that Prisma makes of several statements. Inside a transaction it is a savepoint of that one.
   */
  override connect = (async (): Promise<unknown> => {
    const connection = this.bound();
    if (connection instanceof pg.Pool) return connection.connect();
    const client = connection as { query: (config: { text: string }) => unknown };
    return {
      query: (config: { text: string }) => client.query({ ...config, text: NESTED[config.text] ?? config.text }),
      on: () => {},
      removeListener: () => {},
      release: () => {},
    };
  }) as unknown as SqlPool['connect'];

  private bound(): Connection {
    if (this.connection === null)
      throw new Error('Prisma was asked after its statement had ended; await what `userStore` is given');
    return this.connection;
  }
}
