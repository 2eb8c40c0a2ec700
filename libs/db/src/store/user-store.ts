import { type Connection, ConnectionPool } from './connection-pool.js';
import type { PrismaClient } from './generated/client.js';

export type { Prisma } from './generated/client.js';

/**
 * Accounts, sessions, organizations, memberships, invitations, connections and links, as Prisma's client has them
 * (prisma/app/user-store.prisma).
 */
export type UserStore = Omit<PrismaClient, `$${string}`>;

/** One client of Prisma: it compiles queries, and keeps those that it has compiled. 2 MiB, and 35 ms to make. */
interface Slot {
  readonly prisma: PrismaClient;
  readonly pool: ConnectionPool;
}

/**
 * Kept for the next statements. A client serves one statement at a time, so this many run side by side before another
 * is made.
 */
const MAX_IDLE = 8;
const idle: Slot[] = [];

/**
 * One statement on the user store, on a connection of the caller: in the transaction of `inOrg` or `asSystem` it sees
 * what that may see. Prisma is loaded at the first one; a process without one never has it in memory.
 *
 * @param connection a pool where no transaction is needed.
 * @throws what Prisma throws: `P2002` for a value that must be unique; what Postgres said is in
 * `meta.driverAdapterError.cause`.
 */
export async function userStore<T>(connection: Connection, statement: (store: UserStore) => Promise<T>): Promise<T> {
  const slot = idle.pop() ?? (await makeSlot());
  slot.pool.bind(connection);
  try {
    const result = await statement(slot.prisma);
    slot.pool.bind(null);
    if (idle.length < MAX_IDLE) idle.push(slot);
    else dispose(slot);
    return result;
  } catch (error) {
    // Something of it may still run, and must not reach the connection of the next.
    slot.pool.bind(null);
    dispose(slot);
    throw error;
  }
}

/**
 * Whether a statement failed because a value that must be unique is in use. The transaction can only be rolled back
 * then.
 */
export function isUniqueViolation(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === 'P2002';
}

function dispose({ prisma }: Slot): void {
  prisma.$disconnect().catch(() => {});
}

async function makeSlot(): Promise<Slot> {
  const [{ PrismaClient }, { PrismaPg }] = await Promise.all([
    import('./generated/client.js'),
    import('@prisma/adapter-pg'),
  ]);
  const pool = new ConnectionPool();
  return {
    pool,
    prisma: new PrismaClient({
      adapter: new PrismaPg(pool, { schema: 'app', statementNameGenerator }),
      errorFormat: 'minimal',
    }),
  };
}

/** Statements that Postgres keeps prepared on a connection, at most; lists of another length are other statements. */
const MAX_NAMES = 500;
const names = new Map<string, string>();

/**
 * A prepared statement has a third of the cost of one that is parsed each time. One with the same text has the same
 * name on every connection.
 */
function statementNameGenerator({ sql }: { readonly sql: string }): string {
  const known = names.get(sql);
  if (known !== undefined || names.size >= MAX_NAMES) return known ?? '';
  const name = `prisma-${names.size}`;
  names.set(sql, name);
  return name;
}
