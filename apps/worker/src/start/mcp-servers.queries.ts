import { type CreateMcpServer, MAX_CONVERSATION_MCP_SERVERS, type McpServerConfig, type McpValue } from '@slipway/contracts';
import { inOrg, type SqlPool } from '@slipway/db/sql';

type StoredConfig = {
  readonly [K in 'command' | 'args' | 'env' | 'url' | 'headers']?: K extends 'args'
    ? string[]
    : K extends 'env' | 'headers'
      ? Record<string, McpValue>
      : string;
};

/** The tool servers that an organization has switched on, as its agents are told of them. Secrets are named, not in it: the sandbox puts those that the conversation has in their places. */
export async function mcpServersOf(pool: SqlPool, orgId: string): Promise<Record<string, McpServerConfig>> {
  const { rows } = await inOrg(pool, orgId, (client) =>
    client.query<{ name: string; transport: CreateMcpServer['transport']; config: StoredConfig }>({
      name: 'mcp-servers-of-org',
      text: 'SELECT name, transport, config FROM app.mcp_server WHERE org_id = $1 AND enabled ORDER BY name, id LIMIT $2',
      values: [orgId, MAX_CONVERSATION_MCP_SERVERS],
    }),
  );
  return Object.fromEntries(rows.map(({ name, transport, config }) => [name, serverOf(transport, config)]));
}

/** By its transport alone: what another one left in the row is not looked at. */
export function serverOf(transport: CreateMcpServer['transport'], { command, args, env, url, headers }: StoredConfig): McpServerConfig {
  return transport === 'stdio' ? { transport, enabled: true, command, args, env: texts(env) } : { transport, enabled: true, url, headers: texts(headers) };
}

function texts(values: Readonly<Record<string, McpValue>> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, 'secret' in value ? `${value.prefix}\${${value.secret}}` : value.value]));
}
