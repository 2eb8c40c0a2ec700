import { startStack } from '../../deploy/local/stack.ts';

/**
 * The stack in a process of its own, so that it can be killed with all that belongs to it: `node stack-process.ts PORT
 * DATA_DIRECTORY`. Prints `ready`.
 */
const [port, dataDirectory = ''] = process.argv.slice(2);
await startStack({
  port: Number(port),
  dataDirectory,
  env: process.env,
  log: () => {},
  signal: AbortSignal.timeout(120_000),
  without: ['web'],
});
process.stdout.write('ready\n');
