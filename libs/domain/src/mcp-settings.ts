import type { McpServerConfig } from '@slipway/contracts/agent';
import type { CreateMcpServer, McpValue } from '@slipway/contracts/secrets';

/** What a row of an organization's MCP server holds beside its name and transport. */
export type StoredMcpConfig = {
  readonly [K in 'command' | 'args' | 'env' | 'url' | 'headers']?: K extends 'args'
    ? string[]
    : K extends 'env' | 'headers'
      ? Record<string, McpValue>
      : string;
};

/**
 * A stored server as a sandbox gets it, by its transport alone: fields of another transport in the row are ignored.
 * Secrets are named, not in it.
 */
export function mcpServerConfigOf(
  transport: CreateMcpServer['transport'],
  { command, args, env, url, headers }: StoredMcpConfig,
): McpServerConfig {
  return transport === 'stdio'
    ? { transport, enabled: true, command, args, env: texts(env) }
    : { transport, enabled: true, url, headers: texts(headers) };
}

/** The secrets that its headers and variables name, each once. */
export function secretsOfMcpServer({ env, headers }: StoredMcpConfig): string[] {
  const values = Object.values({ ...env, ...headers });
  return [...new Set(values.flatMap((value) => ('secret' in value ? [value.secret] : [])))];
}

function texts(values: Readonly<Record<string, McpValue>> = {}): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      'secret' in value ? `${value.prefix}\${${value.secret}}` : value.value,
    ]),
  );
}
