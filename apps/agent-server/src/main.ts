import { startAgentServer } from './agent-server.js';
import { loadConfig } from './config.js';

async function main(): Promise<void> {
  const server = await startAgentServer(loadConfig(process.env));
  let stopping = false;
  const stop = (signal: string): void => {
    if (stopping) return;
    stopping = true;
    server.logger.info({ signal }, 'stopping');
    server.stop().then(
      () => process.exit(0),
      (error: unknown) => {
        server.logger.error({ err: error }, 'the stop failed');
        process.exit(1);
      },
    );
  };
  process.on('SIGTERM', () => stop('SIGTERM'));
  process.on('SIGINT', () => stop('SIGINT'));
  process.on('unhandledRejection', (error) => server.logger.error({ err: error }, 'a rejection that nobody handled'));
}

main().catch((error: unknown) => {
  console.error(
    JSON.stringify({
      message: error instanceof Error ? error.message : String(error),
      severity: 'CRITICAL',
      timestamp: new Date().toISOString(),
      service: 'agent-server',
    }),
  );
  process.exit(1);
});
