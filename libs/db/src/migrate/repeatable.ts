import type pg from 'pg';

/** Attempts of one transaction. Each that loses has let a running service through, so few are needed. */
const ATTEMPTS = 5;

/**
 * Postgres ended this transaction because it and another waited for each other: nothing of it stays, and the other goes
 * on.
 */
const isDeadlock = (error: unknown): boolean => (error as { code?: string }).code === '40P01';
/**
 * Two migrations of databases on one server change the same role: roles are the server's, the migrations' lock is a
 * database's.
 */
const isRoleRace = (error: unknown): boolean =>
  (error as { code?: string; message?: string }).code === 'XX000' &&
  /tuple concurrently updated/.test((error as Error).message);

/**
 * Runs `work` in one transaction, from its beginning again after a deadlock with a running service. `name` is for the
 * log.
 * @throws what `work` throws otherwise, or the deadlock of the fifth attempt; nothing of it stays.
 */
export async function inTransaction(
  client: pg.Client,
  { name, log }: { name: string; log: (line: string) => void },
  work: () => Promise<void>,
): Promise<void> {
  await repeated(name, log, isDeadlock, async () => {
    await client.query('BEGIN');
    try {
      await work();
      await client.query('COMMIT');
    } catch (error) {
      await client.query('ROLLBACK');
      throw error;
    }
  });
}

/** Runs one statement about a role, again when another migration changed the role in the same moment. */
export async function changeRole(client: pg.Client, log: (line: string) => void, sql: string): Promise<void> {
  await repeated('a role', log, isRoleRace, async () => void (await client.query(sql)));
}

async function repeated(
  name: string,
  log: (line: string) => void,
  may: (error: unknown) => boolean,
  work: () => Promise<void>,
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (attempt === ATTEMPTS || !may(error)) throw error;
      log(`${name} is repeated: ${(error as Error).message}`);
    }
  }
}
