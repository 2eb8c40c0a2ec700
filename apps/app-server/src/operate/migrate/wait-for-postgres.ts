import { setTimeout as wait } from 'node:timers/promises';
import { SlipwayError } from '@slipway/errors';
import pg from 'pg';

/** Milliseconds between two tries, and for one. */
const PAUSE_MS = 1_000;
const TRY_MS = 5_000;
/**
 * What Postgres answers while it starts or stops, and what a machine answers that has none on that port. A wrong
 * password is none of these: waiting does not heal it.
 */
const HEALS = new Set(['57P03', 'ECONNREFUSED', 'ECONNRESET', 'EAI_AGAIN', 'ENOTFOUND', 'ETIMEDOUT', 'EHOSTUNREACH']);

/**
 * Returns once Postgres takes a connection. @throws SlipwayError `config.invalid` when it refuses this one, or took
 * none for `patience` milliseconds.
 */
export async function waitForPostgres(url: string, patience: number, tell: (reason: string) => void): Promise<void> {
  const until = performance.now() + patience;
  for (;;) {
    const client = new pg.Client({
      connectionString: url,
      connectionTimeoutMillis: TRY_MS,
      application_name: 'slipway-migrate',
    });
    // A connection that breaks after it failed must not end the process.
    client.on('error', () => {});
    try {
      await client.connect();
      return;
    } catch (error) {
      const code = (error as { code?: string }).code ?? '';
      const reason = error instanceof Error && error.message !== '' ? error.message : code;
      const heals = HEALS.has(code) || /timeout|terminated/i.test(reason);
      if (!heals || performance.now() >= until)
        throw new SlipwayError(
          'config.invalid',
          `Postgres at ${new URL(url).host} (DATABASE_OWNER_URL) takes no connection: ${reason}. Check host, port, user and password.`,
          {
            cause: error,
          },
        );
      tell(reason);
    } finally {
      await client.end().catch(() => {});
    }
    await wait(PAUSE_MS);
  }
}
