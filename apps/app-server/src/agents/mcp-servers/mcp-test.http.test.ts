import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { MAX_TESTED_TOOLS, McpServer, McpServerTest } from '@slipway/contracts/secrets';
import { until } from '@slipway/testing';
import { ConversationApp, type User } from '../../testing/conversation-app.js';
import { makeKey, withKey } from '../../testing/with-key.js';

const KEY = 'runtime-api-key-of-the-tests-0123456789';
const CANARY = 'canary-of-a-server-1';

/** Where runtime-api and one sandbox would be: what they are asked, in order, and what they answer. */
class Peers {
  asked: Array<{ what: string; body: string }> = [];
  start: { status: number; body: object } = { status: 200, body: {} };
  sandbox: { status: number; body: object } | 'hang' = { status: 200, body: {} };
  readonly server: Server = createServer(
    (request, response) => void this.answer(request).then((given) => given !== 'hang' && send(response, given)),
  );

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  runtime(status: string): object {
    return {
      runtime_id: 'rt_1',
      session_id: 's',
      url: this.url,
      session_api_key: 'key-of-the-sandbox',
      status,
      pod_status: 'ready',
      restart_count: 0,
      restart_reasons: [],
      working_dir: '/workspace',
      work_hosts: {},
    };
  }

  whats(): string[] {
    return this.asked.map(({ what }) => what.replace(/slipway-brief-mcp-test-[0-9a-f-]{36}/, 'mcp-test'));
  }

  private async answer(request: IncomingMessage): Promise<{ status: number; body: object } | 'hang'> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const { method, url = '', headers } = request;
    this.asked.push({ what: `${method} ${url}`, body: Buffer.concat(parts).toString() });
    if (url.startsWith('/api/')) {
      if (headers['x-session-api-key'] !== 'key-of-the-sandbox') return { status: 401, body: {} };
      return url === '/api/mcp/test' ? this.sandbox : { status: 200, body: {} };
    }
    if (headers['x-api-key'] !== KEY) return { status: 401, body: {} };
    if (url === '/start') return this.start;
    return { status: 200, body: url === '/stop' ? {} : this.runtime('running') };
  }
}

function send(response: ServerResponse, { status, body }: { status: number; body: object }): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

describe('a test of an MCP server', () => {
  const peers = new Peers();
  let app: ConversationApp;
  let owner: User;
  let member: User;
  let stranger: User;
  beforeAll(async () => {
    await new Promise<void>((resolve) => peers.server.listen(0, '127.0.0.1', resolve));
    app = await ConversationApp.start({ env: { RUNTIME_API_URL: peers.url, RUNTIME_API_KEY: KEY } });
    [owner, member, stranger] = [await app.user(), await app.user(), await app.user()];
    await app.owner.query("INSERT INTO app.membership (org_id, user_id, role) VALUES ($1, $2, 'member')", [
      owner.orgId,
      member.userId,
    ]);
    await app.http(owner, 'POST', at('secrets'), { name: 'SERVER_KEY', value: CANARY });
    await app.http(owner, 'POST', at('secrets'), {
      name: 'OF_STAGING',
      value: 'xxxxxx',
      scope: 'environment',
      scopeValue: 'staging',
    });
  });
  afterAll(async () => {
    await app?.close();
    peers.server.closeAllConnections();
    peers.server.close();
  });
  beforeEach(() => {
    peers.asked = [];
    peers.start = { status: 200, body: peers.runtime('running') };
    peers.sandbox = { status: 200, body: { ok: true, tools: ['one', 'two'], tool_result: null } };
  });

  const at = (rest: string): string => `/api/v1/orgs/${owner.orgId}/${rest}`;
  const test = (user: User, id: string) =>
    app.http<{ code?: string; detail?: string }>(user, 'POST', at(`mcp-servers/${id}/test`));
  const keep = async (name: string, more: object): Promise<string> =>
    McpServer.parse((await app.http(owner, 'POST', at('mcp-servers'), { name, ...more })).body).id;
  const secret = (name: string): object => ({
    transport: 'http',
    url: 'https://8.8.4.4/mcp',
    headers: { authorization: { secret: name, prefix: 'Bearer ' } },
  });

  it('is made in a sandbox of its own that is given back, with the secrets that the server names, and is in the audit without their values', async () => {
    const id = await keep('Remote', secret('SERVER_KEY'));
    const answer = await test(owner, id);
    expect([answer.status, McpServerTest.parse(answer.body)]).toMatchObject([
      200,
      { ok: true, tools: ['one', 'two'], moreTools: 0, failure: null },
    ]);
    expect(peers.whats()).toEqual([
      'POST /start',
      'POST /api/slipway/secrets',
      'POST /api/mcp/test',
      'GET /sessions/mcp-test',
      'POST /stop',
    ]);
    expect(JSON.parse(peers.asked[1]?.body ?? '')).toEqual({ variables: { SERVER_KEY: CANARY }, git: [] });
    expect(JSON.parse(peers.asked[2]?.body ?? '')).toMatchObject({
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the sandbox puts the secret there
      server: { transport: 'http', url: 'https://8.8.4.4/mcp', headers: { authorization: 'Bearer ${SERVER_KEY}' } },
    });
    const { rows } = await app.owner.query(
      "SELECT actor_id, target, detail FROM app.audit_entry WHERE action = 'mcp-server.test'",
    );
    expect(rows).toEqual([
      { actor_id: owner.userId, target: id, detail: { name: 'Remote', transport: 'http', secrets: ['SERVER_KEY'] } },
    ]);
    const dump = await app.owner.query(
      `SELECT query_to_xml('SELECT * FROM app.audit_entry', true, false, '')::text AS dump`,
    );
    expect(dump.rows[0].dump).not.toContain(CANARY);
    expect(JSON.stringify(answer.body)).not.toContain(CANARY);
  });

  it('is an admin’s: a member is refused, for others there is no such server, and a program that may not change secrets sends none anywhere', async () => {
    const [plain, proving] = [
      await keep('Plain', { transport: 'stdio', command: 'true' }),
      await keep('Proving', secret('SERVER_KEY')),
    ];
    expect([
      (await test(member, plain)).status,
      (await test(stranger, plain)).status,
      (await test(owner, 'mcp_none')).status,
    ]).toEqual([403, 404, 404]);
    const { token } = await makeKey(app, owner, ['setting:write']);
    const asKey = async (id: string) => {
      const { status, body } = await withKey<{ code?: string }>(app.url, token, 'POST', at(`mcp-servers/${id}/test`));
      return [status, body.code];
    };
    expect(await asKey(proving)).toEqual([403, 'permission.denied']);
    expect(peers.asked).toEqual([]);
    expect(await asKey(plain)).toEqual([200, undefined]);
  });

  it('asks for no sandbox when a secret is not every conversation’s, or the address is none of the internet any more', async () => {
    const [narrow, moved] = [
      await keep('Narrow', secret('OF_STAGING')),
      await keep('Moved', { transport: 'sse', url: 'https://8.8.8.8/sse' }),
    ];
    expect((await test(owner, narrow)).body).toMatchObject({
      ok: false,
      failure: { kind: 'settings', detail: expect.stringContaining('OF_STAGING') },
    });
    await app.owner.query(
      `UPDATE app.mcp_server SET config = '{"url":"https://169.254.169.254/latest"}' WHERE id = $1`,
      [moved],
    );
    expect(await test(owner, moved)).toMatchObject({ status: 422, body: { code: 'settings.url-refused' } });
    expect(peers.asked).toEqual([]);
  });

  it('shows what the server did, bounded, and releases the sandbox whatever came', async () => {
    const id = await keep('Hostile', { transport: 'stdio', command: 'npx' });
    const names = Array.from({ length: MAX_TESTED_TOOLS + 5 }, (_, index) => `${index}`.padEnd(900, 'x'));
    peers.sandbox = { status: 200, body: { ok: true, tools: names, tool_result: null } };
    const many = McpServerTest.parse((await test(owner, id)).body);
    expect([many.tools.length, many.moreTools, Math.max(...many.tools.map((name) => name.length))]).toEqual([
      MAX_TESTED_TOOLS,
      5,
      200,
    ]);
    peers.sandbox = {
      status: 200,
      body: { ok: false, error: 'Nothing listens there. Start it.', error_kind: 'connection' },
    };
    expect((await test(owner, id)).body).toMatchObject({
      ok: false,
      failure: { kind: 'connection', detail: 'Nothing listens there. Start it.' },
    });
    for (const sandbox of [
      { status: 500, body: {} },
      { status: 200, body: { nonsense: true } },
    ]) {
      peers.asked = [];
      peers.sandbox = sandbox;
      expect(await test(owner, id)).toMatchObject({ status: 502, body: { code: 'sandbox.unreachable' } });
      expect(peers.whats().slice(-2)).toEqual(['GET /sessions/mcp-test', 'POST /stop']);
    }
  });

  it('says in the words of the sandbox service that there is no room, and that it does not answer', async () => {
    const id = await keep('Waiting', { transport: 'stdio', command: 'npx' });
    const refusals = [
      [409, 'sandbox.quota', 409, 'sandbox.quota'],
      [503, 'sandbox.no-capacity', 503, 'sandbox.no-capacity'],
      [503, 'sandbox.cluster-unavailable', 502, 'sandbox.start-failed'],
      [500, 'nothing of ours', 503, 'service.unavailable'],
    ] as const;
    for (const [status, code, shownStatus, shown] of refusals) {
      peers.start = {
        status,
        body: {
          type: 'about:blank',
          title: 't',
          status,
          code,
          detail: 'As it says.',
          requestId: 'r',
          nextStep: 'n',
          retry: 'later',
        },
      };
      expect(await test(owner, id)).toMatchObject({ status: shownStatus, body: { code: shown } });
    }
  });

  it('is one of two at once in an organization; a third gets Retry-After', async () => {
    const id = await keep('Slow', { transport: 'stdio', command: 'npx' });
    peers.sandbox = 'hang';
    const hanging = [test(owner, id), test(owner, id)].map((each) => each.catch(() => null));
    await until('both are asked', () => peers.asked.filter(({ what }) => what === 'POST /api/mcp/test').length === 2);
    expect(await test(owner, id)).toMatchObject({ status: 429, body: { code: 'rate.limited' } });
    peers.server.closeAllConnections();
    await Promise.all(hanging);
    peers.sandbox = { status: 200, body: { ok: true, tools: [], tool_result: null } };
    expect((await test(owner, id)).status).toBe(200);
  });
});
