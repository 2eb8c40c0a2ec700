import { createQueue } from '../create.js';
import { silent } from './scenario.js';

// A process that takes a job and never ends it: argv is [redisUrl or '', databaseUrl]. Says `began` on its IPC channel;
// the test kills it.
const [redisUrl, databaseUrl] = process.argv.slice(2);
const queue = await createQueue({
  redisUrl: redisUrl === '' ? undefined : redisUrl,
  databaseUrl: databaseUrl ?? '',
  applicationName: 'hold-job',
  logger: silent,
});
queue.handle(
  'conversation-start',
  async () => {
    process.send?.('began');
    await new Promise(() => {});
  },
  { concurrency: 1 },
);
