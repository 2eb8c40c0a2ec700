import type { SignedInClient } from '@slipway/testing';
import { until } from '@slipway/testing';
import pg from 'pg';
import type { LocalService } from '../../deploy/local/settings.ts';
import type { OpenStack } from '../stack/open-stack.ts';
import type { Talk } from '../stack/talk.ts';
import type { SandboxSocket } from './sandbox-socket.ts';

/** Processes that have a connection to Postgres. */
export const PROCESSES = [
  'app-server',
  'worker',
  'runtime-api',
  'llm-gateway',
  'sandbox-gateway',
] as const satisfies readonly LocalService[];
/**
 * Sweeps whose next run is due within seconds; `idle` follows every 30 s and `retention` every ten minutes, from the
 * same lead.
 */
const SWEEPS = ['outbox', 'recovery', 'organizations', 'usage'] as const;
/** The advisory lock of the replica that leads the pools. */
export const POOL_LOCK = 7_215_310;
/** Connections that listen, by the end of their names. */
const LISTENERS = [
  'app-server-hints',
  'worker-hints',
  'sandbox-gateway-changes',
  '-queues',
  'llm-gateway-line',
] as const;

/** What has to be back after a fault: each by name, with the milliseconds that it took. */
export type Recovery = ReadonlyMap<string, number>;

export interface Watched {
  readonly open: OpenStack;
  readonly user: SignedInClient;
  readonly talk: Talk;
  readonly socket: SandboxSocket;
  /** The owner's address, past anything that stands in between. */
  ownerUrl(): string;
}

/** Runs `work` as the owner of the database. */
export async function asOwner<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000, query_timeout: 5_000 });
  client.on('error', () => {});
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/**
 * Waits until every process is ready, every lead works, every listener listens and a conversation goes on, each from
 * this moment on.
 * @throws Error that names what is not back after `withinMs`.
 */
export async function recovery({ open, user, talk, socket, ownerUrl }: Watched, withinMs: number): Promise<Recovery> {
  const began = performance.now();
  const took = new Map<string, number>();
  const back = async (name: string, test: () => Promise<boolean> | boolean): Promise<void> => {
    await until(`${name} is back`, test, withinMs);
    took.set(name, performance.now() - began);
  };
  const ask = <Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> =>
    asOwner(ownerUrl(), async (client) => (await client.query<Row>(text, values)).rows);
  const [{ at } = { at: new Date() }] = await until(
    'the database answers its owner',
    () => ask<{ at: Date }>('SELECT clock_timestamp() AS at'),
    withinMs,
  );
  const steps = talk.of('ObservationEvent').length;
  const { frames } = socket;
  await Promise.all([
    ...PROCESSES.map((name) =>
      back(
        `${name} ready`,
        async () => (await fetch(`${open.addressOf(name)}/ready`, { signal: AbortSignal.timeout(2_000) })).ok,
      ),
    ),
    ...SWEEPS.map((name) =>
      back(
        `lead: sweep ${name}`,
        async () =>
          (await ask('SELECT 1 FROM app.sweep_run WHERE name = $1 AND completed_at > $2', [name, at])).length === 1,
      ),
    ),
    back('lead: pools', async () => {
      const holders = await ask<{ name: string }>(
        `SELECT a.application_name AS name FROM pg_locks l JOIN pg_stat_activity a USING (pid)
         WHERE l.locktype = 'advisory' AND l.granted AND l.objid = ${POOL_LOCK} AND a.query_start > now() - interval '5 seconds'`,
      );
      return holders.length === 1;
    }),
    ...LISTENERS.map((name) =>
      back(`listener: ${name}`, async () => {
        // It has beaten since: a connection that the server still holds for a client that is cut off says nothing.
        const found = await ask(
          "SELECT 1 FROM pg_stat_activity WHERE application_name LIKE '%' || $1 AND query_start > $2",
          [name, at],
        );
        return found.length > 0;
      }),
    ),
    back(
      'a person writes and reads',
      async () =>
        (await user.fetch(`${talk.path}/messages`, { method: 'POST', json: { text: 'Go on.' } })).ok &&
        (await user.fetch(talk.path)).ok,
    ),
    back('the conversation goes on', () => talk.of('ObservationEvent').length > steps + 1),
    back('its socket through sandbox-gateway goes on', () => socket.isOpen && socket.frames > frames + 1),
  ]);
  return took;
}

/** One line a thing, the slowest first. */
export function recoveryTable(fault: string, took: Recovery): string {
  const rows = [...took]
    .sort(([, a], [, b]) => b - a)
    .map(([name, ms]) => `  ${(ms / 1_000).toFixed(1).padStart(5)} s  ${name}`);
  return `${fault}: back after\n${rows.join('\n')}\n`;
}
