import { describe, expect, it } from '@jest/globals';
import { QUEUES, type QueueName } from '@slipway/contracts/operate';
import { until } from '@slipway/testing';
import { openPostgresBackend } from './adapters/postgres-backend.js';
import { createQueue } from './create.js';
import { describeHintBus } from './testing/hint-bus.contract.js';
import { describeQueue } from './testing/queue.contract.js';
import { postgresScenario } from './testing/scenario.js';

describeQueue('Postgres', postgresScenario);
describeHintBus('Postgres', postgresScenario);

describe('the connections that the queues of one process share', () => {
  it('take a listener of each without a warning of a leak', async () => {
    const scenario = await postgresScenario();
    const warnings: string[] = [];
    const listen = ({ name, message }: Error): void => void warnings.push(`${name}: ${message}`);
    process.on('warning', listen);
    const backend = await openPostgresBackend(scenario.options);
    const queues = Array.from({ length: 12 }, (_, index) => backend.openQueue(`listeners-${index}`));
    try {
      for (const queue of queues) await queue.waitUntilReady();
      expect(warnings).toEqual([]);
    } finally {
      process.off('warning', listen);
      for (const queue of queues) await queue.close();
      await backend.close();
      await scenario.close();
    }
  });

  it('suffice for one process that handles every queue', async () => {
    const scenario = await postgresScenario();
    const queue = await createQueue(scenario.options);
    const names = Object.keys(QUEUES) as QueueName[];
    const done = new Set<QueueName>();
    const id = '0198c0de-7a1b-7000-8000-3f6c5d2e9b10';
    // Every field of every job is an id.
    const payloadOf = (name: QueueName): never =>
      Object.fromEntries(Object.keys(QUEUES[name].shape).map((field) => [field, id])) as never;
    try {
      for (const name of names) queue.handle(name, async () => void done.add(name), { concurrency: 1 });
      for (const name of names) await queue.add(name, payloadOf(name), { key: name });
      await until('each has done its job', () => done.size === names.length, 30_000);
    } finally {
      await queue.close();
      await scenario.close();
    }
  });
});
