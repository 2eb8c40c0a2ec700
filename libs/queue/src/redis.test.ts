import { describe } from '@jest/globals';
import { itUnless } from '@slipway/testing/jest';
import { describeHintBus } from './testing/hint-bus.contract.js';
import { describeQueue } from './testing/queue.contract.js';
import { redisScenario, type Scenario } from './testing/scenario.js';

const probe = await redisScenario();
await probe?.close();

if (probe === null) {
  describe('Queue and HintBus on Redis', () => {
    itUnless('no redis-server on PATH: apt-get install redis-server')('runs the contract suites', () => {});
  });
} else {
  const open = async (): Promise<Scenario> => {
    const scenario = await redisScenario();
    if (scenario === null) throw new Error('redis-server went away');
    return scenario;
  };
  describeQueue('Redis', open);
  describeHintBus('Redis', open);
}
