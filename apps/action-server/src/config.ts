import { parseConfig } from '@slipway/errors';
import { logVariables } from '@slipway/telemetry';
import { z } from 'zod';

export const ConfigSchema = z.object({
  HOST: z.string().default('127.0.0.1').describe('Address to listen on. In a sandbox only agent-server may reach it.'),
  PORT: z.coerce.number().int().min(0).max(65_535).default(0).describe('Port to listen on; 0 takes any. `STATE_DIR/action-server.json` says which.'),
  WORKSPACE_DIR: z.string().startsWith('/').describe('The workspace: file and git routes stay inside, and the shell starts here.'),
  HOME_DIR: z
    .string()
    .startsWith('/')
    .optional()
    .describe('The home directory of the agent alone. It is kept with the workspace, and emptied when a kept one is put in its place; absent: no home is.'),
  ARCHIVE_MAX_BYTES: z.coerce
    .number()
    .int()
    .positive()
    .optional()
    .describe('Most that is kept of workspace and home, unpacked. Bytes; absent: the size of the volume of the workspace.'),
  STATE_DIR: z
    .string()
    .startsWith('/')
    .describe('Where the listening file is kept. Small, and outside of the workspace; what may grow is in the folder for temporary files.'),
  ACTION_SERVER_TOKEN: z.string().min(32).describe('What agent-server sends as `X-Session-API-Key`. Secret.'),
  BROWSER_REFUSED_PORTS: z
    .string()
    .default('8000,8001')
    .transform((list) => list.split(',').flatMap((port) => (port.trim() === '' ? [] : [Number(port)])))
    .pipe(z.array(z.int().min(1).max(65_535)))
    .describe(
      'Ports of this machine that no page in the browser may reach, separated by commas: those of agent-server and this process. Its own is one of them anyway.',
    ),
  VSCODE_DIR: z
    .string()
    .startsWith('/')
    .default('/opt/vscode')
    .describe('Where the image has VS Code’s server, if it has it: `out/server-main.js` lies there.'),
  VSCODE_PORT: z.coerce.number().int().min(1024).max(65_535).default(60_001).describe('Port that VS Code listens on once somebody opens it.'),
  ...logVariables,
  NODE_ENV: z.enum(['development', 'test', 'production']).default('development').describe('How the process was started.'),
});
export type Config = Readonly<z.infer<typeof ConfigSchema>>;

/** @throws SlipwayError `config.invalid` that names every wrong variable, never its value. */
export function loadConfig(source: Readonly<Record<string, string | undefined>>): Config {
  return parseConfig(ConfigSchema, source);
}
