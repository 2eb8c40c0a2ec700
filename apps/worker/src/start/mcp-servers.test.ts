import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { inOrg } from '@slipway/db/sql';
import { type Harness, ORG, openHarness } from '../testing/harness.js';

describe('the MCP servers of an organization', () => {
  let harness: Harness;
  beforeAll(async () => {
    harness = await openHarness();
  });
  afterAll(() => harness.close());

  const keep = (name: string, transport: string, enabled: boolean, config: object): Promise<unknown> =>
    inOrg(harness.pool, ORG, (client) =>
      client.query(
        `INSERT INTO app.mcp_server (org_id, id, name, transport, enabled, config, created_by, created_by_label) VALUES ($1, $2, $2, $3, $4, $5, 'u', 'u')`,
        [ORG, name, transport, enabled, JSON.stringify(config)],
      ),
    );

  it('reach its sandboxes with the start, with names of secrets and no value of one; those that are switched off do not', async () => {
    const blank = await harness.create();
    await harness.start(blank.id);
    expect(harness.peers.sessions.get(blank.id)?.sandbox?.mcpServers).toBeNull();
    await keep('files', 'stdio', true, {
      command: 'npx',
      args: ['-y', 'a-server'],
      env: { TOKEN: { secret: 'SERVER_KEY', prefix: '' }, MODE: { value: 'quiet' } },
    });
    await keep('tickets', 'sse', true, {
      url: 'https://tickets.example/sse',
      headers: { Authorization: { secret: 'TICKETS', prefix: 'Bearer ' } },
      command: 'left over',
    });
    await keep('off', 'http', false, { url: 'https://off.example/mcp' });
    const { id } = await harness.create();
    await harness.start(id);
    expect(harness.peers.sessions.get(id)?.sandbox?.mcpServers).toEqual({
      files: {
        transport: 'stdio',
        enabled: true,
        command: 'npx',
        args: ['-y', 'a-server'],
        // biome-ignore lint/suspicious/noTemplateCurlyInString: the sandbox puts the secret there
        env: { TOKEN: '${SERVER_KEY}', MODE: 'quiet' },
      },
      tickets: {
        transport: 'sse',
        enabled: true,
        url: 'https://tickets.example/sse',
        // biome-ignore lint/suspicious/noTemplateCurlyInString: the sandbox puts the secret there
        headers: { Authorization: 'Bearer ${TICKETS}' },
      },
    });
  });
});
