import { Inject, Injectable } from '@nestjs/common';
import { type Principal } from '@slipway/contracts/organizations';
import {
  type CreateMcpServer,
  MAX_MCP_SERVERS,
  McpServer,
  type McpServerList,
  type UpdateMcpServer,
} from '@slipway/contracts/secrets';
import { inOrg, type PoolClient, type SqlPool } from '@slipway/db/sql';
import { type Ids, secretsOfMcpServer } from '@slipway/domain';
import { notFound, SlipwayError } from '@slipway/errors';
import { assertOutside } from '@slipway/outside';
import { auditOf } from '../../audit/audit-statement.js';
import type { Config } from '../../config.js';
import { CONFIG, IDS, SQL_POOL } from '../../platform/tokens.js';
import {
  deleteServer,
  insertServer,
  knownSecretNames,
  listServers,
  lockServer,
  type McpServerRow,
  updateServer,
} from './mcp-servers.queries.js';

/** What belongs to each transport, and to no other. */
const FIELDS = { stdio: ['command', 'args', 'env'], http: ['url', 'headers'], sse: ['url', 'headers'] } as const;

/** MCP servers of an organization. A start sends the enabled ones to the sandbox. */
@Injectable()
export class McpServersService {
  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(IDS) private readonly ids: Ids,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  async list(caller: Principal): Promise<McpServerList> {
    return inOrg(this.pool, caller.orgId, async (client) => ({
      data: await this.asSettings(client, caller, await listServers(client, caller.orgId)),
    }));
  }

  /** @throws SlipwayError `settings.url-refused`, `settings.name-taken`, `settings.too-many` */
  async create(caller: Principal, body: CreateMcpServer): Promise<McpServer> {
    const { name, enabled, transport, ...config } = body;
    await this.assertUrl(config);
    return inOrg(this.pool, caller.orgId, async (client) => {
      if ((await listServers(client, caller.orgId)).length >= MAX_MCP_SERVERS)
        throw new SlipwayError('settings.too-many', `There are ${MAX_MCP_SERVERS} servers already.`);
      const row = await insertServer(
        client,
        caller.orgId,
        { id: this.ids.prefixed('mcp'), name, transport, enabled, config },
        caller.actor,
      );
      if (row === null) throw nameTaken(name);
      await client.query(
        auditOf(this.ids.uuid(), caller, { action: 'mcp-server.create', target: row.id, after: inWords(row) }),
      );
      return this.one(client, caller, row);
    });
  }

  /**
   * @throws SlipwayError `resource.not-found`, `settings.url-refused`, `settings.name-taken`; `request.invalid` for a
   * field of another transport.
   */
  async update(caller: Principal, id: string, change: UpdateMcpServer): Promise<McpServer> {
    await this.assertUrl(change);
    return inOrg(this.pool, caller.orgId, async (client) => {
      const before = await lockServer(client, caller.orgId, id);
      if (before === null) throw notFound();
      const { name = before.name, enabled = before.enabled, ...fields } = change;
      const given = Object.entries(fields).filter(([, value]) => value !== undefined);
      const strange = given
        .map(([field]) => field)
        .find((field) => !(FIELDS[before.transport] as readonly string[]).includes(field));
      if (strange !== undefined) {
        const message = `is not of the transport ${before.transport}`;
        throw new SlipwayError('request.invalid', `${strange}: ${message}`, { fields: [{ path: strange, message }] });
      }
      const after = await updateServer(client, caller.orgId, {
        id,
        name,
        enabled,
        config: { ...before.config, ...Object.fromEntries(given) },
      });
      if (after === null) throw nameTaken(name);
      await client.query(
        auditOf(this.ids.uuid(), caller, {
          action: 'mcp-server.update',
          target: id,
          before: inWords(before),
          after: inWords(after),
        }),
      );
      return this.one(client, caller, after);
    });
  }

  /** @throws SlipwayError `resource.not-found` */
  async delete(caller: Principal, id: string): Promise<void> {
    await inOrg(this.pool, caller.orgId, async (client) => {
      const row = await lockServer(client, caller.orgId, id);
      if (row === null) throw notFound();
      await deleteServer(client, caller.orgId, id);
      await client.query(
        auditOf(this.ids.uuid(), caller, { action: 'mcp-server.delete', target: id, before: inWords(row) }),
      );
    });
  }

  private async assertUrl(config: object): Promise<void> {
    if ('url' in config && typeof config.url === 'string')
      await assertOutside(config.url, this.config.ALLOW_PRIVATE_URLS);
  }

  private async one(client: PoolClient, caller: Principal, row: McpServerRow): Promise<McpServer> {
    const [server] = await this.asSettings(client, caller, [row]);
    if (server === undefined) throw new Error('a server that was stored cannot be read');
    return server;
  }

  private async asSettings(client: PoolClient, caller: Principal, rows: readonly McpServerRow[]): Promise<McpServer[]> {
    const names = rows.map(({ config }) => secretsOfMcpServer(config));
    const known = await knownSecretNames(client, caller.orgId, names.flat());
    return rows.map((row, index) =>
      McpServer.parse({
        ...row.config,
        id: row.id,
        name: row.name,
        transport: row.transport,
        enabled: row.enabled,
        missingSecrets: (names[index] ?? []).filter((name) => !known.has(name)),
        createdBy: { id: row.created_by, label: row.created_by_label },
        createdAt: row.created_at.toISOString(),
        updatedAt: row.updated_at.toISOString(),
      }),
    );
  }
}

/** Without the values of headers and variables: they may contain a token. */
function inWords({ name, transport, enabled, config }: McpServerRow): Record<string, unknown> {
  return {
    name,
    transport,
    enabled,
    ...(transport === 'stdio' ? { command: config.command } : { url: config.url }),
    names: Object.keys({ ...config.env, ...config.headers }).sort(),
  };
}

const nameTaken = (name: string): SlipwayError =>
  new SlipwayError('settings.name-taken', `There is a server ${JSON.stringify(name)}.`);
