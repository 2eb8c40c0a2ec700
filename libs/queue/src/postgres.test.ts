import { describeHintBus } from './testing/hint-bus.contract.js';
import { describeQueue } from './testing/queue.contract.js';
import { postgresScenario } from './testing/scenario.js';

describeQueue('Postgres', postgresScenario);
describeHintBus('Postgres', postgresScenario);
