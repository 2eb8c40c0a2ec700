import { QUEUES } from '@slipway/contracts/operate';
import type { SqlPool } from '@slipway/db/sql';
import { Gauge, type Registry } from '@slipway/telemetry/http';
import { conversationCounts, outboxJobAges } from './sweeps.queries.js';

/**
 * Pending work, read from the rows that all workers share: each worker exports the same. A database that does not
 * answer leaves them without a value; the process's own metrics are exported anyway.
 */
export function workGauges(pool: SqlPool, metrics: Registry): void {
  const gauge = (name: string, help: string, labelNames: string[], collect: (gauge: Gauge) => Promise<void>): void => {
    const made: Gauge = new Gauge({
      name,
      help,
      labelNames,
      registers: [metrics],
      async collect() {
        made.reset();
        // A gauge without labels is 0 after that, which would be a lie.
        await collect(made).catch(() => (labelNames.length === 0 ? made.remove() : made.reset()));
      },
    });
  };
  const jobs = shared(() => outboxJobAges(pool));
  const counts = shared(() => conversationCounts(pool));
  gauge('outbox_jobs', 'Outbox jobs that are not done yet, by the queue of their job', ['queue'], async (made) => {
    const found = await jobs();
    for (const queue of Object.keys(QUEUES)) made.set({ queue }, found.find((age) => age.queue === queue)?.count ?? 0);
  });
  gauge(
    'outbox_oldest_seconds',
    'Age of the oldest outbox job that is not done yet, by the queue of its job',
    ['queue'],
    async (made) => {
      const found = await jobs();
      for (const queue of Object.keys(QUEUES))
        made.set({ queue }, found.find((age) => age.queue === queue)?.oldestSeconds ?? 0);
    },
  );
  gauge(
    'conversations_wanted',
    'Conversations that should have a running sandbox, by the state of their start',
    ['start'],
    async (made) => {
      for (const { start, count } of await counts()) made.set({ start }, count);
    },
  );
  gauge(
    'conversations_lease_over',
    'Started conversations whose sandbox has not been heard of for longer than its lease',
    [],
    async (made) => {
      made.set((await counts()).reduce((sum, { leaseOver }) => sum + leaseOver, 0));
    },
  );
}

/** Gauges that are collected at the same moment share one query. */
function shared<T>(read: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | null = null;
  return () => {
    running ??= read().finally(() => {
      running = null;
    });
    return running;
  };
}
