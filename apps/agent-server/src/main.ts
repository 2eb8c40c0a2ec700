import { type AgentServer, startAgentServer } from './agent-server.js';
import { loadConfig } from './config.js';

/**
 * On SIGTERM it ends as if killed by the signal: a pod all of whose containers end with 0 has "succeeded", and the
 * node's reason for ending it (Evicted) is lost.
 */
const ENDED_BY = { SIGTERM: 128 + 15, SIGINT: 128 + 2 } as const;

async function main(): Promise<void> {
  let server: AgentServer | null = null;
  let stopping = false;
  const stop = (signal: keyof typeof ENDED_BY): void => {
    // A second signal: its sender is done with this sandbox, or has no more time. Before the start is over there is
    // nothing to save.
    if (stopping || server === null) process.exit(ENDED_BY[signal]);
    stopping = true;
    const { logger } = server;
    logger.info({ signal }, 'stopping');
    server.stop().then(
      () => process.exit(ENDED_BY[signal]),
      (error: unknown) => {
        logger.error({ err: error }, 'stop failed');
        process.exit(1);
      },
    );
  };
  // Before the start: as process 1 of a container, a signal without a listener would be ignored, and the pod would wait
  // out its grace period.
  process.on('SIGTERM', () => stop('SIGTERM'));
  process.on('SIGINT', () => stop('SIGINT'));
  server = await startAgentServer(loadConfig(process.env));
  const { logger } = server;
  process.on('unhandledRejection', (error) => logger.error({ err: error }, 'unhandled rejection'));
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
