import { createPrivateKey, type KeyObject } from 'node:crypto';
import os from 'node:os';
import { parseConfig } from '@slipway/errors';
import { z } from 'zod';

/** A program and its arguments, as a JSON list: `["node", "/path/agent-server.cjs"]`. */
const command = z.string().transform((text, context): string[] => {
  try {
    return z.array(z.string()).min(1).parse(JSON.parse(text));
  } catch {
    context.addIssue({ code: 'custom', message: 'needs a JSON list of strings: a program and its arguments' });
    return z.NEVER;
  }
});
const privateKey = z.string().transform((text, context): KeyObject => {
  try {
    const key = createPrivateKey({ key: Buffer.from(text, 'base64'), format: 'der', type: 'pkcs8' });
    if (key.asymmetricKeyType === 'ed25519') return key;
  } catch {
    // Said below.
  }
  context.addIssue({ code: 'custom', message: 'needs an Ed25519 private key, PKCS#8 DER, base64' });
  return z.NEVER;
});

export const ConfigSchema = z
  .object({
    LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info').describe('Least severe log line that is written.'),
    NODE_ENV: z.enum(['development', 'test', 'production']).default('development').describe('How the process was started.'),
    HOST: z.string().default('127.0.0.1').describe('Address to listen on.'),
    PORT: z.coerce.number().int().min(0).max(65_535).default(3002).describe('Port to listen on; 0 takes any.'),
    DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/ }).describe('Postgres connection string of `slipway_runtime`. Secret.'),
    RUNTIME_API_KEY: z.string().min(32, 'needs at least 32 characters').describe('What callers send as `X-API-Key`. Secret.'),
    ENCRYPTION_KEY: z.string().min(32, 'needs at least 32 characters').describe('Encrypts session keys and environments at rest. Secret.'),
    ACTIVATION_PRIVATE_KEY: privateKey.describe('Ed25519, PKCS#8 DER, base64. Signs activations; another key makes every warm sandbox stale. Secret.'),
    SANDBOX_BACKEND: z
      .literal('process', 'needs to be `process`: the only backend of this version')
      .describe("Where sandboxes run. `process` is for a developer's own machine and refuses production."),
    PROCESS_BACKEND_DIR: z.string().startsWith('/', 'needs an absolute path').describe('Folder of sandboxes and workspaces.'),
    AGENT_SERVER_COMMAND: command.describe('JSON list that starts agent-server.'),
    ACTION_SERVER_COMMAND: command.describe('JSON list that starts action-server.'),
    POOL_TARGET: z.coerce.number().int().min(0).max(1_000).default(2).describe('Blank sandboxes kept warm.'),
    ORG_SANDBOX_LIMIT: z.coerce
      .number()
      .int()
      .min(0)
      .max(100_000)
      .default(10)
      .describe('Sandboxes that an organization may run at once, unless its own row says otherwise.'),
    REPLICA_ID: z.string().min(1).default(`${os.hostname()}-${process.pid}`).describe('Names this process in logs and database connections.'),
  })
  .refine((env) => env.NODE_ENV !== 'production' || env.SANDBOX_BACKEND !== 'process', {
    path: ['SANDBOX_BACKEND'],
    message: 'process runs agents without isolation; it refuses production',
  });

export type Config = Readonly<z.infer<typeof ConfigSchema>>;

/** @throws SlipwayError `config.invalid` that names every wrong variable, never its value. */
export function loadConfig(source: Readonly<Record<string, string | undefined>>): Config {
  return parseConfig(ConfigSchema, source);
}
