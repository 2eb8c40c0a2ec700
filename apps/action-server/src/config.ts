import { parseConfig } from '@slipway/service';
import { logVariables } from '@slipway/telemetry';
import { z } from 'zod';

export const ConfigSchema = z.object({
  HOST: z.string().default('127.0.0.1').describe('Address to listen on. In a sandbox only agent-server may reach it.'),
  PORT: z.coerce
    .number()
    .int()
    .min(0)
    .max(65_535)
    .default(0)
    .describe('Port to listen on; 0 takes any free one, written to `STATE_DIR/action-server.json`.'),
  WORKSPACE_DIR: z
    .string()
    .startsWith('/')
    .describe('The workspace. File and git routes are confined to it, and the shell starts in it.'),
  HOME_DIR: z
    .string()
    .startsWith('/')
    .optional()
    .describe(
      "The agent's home directory. Saved with the workspace, and emptied before a saved one is restored. Absent: the agent has no home.",
    ),
  ARCHIVE_MAX_BYTES: z.coerce
    .number()
    .int()
    .positive()
    .optional()
    .describe(
      "Limit of what is saved of workspace and home, unpacked. Bytes; absent: the size of the workspace's volume.",
    ),
  STATE_DIR: z
    .string()
    .startsWith('/')
    .describe(
      'Folder of `action-server.json`. Small, and outside of the workspace; large files go to the folder for temporary files.',
    ),
  ACTION_SERVER_TOKEN: z.string().min(32).describe('Token that agent-server sends as `X-Session-API-Key`. Secret.'),
  BROWSER_REFUSED_PORTS: z
    .string()
    .default('8000,8001')
    .transform((list) => list.split(',').flatMap((port) => (port.trim() === '' ? [] : [Number(port)])))
    .pipe(z.array(z.int().min(1).max(65_535)))
    .describe(
      'Ports of the sandbox that no page in the browser may reach, comma-separated: those of agent-server. The port of action-server is always refused.',
    ),
  VSCODE_DIR: z
    .string()
    .startsWith('/')
    .default('/opt/vscode')
    .describe('Folder of VS Code’s server in the image, with `out/server-main.js` in it. Optional in the image.'),
  VSCODE_PORT: z.coerce
    .number()
    .int()
    .min(1024)
    .max(65_535)
    .default(60_001)
    .describe('Port that VS Code listens on after a user opened it.'),
  ...logVariables,
  NODE_ENV: z
    .enum(['development', 'test', 'production'])
    .default('development')
    .describe('How the process was started.'),
});
export type Config = Readonly<z.infer<typeof ConfigSchema>>;

/** @throws SlipwayError `config.invalid` that names every invalid variable, never its value. */
export function loadConfig(source: Readonly<Record<string, string | undefined>>): Config {
  return parseConfig(ConfigSchema, source);
}
