import type { PostgresSession, SessionConnection } from './postgres-session.js';

/** Longest wait for a connection to ask over. Milliseconds; then the caller fails, and comes again. */
const CONNECTION_WAIT_MS = 5_000;

/** A lock that this process has. */
export interface HeldLock {
  /** Aborted when the lock's connection is lost: by then another process may have the lock. */
  readonly signal: AbortSignal;
  /** Gives the lock back. Does nothing the second time, or when the connection was lost meanwhile. */
  release(): Promise<void>;
}

/** What a lock goes by: a text, of which Postgres makes a number, or the number itself. */
export type LockName = string | number;

/**
 * Advisory locks on the session's connection. They end with the process, even a killed one, so another process goes on
 * at once. When the connection is lost every lock on it is forgotten here at that moment and its holder's signal
 * aborted: whoever asks next, here or elsewhere, may have it.
 */
export class AdvisoryLocks {
  private readonly held = new Map<LockName, Hold>();

  constructor(
    private readonly session: PostgresSession,
    /** The reason of a signal that is aborted. */
    private readonly lossOf: (name: LockName) => Error = (name) =>
      new Error(`the lock ${name} was lost with its connection`),
  ) {}

  /** `null` when it is held, this process included. @throws when Postgres does not answer within seconds. */
  async tryLock(name: LockName): Promise<HeldLock | null> {
    if (this.held.has(name)) return null;
    const hold = new Hold();
    this.held.set(name, hold);
    const forget = (): void => {
      if (this.held.get(name) === hold) this.held.delete(name);
      hold.ended.resolve();
    };
    try {
      const connection = await this.session.connection(CONNECTION_WAIT_MS);
      if (!(await ask(connection, 'pg_try_advisory_lock', name))) {
        forget();
        return null;
      }
      const { lost } = connection;
      const lose = (): void => {
        forget();
        hold.abort.abort(this.lossOf(name));
      };
      lost.throwIfAborted();
      lost.addEventListener('abort', lose, { once: true });
      return {
        signal: hold.abort.signal,
        release: async () => {
          if (hold.released) return;
          hold.released = true;
          // A connection that was lost has let it go already; one that fails now is lost.
          if (!lost.aborted) await ask(connection, 'pg_advisory_unlock', name).catch(() => {});
          lost.removeEventListener('abort', lose);
          forget();
        },
      };
    } catch (error) {
      forget();
      throw error;
    }
  }

  /** Resolves when this process does not hold the lock any more; at once when it does not. */
  async untilFree(name: LockName): Promise<void> {
    await this.held.get(name)?.ended.promise;
  }

  holds(name: LockName): boolean {
    return this.held.has(name);
  }

  close(): Promise<void> {
    return this.session.close();
  }
}

class Hold {
  readonly abort = new AbortController();
  readonly ended = Promise.withResolvers<void>();
  released = false;
}

async function ask(
  connection: SessionConnection,
  call: 'pg_try_advisory_lock' | 'pg_advisory_unlock',
  name: LockName,
): Promise<boolean> {
  const key = typeof name === 'number' ? '$1::bigint' : 'hashtextextended($1, 7)';
  const query = { name: `${call} ${typeof name}`, text: `SELECT ${call}(${key}) AS answer`, values: [name] };
  return (await connection.query<{ answer: boolean }>(query))[0]?.answer === true;
}
