import { describe, it } from 'node:test';
import { expect } from 'expect';
import { openPostgresBackend } from './adapters/postgres-backend.js';
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
});
