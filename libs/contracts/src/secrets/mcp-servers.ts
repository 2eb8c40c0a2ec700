import { z } from 'zod';
import { SecretName } from './secrets.js';

/** Tool servers of the Model Context Protocol, as an organization keeps them for its agents. */

/** Most that an organization has. */
export const MAX_MCP_SERVERS = 100;

/** A text that anybody with `setting:read` reads, or a secret by its name, with what stands before it (`Bearer `). */
export const McpValue = z.union([
  z.strictObject({ value: z.string().max(4096) }),
  z.strictObject({ secret: SecretName, prefix: z.string().max(100).default('') }),
]);
export type McpValue = z.infer<typeof McpValue>;

const MAX_ENTRIES = 50;
const few = <T>(record: Readonly<Record<string, T>>): boolean => Object.keys(record).length <= MAX_ENTRIES;

const name = z.string().trim().min(1).max(100);
/** A program in the sandbox that speaks over its standard streams. */
const stdio = {
  transport: z.literal('stdio'),
  command: z.string().trim().min(1).max(1000),
  args: z.array(z.string().max(4096)).max(100),
  env: z.record(SecretName, McpValue).refine(few, `has at most ${MAX_ENTRIES} entries`),
};
/** A server at an address: https, and a public one. */
const remote = {
  transport: z.enum(['http', 'sse']),
  url: z.url().max(2048),
  headers: z
    .record(z.string().regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/, 'is not the name of a header'), McpValue)
    .refine(few, `has at most ${MAX_ENTRIES} entries`),
};

export const CreateMcpServer = z.discriminatedUnion('transport', [
  z.strictObject({
    name,
    enabled: z.boolean().default(true),
    ...stdio,
    args: stdio.args.default([]),
    env: stdio.env.default({}),
  }),
  z.strictObject({ name, enabled: z.boolean().default(true), ...remote, headers: remote.headers.default({}) }),
]);
export type CreateMcpServer = z.infer<typeof CreateMcpServer>;

/** What is left out stays, the transport too. A field of the other transport is refused. */
export const UpdateMcpServer = z
  .strictObject({
    name,
    enabled: z.boolean(),
    command: stdio.command,
    args: stdio.args,
    env: stdio.env,
    url: remote.url,
    headers: remote.headers,
  })
  .partial();
export type UpdateMcpServer = z.infer<typeof UpdateMcpServer>;

const stored = {
  id: z.string(),
  name,
  enabled: z.boolean(),
  /** Secrets that it names and that no scope of the organization has. */
  missingSecrets: z.array(z.string()),
  createdBy: z.object({ id: z.string(), label: z.string() }),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
};
export const McpServer = z.discriminatedUnion('transport', [
  z.object({ ...stored, ...stdio }),
  z.object({ ...stored, ...remote }),
]);
export type McpServer = z.infer<typeof McpServer>;
/** By name; all of them. */
export const McpServerList = z.object({ data: z.array(McpServer) });
export type McpServerList = z.infer<typeof McpServerList>;

/** Most tools that a test names. */
export const MAX_TESTED_TOOLS = 200;

/**
 * A server that was reached once, from a sandbox of its own that ends with the test. That it failed is an answer, too.
 */
export const McpServerTest = z.object({
  ok: z.boolean(),
  /** From asking the sandbox to its answer; the sandbox's own start is not in it. */
  elapsedMs: z.int().nonnegative(),
  /** As the server names them, the first `MAX_TESTED_TOOLS`. */
  tools: z.array(z.string()),
  /** How many there are beyond those. */
  moreTools: z.int().nonnegative(),
  /**
   * `settings`: it was not tried, for what its settings say. `detail` are sentences with the next step. `null`: it
   * answered.
   */
  failure: z.object({ kind: z.enum(['timeout', 'connection', 'settings', 'unknown']), detail: z.string() }).nullable(),
});
export type McpServerTest = z.infer<typeof McpServerTest>;
