import { MAX_CONVERSATION_MCP_SERVERS, type McpServerConfig } from '@slipway/contracts/agent';
import { type CreateMcpServer } from '@slipway/contracts/secrets';
import { type Columns, inOrg, type SqlPool } from '@slipway/db/sql';
import { mcpServerConfigOf, type StoredMcpConfig } from '@slipway/domain';

/**
 * The tool servers that an organization has switched on, as its agents get them. Secrets are named, not in it: the
 * sandbox puts those that the conversation has in their places.
 */
export async function mcpServersOf(pool: SqlPool, orgId: string): Promise<Record<string, McpServerConfig>> {
  const { rows } = await inOrg(pool, orgId, (client) =>
    client.query<
      Columns<
        'app.mcp_server',
        'name' | 'transport' | 'config',
        { transport: CreateMcpServer['transport']; config: StoredMcpConfig }
      >
    >({
      name: 'mcp-servers-of-org',
      text: 'SELECT name, transport, config FROM app.mcp_server WHERE org_id = $1 AND enabled ORDER BY name, id LIMIT $2',
      values: [orgId, MAX_CONVERSATION_MCP_SERVERS],
    }),
  );
  return Object.fromEntries(rows.map(({ name, transport, config }) => [name, mcpServerConfigOf(transport, config)]));
}
