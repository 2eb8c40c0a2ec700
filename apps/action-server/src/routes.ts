import { actionRoutes } from './actions/actions.routes.js';
import { archiveRoutes } from './archive/archive.routes.js';
import { checkpointRoutes } from './checkpoints/checkpoints.routes.js';
import { commandRoutes } from './command/command.routes.js';
import { fileRoutes } from './files/files.routes.js';
import { fingerprintRoutes } from './fingerprints/fingerprints.routes.js';
import { gitRoutes } from './git/git.routes.js';
import { aliveRoutes } from './http/alive.routes.js';
import type { LiveChannels } from './http/live.js';
import type { Routes } from './http/server.js';
import { mcpRoutes } from './mcp/mcp.routes.js';
import type { Parts } from './parts.js';
import { terminalRoutes } from './terminal/terminal.routes.js';
import { filesChannel } from './tree/files-channel.js';
import { vscodeRoutes } from './vscode/vscode.routes.js';
import { zipRoutes } from './zip/zip.routes.js';

/** Every route of action-server: each folder declares its own. */
export function routesOf({
  workspace,
  environment,
  handlers,
  callOutputs,
  mcp,
  gitReading,
  turns,
  archive,
  captures,
  fingerprints,
  vscode,
  commands,
}: Parts): Routes {
  return {
    ...aliveRoutes(),
    ...terminalRoutes({
      workspace,
      environment,
      terminal: handlers.terminal,
      onConfigured: () => mcp.environmentChanged(),
    }),
    ...actionRoutes(handlers, callOutputs),
    ...commandRoutes(commands),
    ...mcpRoutes(mcp, workspace),
    ...gitRoutes(gitReading, turns),
    ...vscodeRoutes(vscode),
    ...archiveRoutes(archive, workspace),
    ...checkpointRoutes(captures),
    ...fileRoutes(workspace),
    ...zipRoutes(workspace),
    ...fingerprintRoutes(fingerprints),
  };
}

/** Every live channel, at `/live/<name>`. */
export function liveChannelsOf({ workspace, environment, turns, shells, handlers }: Parts): LiveChannels {
  return {
    terminal: shells.channel,
    files: filesChannel({ workspace, environment, turns }),
    browser: handlers.browserView.channel,
  };
}
