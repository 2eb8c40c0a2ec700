import './process/first-process.js';
import { mkdirSync, renameSync, stat, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { createLogger, logSettings } from '@slipway/telemetry';
import { loadConfig } from './config.js';
import { createHttpServer } from './http/server.js';
import { createParts } from './parts.js';
import { liveChannelsOf, routesOf } from './routes.js';

// What the agent writes can be read by agent-server, another user of the same group, whatever mask the container came
// with.
process.umask(0o022);
const config = loadConfig(process.env);
const logger = createLogger('action-server', logSettings(config));

// All threads of the pool are made now: one that cannot be made later, because an agent's programs have filled the
// table of processes, would end this one.
stat(config.WORKSPACE_DIR, () => {});

// One request's failure is its own; an unhandled rejection must not end the agent's terminal.
process.on('uncaughtException', (error) => logger.error({ err: error }, 'uncaught failure'));
process.on('unhandledRejection', (error) => logger.error({ err: error }, 'uncaught failure'));

const refusedPorts = new Set(config.BROWSER_REFUSED_PORTS);
const parts = createParts({
  workspace: config.WORKSPACE_DIR,
  stateDirectory: config.STATE_DIR,
  env: process.env,
  home: config.HOME_DIR,
  maxArchiveBytes: config.ARCHIVE_MAX_BYTES,
  vscode: { directory: config.VSCODE_DIR, port: config.VSCODE_PORT },
  refusedPorts: () => refusedPorts,
});
const server = createHttpServer(routesOf(parts), liveChannelsOf(parts), { token: config.ACTION_SERVER_TOKEN, logger });

server.once('error', (error: NodeJS.ErrnoException) => {
  logger.fatal(
    { err: error },
    error.code === 'EADDRINUSE'
      ? `port ${config.PORT} is in use: stop the other process, or set PORT`
      : 'failed to listen',
  );
  process.exit(1);
});
server.listen(config.PORT, config.HOST, () => {
  const { port } = server.address() as AddressInfo;
  refusedPorts.add(port);
  mkdirSync(config.STATE_DIR, { recursive: true });
  const file = path.join(config.STATE_DIR, 'action-server.json');
  writeFileSync(`${file}.new`, JSON.stringify({ port, pid: process.pid }));
  renameSync(`${file}.new`, file);
  logger.info({ port }, 'listening');
});

for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
  process.once(signal, () => {
    parts.close();
    process.exit(0);
  });
}
