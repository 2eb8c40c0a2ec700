import pg from 'pg';

/** Interval of the liveness checks of the server. Milliseconds. */
const BEAT_MS = 2_000;
/** Longest wait for one answer; then the connection is given up. Milliseconds. */
const ANSWER_MS = 4_000;
/**
 * The server ends a session that asked nothing for this long, and with it its locks. Milliseconds. Longer than a beat
 * and an answer together: the client has given the connection up before the server gives its locks to another process.
 */
const SERVER_PATIENCE_MS = 9_000;
const CONNECT_MS = 4_000;
/**
 * Pause before the next attempt to connect, doubling from the first to the second, and anything between its half and
 * itself. Milliseconds.
 */
const RETRY_MIN_MS = 50;
const RETRY_MAX_MS = 1_000;

/** One connection out of those that a `PostgresSession` has in turn. */
export interface SessionConnection {
  /**
   * Aborted, with the reason, as soon as the connection is gone or silent. Its advisory locks and `LISTEN`s are gone
   * then, or end within seconds.
   */
  readonly lost: AbortSignal;
  /**
   * One query at a time, in the order of the calls. Any failure ends the connection: an answer that did not come may
   * have been a lock that would never be released.
   */
  query<Row extends pg.QueryResultRow>(query: pg.QueryConfig): Promise<Row[]>;
}

export interface PostgresSessionOptions {
  readonly url: string;
  readonly applicationName: string;
  /** Runs on each connection before anybody gets it: `LISTEN`, handlers. */
  readonly prepare?: (connection: SessionConnection, client: pg.Client) => Promise<void>;
  /** Called for each connection once it can be used. */
  readonly onOpen?: (connection: SessionConnection) => void;
  /** Called once for each outage, not for each attempt in it. */
  readonly onLost: (error: Error) => void;
  /**
   * Spreads the attempts of many processes after an outage of all of them. Between 0 and 1; `Math.random` when not
   * given.
   */
  readonly random?: () => number;
}

/**
 * State that Postgres keeps with a connection (advisory locks, `LISTEN`) on a connection of its own.
 *
 * The connection is made again by itself, with backoff, for as long as the session is open. A beat every 2 s finds one
 * that is silent, whatever stands between; whoever uses a connection holds its `lost` signal. The server ends a session
 * whose client it has not heard for 9 s, so that a process that was cut off does not keep its locks.
 */
export class PostgresSession {
  private live: Connection | null = null;
  private latest: Connection | null = null;
  private waiting = Promise.withResolvers<Connection>();
  private readonly closing = new AbortController();
  private readonly running: Promise<void>;

  constructor(private readonly options: PostgresSessionOptions) {
    this.waiting.promise.catch(() => {});
    this.running = this.run();
  }

  /**
   * The connection of now, or the next one. @throws Error when there is none within `waitMs`, or the session was
   * closed.
   */
  async connection(waitMs: number): Promise<SessionConnection> {
    if (this.live !== null) return this.live;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`Postgres took no connection for ${waitMs} ms`)), waitMs);
    });
    try {
      return await Promise.race([this.waiting.promise, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  async close(): Promise<void> {
    this.closing.abort(new Error('the session was closed'));
    this.waiting.reject(this.closing.signal.reason);
    this.latest?.lose(this.closing.signal.reason as Error);
    await this.running;
  }

  private async run(): Promise<void> {
    const { signal } = this.closing;
    let reported = false;
    for (let pauseMs = RETRY_MIN_MS; !signal.aborted; ) {
      const connection = new Connection(this.options);
      this.latest = connection;
      try {
        await connection.open(signal);
        this.live = connection;
        this.waiting.resolve(connection);
        reported = false;
        pauseMs = RETRY_MIN_MS;
        this.options.onOpen?.(connection);
        await connection.untilLost();
      } catch (error) {
        connection.lose(error as Error);
      }
      if (this.live === connection) {
        this.live = null;
        this.waiting = Promise.withResolvers();
        this.waiting.promise.catch(() => {});
        if (signal.aborted) this.waiting.reject(signal.reason);
      }
      if (signal.aborted) return;
      if (!reported) this.options.onLost(connection.lost.reason as Error);
      reported = true;
      await pause(pauseMs * (0.5 + (this.options.random ?? Math.random)() / 2), signal);
      pauseMs = Math.min(pauseMs * 2, RETRY_MAX_MS);
    }
  }
}

class Connection implements SessionConnection {
  private readonly client: pg.Client;
  private readonly ending = new AbortController();
  private last: Promise<unknown> = Promise.resolve();

  constructor(private readonly options: PostgresSessionOptions) {
    this.client = new pg.Client({
      connectionString: options.url,
      application_name: options.applicationName,
      connectionTimeoutMillis: CONNECT_MS,
      query_timeout: ANSWER_MS,
      keepAlive: true,
      keepAliveInitialDelayMillis: 5_000,
    });
    this.client.on('error', (error: Error) => this.lose(error));
    this.client.on('end', () => this.lose(new Error('Postgres ended the connection')));
  }

  get lost(): AbortSignal {
    return this.ending.signal;
  }

  async open(signal: AbortSignal): Promise<void> {
    await this.client.connect();
    signal.throwIfAborted();
    // A server before 14 has no such setting; there TCP decides how long a silent client keeps its locks.
    const text = "SELECT set_config(name, $1, false) FROM pg_settings WHERE name = 'idle_session_timeout'";
    await this.query({ text, values: [`${SERVER_PATIENCE_MS}ms`] });
    await this.options.prepare?.(this, this.client);
    signal.throwIfAborted();
    this.lost.throwIfAborted();
  }

  /** Beats until the connection is lost. Never rejects. */
  async untilLost(): Promise<void> {
    while (!this.lost.aborted) {
      await pause(BEAT_MS, this.lost);
      if (!this.lost.aborted) await this.query({ name: 'beat', text: 'SELECT 1' }).catch(() => {});
    }
  }

  query<Row extends pg.QueryResultRow>(query: pg.QueryConfig): Promise<Row[]> {
    const asked = this.last.then(async () => {
      this.lost.throwIfAborted();
      try {
        return (await this.client.query<Row>(query)).rows;
      } catch (error) {
        this.lose(error as Error);
        throw error;
      }
    });
    this.last = asked.catch(() => {});
    return asked;
  }

  lose(error: Error): void {
    if (this.lost.aborted) return;
    this.ending.abort(error);
    this.client.end().catch(() => {});
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done);
  });
}
