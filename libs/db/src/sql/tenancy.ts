import pg from 'pg';

export type SqlPool = pg.Pool;
export type PoolClient = pg.PoolClient;

/** Longest wait for a free connection. Milliseconds; then the caller gets an error instead of an endless queue. */
const CONNECT_TIMEOUT_MS = 5_000;
/** Longest wait for one answer when nothing else is said. Milliseconds; the connection is then given up. */
const QUERY_TIMEOUT_MS = 10_000;
/**
 * An idle connection is asked by TCP after this, and is gone after ten more seconds without an answer. Milliseconds.
 */
const KEEP_ALIVE_MS = 10_000;

/**
 * A pool that connects as a service's own role: not the owner of the tables, and under row-level security.
 * `bigint` columns arrive as numbers; every one of ours stays far below 2^53.
 *
 * A network that swallows everything costs whoever waits `queryTimeoutMs` once: with the first connection that did not
 * answer go all that were idle for as long.
 */
export function createPool(options: {
  url: string;
  max: number;
  applicationName: string;
  /** Deleted conversations are there in every transaction of this pool [false]. */
  withDeleted?: boolean;
  /**
   * Longest wait for one answer [10 000]; for a service whose callers wait, less. Milliseconds; a query may have its
   * own, as `query_timeout`.
   */
  queryTimeoutMs?: number;
  /** Called once for each connection that breaks; its user gets the error from the query. */
  onError: (error: Error) => void;
}): SqlPool {
  const types = new pg.TypeOverrides();
  types.setTypeParser(pg.types.builtins.INT8, Number);
  const queryTimeoutMs = options.queryTimeoutMs ?? QUERY_TIMEOUT_MS;
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.max,
    application_name: options.applicationName,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: queryTimeoutMs,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    types,
    ...(options.withDeleted === true ? { options: '-c app.deleted=shown' } : {}),
  });
  // A connection that breaks says so as an event, idle or in the middle of a transaction, and more than once; without a
  // listener that would end the process.
  pool.on('connect', (client) => client.once('error', options.onError).on('error', () => {}));
  pool.on('error', () => {});
  endSilent(pool, queryTimeoutMs);
  return pool;
}

/**
 * The database of a pool, for a connection of its own: `PostgresSession`, `listen`. @param purpose one word, seen in
 * `application_name`.
 */
export function sessionOf(pool: SqlPool, purpose: string): { readonly url: string; readonly applicationName: string } {
  const { connectionString = '', application_name: name = '' } = pool.options;
  // Postgres cuts a name after 63 bytes.
  return { url: connectionString, applicationName: `${name.slice(0, 62 - purpose.length)}-${purpose}` };
}

/**
 * Ends a connection whose answer did not come: what is asked next over it would wait as long. With it go those that are
 * idle and were heard last before the question: nothing has shown that the network still takes anybody there.
 */
export function endSilent(pool: pg.Pool, queryTimeoutMs: number): void {
  const idleSince = new Map<PoolClient, number>();
  const silent = (client: PoolClient): void => {
    client.connection.stream.destroy();
    const asked = performance.now() - queryTimeoutMs;
    for (const [idle, since] of [...idleSince]) {
      if (since >= asked) continue;
      idleSince.delete(idle);
      // How the pool learns that an idle connection ended; it hands it out no more.
      idle.emit('error', new Error('the connection was idle while another one fell silent'));
      idle.connection.stream.destroy();
    }
  };
  pool.on('connect', (client) => {
    client.query = ((...args: unknown[]): unknown => {
      // Looked up at each call: tests take filters out of every statement there.
      const answer: unknown = Reflect.apply(pg.Client.prototype.query, client, args);
      if (answer instanceof Promise)
        answer.catch((error: unknown) => {
          if (isSilent(error)) silent(client);
          else if (isDenied(error)) pool.emit('denied');
        });
      return answer;
    }) as typeof client.query;
  });
  pool.on('acquire', (client) => void idleSince.delete(client));
  pool.on('remove', (client) => void idleSince.delete(client));
  pool.on('release', (error: unknown, client) => {
    // A query of the pool itself has no promise; it is released with its error.
    if (isSilent(error)) silent(client);
    else if (isDenied(error)) pool.emit('denied');
    else if (!error) idleSince.set(client, performance.now());
  });
}

/**
 * Runs `work` in one transaction that sees and writes the rows of one organization only. Rolls back when `work`
 * rejects.
 */
export async function inOrg<T>(pool: SqlPool, orgId: string, work: (client: PoolClient) => Promise<T>): Promise<T> {
  return inTransaction(pool, async (client) => {
    await client.query({ name: 'tenant', text: "SELECT set_config('app.org', $1, true)", values: [orgId] });
    return work(client);
  });
}

/**
 * As `inOrg`, and conversations that a user has deleted are there too: for the trash, its end, and what their sandboxes
 * need. Every other statement is kept from them by the policy `not_deleted`.
 */
export async function inOrgWithDeleted<T>(
  pool: SqlPool,
  orgId: string,
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  return inOrg(pool, orgId, async (client) => {
    await showDeleted(client);
    return work(client);
  });
}

/** Deleted conversations are there until this transaction ends. */
export async function showDeleted(client: PoolClient): Promise<void> {
  await client.query({ name: 'show-deleted', text: "SELECT set_config('app.deleted', 'shown', true)" });
}

/**
 * Runs `work` in one transaction across organizations, as the system role. For work that belongs to no caller:
 * finding whose a key is, reconciling, sweeping. `reason` stands in the query for the database's own log.
 */
export async function asSystem<T>(
  pool: SqlPool,
  role: 'slipway_app_system' | 'slipway_runtime_system' | 'slipway_gateway_system',
  reason: string,
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  return inTransaction(pool, async (client) => {
    await client.query(`SET LOCAL ROLE ${role} /* ${reason.replaceAll('*/', '')} */`);
    return work(client);
  });
}

/**
 * What SQL calls now(): when the transaction began, by the database's clock, to the millisecond. For statements that
 * are not SQL and compare with it, or store it.
 * @param client of a transaction; of a pool it is the time of this moment.
 */
export async function transactionTime(client: Pick<PoolClient, 'query'>): Promise<Date> {
  const { rows } = await client.query<{ now: Date }>({ name: 'transaction-time', text: 'SELECT now()' });
  return (rows[0] as { now: Date }).now;
}

async function inTransaction<T>(pool: SqlPool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    const result = await work(client);
    await client.query('COMMIT');
    client.release();
    return result;
  } catch (error) {
    // One whose rollback fails is not given to anybody else.
    const broken = await client.query('ROLLBACK').then(
      () => false,
      () => true,
    );
    client.release(broken);
    throw error;
  }
}

/**
 * Error code of Postgres for a row of another organization under row-level security, and for a missing grant. The pool
 * emits it as the event `denied`.
 */
const DENIED = '42501';

function isDenied(error: unknown): boolean {
  return (error as { code?: unknown } | undefined)?.code === DENIED;
}

/** What the client says when an answer did not come in time. */
function isSilent(error: unknown): error is Error {
  return error instanceof Error && error.message === 'Query read timeout';
}
