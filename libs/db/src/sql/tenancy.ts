import pg from 'pg';

export type SqlPool = pg.Pool;
export type PoolClient = pg.PoolClient;

/** Longest wait for a free connection. Milliseconds; then the caller gets an error instead of an endless queue. */
const CONNECT_TIMEOUT_MS = 5_000;
/** Longest wait for one answer when nothing else is said. Milliseconds; the connection is then given up. */
const QUERY_TIMEOUT_MS = 30_000;

/** A connection on which nothing is heard is asked by TCP after this, and is gone after ten more seconds without an answer: one that only listens would wait for ever. Milliseconds. */
const KEEP_ALIVE_MS = 10_000;

/**
 * A pool that connects as a service's own role: not the owner of the tables, and under row-level security.
 * `bigint` columns arrive as numbers; every one of ours stays far below 2^53.
 */
export function createPool(options: {
  url: string;
  max: number;
  applicationName: string;
  /** Longest wait for one answer [30 000]; for a service whose callers wait, less. Milliseconds. */
  queryTimeoutMs?: number;
  /** Told once of each connection that breaks; whoever uses it learns it from its query. */
  onError: (error: Error) => void;
}): SqlPool {
  const types = new pg.TypeOverrides();
  types.setTypeParser(pg.types.builtins.INT8, Number);
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.max,
    application_name: options.applicationName,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    query_timeout: options.queryTimeoutMs ?? QUERY_TIMEOUT_MS,
    idleTimeoutMillis: 30_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    types,
  });
  // A connection that breaks says so as an event, idle or in the middle of a transaction, and more than once; without a listener that would end the process.
  pool.on('connect', (client) => client.once('error', options.onError).on('error', () => {}));
  pool.on('error', () => {});
  return pool;
}

/** Runs `work` in one transaction that sees and writes the rows of one organization only. Rolls back when `work` rejects. */
export async function inOrg<T>(pool: SqlPool, orgId: string, work: (client: PoolClient) => Promise<T>): Promise<T> {
  return inTransaction(pool, async (client) => {
    await client.query({ name: 'tenant', text: "SELECT set_config('app.org', $1, true)", values: [orgId] });
    return work(client);
  });
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

async function inTransaction<T>(pool: SqlPool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    const result = await work(client);
    await client.query('COMMIT');
    client.release();
    return result;
  } catch (error) {
    // A connection that does not answer would not answer this either, and whoever waits would wait twice. One whose rollback fails is not given to anybody else.
    const broken =
      isSilent(error) ||
      (await client.query('ROLLBACK').then(
        () => false,
        () => true,
      ));
    client.release(broken);
    throw error;
  }
}

/** What the client says when an answer did not come in time. */
function isSilent(error: unknown): boolean {
  return error instanceof Error && error.message === 'Query read timeout';
}
