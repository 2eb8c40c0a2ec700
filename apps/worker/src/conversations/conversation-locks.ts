import { SlipwayError } from '@slipway/errors';
import type { Logger } from '@slipway/telemetry';
import pg from 'pg';

/** Longest that a job waits for another job of the same conversation. Milliseconds; then it comes again. */
const WAIT_MS = 2_000;
const POLL_MIN_MS = 10;
const POLL_MAX_MS = 200;

/** Another job, here or elsewhere, holds the lock. */
export class LockBusy extends Error {
  override readonly name = 'LockBusy';
}

/**
 * Advisory locks on one connection of their own. They end with the process, even a killed one, so another worker goes on at once.
 * When the connection is lost every holder's signal is aborted: by then somebody else may hold the lock.
 */
export class ConversationLocks {
  private client: Promise<pg.Client> | null = null;
  /** The connection takes one query at a time. */
  private last: Promise<unknown> = Promise.resolve();
  private readonly held = new Map<string, { ended: Promise<void>; abort: AbortController }>();
  private closed = false;

  constructor(private readonly options: { databaseUrl: string; applicationName: string; logger: Logger }) {}

  /**
   * Runs `work` while this process alone holds `name`.
   * @throws LockBusy when another holds it for longer than `waitMs`.
   */
  async withLock<T>(name: string, signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>, waitMs = WAIT_MS): Promise<T> {
    const deadline = performance.now() + waitMs;
    for (let pause = POLL_MIN_MS; ; pause = Math.min(pause * 2, POLL_MAX_MS)) {
      signal.throwIfAborted();
      const attempt = await this.tryLock(name);
      if (attempt !== null) {
        try {
          return await work(AbortSignal.any([signal, attempt.signal]));
        } finally {
          await attempt.release();
        }
      }
      const left = deadline - performance.now();
      if (left <= 0) throw new LockBusy(`${name} is locked`);
      await Promise.race([wait(Math.min(pause, left)), ...(this.held.has(name) ? [this.held.get(name)?.ended] : [])]);
    }
  }

  /** `null` when somebody holds it, this process included. */
  async tryLock(name: string): Promise<{ signal: AbortSignal; release: () => Promise<void> } | null> {
    if (this.held.has(name)) return null;
    const ended = Promise.withResolvers<void>();
    const abort = new AbortController();
    this.held.set(name, { ended: ended.promise, abort });
    const forget = (): void => {
      this.held.delete(name);
      ended.resolve();
    };
    try {
      const client = await this.connection();
      if (!(await this.ask(client, 'lock', 'SELECT pg_try_advisory_lock(hashtextextended($1, 7)) AS answer', name))) {
        forget();
        return null;
      }
      return {
        signal: abort.signal,
        release: async () => {
          // A connection that broke has let it go already.
          await this.ask(client, 'unlock', 'SELECT pg_advisory_unlock(hashtextextended($1, 7)) AS answer', name).catch(() => {});
          forget();
        },
      };
    } catch (error) {
      forget();
      throw error;
    }
  }

  async close(): Promise<void> {
    this.closed = true;
    const client = await this.client?.catch(() => null);
    await client?.end().catch(() => {});
  }

  private ask(client: pg.Client, query: string, text: string, name: string): Promise<boolean> {
    const asked = this.last.then(async () => (await client.query<{ answer: boolean }>({ name: query, text, values: [name] })).rows[0]?.answer === true);
    this.last = asked.catch(() => {
      // An answer that did not come may have been a lock that nobody here would let go: with the connection all of them end.
      void client.end().catch(() => {});
    });
    return asked;
  }

  private connection(): Promise<pg.Client> {
    if (this.closed) return Promise.reject(new SlipwayError('service.unavailable', 'The worker is ending.'));
    this.client ??= this.connect();
    return this.client;
  }

  private connect(): Promise<pg.Client> {
    const client = new pg.Client({
      connectionString: this.options.databaseUrl,
      application_name: `${this.options.applicationName}-locks`,
      connectionTimeoutMillis: 5_000,
      query_timeout: 5_000,
      keepAlive: true,
      keepAliveInitialDelayMillis: 5_000,
    });
    const connected = client.connect().then(() => client);
    const lose = (): void => {
      // An error and the end after it are two events; by the second one another connection may be in use.
      if (this.client !== connected) return;
      this.client = null;
      if (this.closed) return;
      this.options.logger.warn('the lock connection was lost; its jobs begin again');
      for (const { abort } of this.held.values()) abort.abort(new SlipwayError('service.unavailable', 'The lock on the conversation was lost.'));
    };
    client.on('error', lose);
    client.once('end', lose);
    connected.catch(lose);
    return connected;
  }
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
