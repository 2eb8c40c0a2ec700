import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DEMO_MODEL, LlmProfile, LlmProfileList } from '@slipway/contracts/models';
import { OrgSettings } from '@slipway/contracts/organizations';
import { McpServer, McpServerList } from '@slipway/contracts/secrets';
import { ConversationApp, type User } from '../../testing/conversation-app.js';

describe('what an organization has set up', () => {
  let app: ConversationApp;
  let owner: User;
  let member: User;
  let stranger: User;
  beforeAll(async () => {
    app = await ConversationApp.start();
    [owner, member, stranger] = [await app.user(), await app.user(), await app.user()];
    await app.owner.query("INSERT INTO app.membership (org_id, user_id, role) VALUES ($1, $2, 'member')", [
      owner.orgId,
      member.userId,
    ]);
  });
  afterAll(() => app?.close());

  const at = (rest: string): string => `/api/v1/orgs/${owner.orgId}/${rest}`;
  const audit = async (action: string): Promise<Array<{ before: unknown; after: unknown }>> =>
    (
      await app.owner.query('SELECT before, after, detail FROM app.audit_entry WHERE action = $1 ORDER BY created_at', [
        action,
      ])
    ).rows;

  it('settings are changed key by key, from the version that was read, with both sides in the audit', async () => {
    const read = await app.http(member, 'GET', at('settings'));
    const first = OrgSettings.parse(read.body);
    expect([first, read.headers.get('etag')]).toEqual([
      {
        version: 1,
        defaultModel: null,
        defaultEnvironment: null,
        maxIterations: null,
        memberSecrets: true,
        confirmation: 'never',
        fourEyes: false,
        egressUnknown: 'ask',
        egressAnswered: 'wait',
        egressDailyMb: null,
        egressDailyMbPerHost: null,
        packageMinAgeDays: null,
        packageHosts: [],
        secretsInSandbox: 'allowed',
        promptLogDays: null,
        analytics: false,
        checkpointDays: 30,
      },
      '"1"',
    ]);
    const changed = await app.http(
      owner,
      'PATCH',
      at('settings'),
      { maxIterations: 20, defaultEnvironment: 'staging' },
      { 'if-match': '"1"' },
    );
    expect([changed.status, changed.body, changed.headers.get('etag')]).toEqual([
      200,
      { ...first, version: 2, maxIterations: 20, defaultEnvironment: 'staging' },
      '"2"',
    ]);
    const stale = await app.http(owner, 'PATCH', at('settings'), { maxIterations: 30 }, { 'if-match': '"1"' });
    expect([stale.status, stale.body]).toMatchObject([412, { code: 'settings.changed' }]);
    expect((await app.http(owner, 'PATCH', at('settings'), { defaultModel: DEMO_MODEL })).status).toBe(200);
    expect(await app.http(owner, 'PATCH', at('settings'), { defaultModel: 'none' })).toMatchObject({
      status: 404,
      body: { code: 'model.unknown' },
    });
    expect((await app.http(owner, 'PATCH', at('settings'), { nothing: 1 })).status).toBe(400);
    for (const checkpointDays of [0, 3_651, null, 1.5])
      expect((await app.http(owner, 'PATCH', at('settings'), { checkpointDays })).status).toBe(400);
    expect((await audit('setting.update'))[0]).toMatchObject({
      before: { maxIterations: null, defaultEnvironment: null },
      after: { maxIterations: 20, defaultEnvironment: 'staging' },
    });
    const { id } = await app.conversation(owner);
    expect(
      (await app.owner.query('SELECT environment, model FROM app.conversation WHERE id = $1', [id])).rows[0],
    ).toEqual({
      environment: 'staging',
      model: DEMO_MODEL,
    });
  });

  it('a change of when agents ask is wanted for those that run in the same transaction, and no other change or organization is', async () => {
    const jobs = async () =>
      (await app.owner.query("SELECT org_id, key, payload FROM app.outbox WHERE queue = 'org-settings'")).rows;
    const patch = async (user: User, change: object) =>
      (await app.http(user, 'PATCH', `/api/v1/orgs/${user.orgId}/settings`, change)).status;
    expect([
      await patch(owner, { maxIterations: 21 }),
      await patch(owner, { confirmation: 'never', fourEyes: false }),
      await jobs(),
    ]).toEqual([200, 200, []]);
    expect([await patch(owner, { fourEyes: true }), await jobs()]).toEqual([
      200,
      [{ org_id: owner.orgId, key: owner.orgId, payload: { orgId: owner.orgId } }],
    ]);
    await app.owner.query('DELETE FROM app.outbox');
    expect([
      await patch(owner, { confirmation: 'risky', fourEyes: false }),
      (await jobs()).map(({ key }) => key),
    ]).toEqual([200, [owner.orgId]]);
    expect([await patch(member, { confirmation: 'always' }), (await jobs()).map(({ key }) => key).sort()]).toEqual([
      200,
      [owner.orgId, member.orgId].sort(),
    ]);
    await app.owner.query('DELETE FROM app.outbox');
    await patch(owner, { confirmation: 'never' });
  });

  it('is for admins to change, for members to read, and for others as if there were none', async () => {
    for (const rest of ['settings', 'llm-profiles', 'mcp-servers']) {
      expect([
        rest,
        (await app.http(member, 'GET', at(rest))).status,
        (await app.http(stranger, 'GET', at(rest))).status,
        (await app.http(null, 'GET', at(rest))).status,
      ]).toEqual([rest, 200, 404, 401]);
    }
    const calls = [
      ['PATCH', 'settings', {}],
      ['POST', 'llm-profiles', { name: 'n', model: 'm' }],
      ['PATCH', 'llm-profiles/llm_1', {}],
      ['DELETE', 'llm-profiles/llm_1', undefined],
      ['POST', 'mcp-servers', { name: 'n', transport: 'stdio', command: 'c' }],
      ['PATCH', 'mcp-servers/mcp_1', {}],
      ['DELETE', 'mcp-servers/mcp_1', undefined],
    ] as const;
    for (const [method, rest, body] of calls) {
      expect([
        rest,
        (await app.http(member, method, at(rest), body)).status,
        (await app.http(stranger, method, at(rest), body)).status,
      ]).toEqual([rest, 403, 404]);
      if (rest.includes('/')) expect((await app.http(owner, method, at(rest), body)).status).toBe(404);
    }
  });

  it('LLM profiles never show their key, have one default, and give a key to no other address', async () => {
    const make = async (body: object): Promise<LlmProfile> =>
      LlmProfile.parse((await app.http(owner, 'POST', at('llm-profiles'), body)).body);
    const first = await make({
      name: 'Fast',
      model: 'gpt',
      baseUrl: 'https://8.8.8.8/v1',
      apiKey: 'sk-canary-of-a-profile',
      temperature: 0.5,
      default: true,
    });
    const second = await make({ name: 'Good', model: 'opus', default: true });
    expect(
      LlmProfileList.parse((await app.http(owner, 'GET', at('llm-profiles'))).body).data.map(
        ({ name, default: isDefault, hasApiKey }) => [name, isDefault, hasApiKey],
      ),
    ).toEqual([
      ['Fast', false, true],
      ['Good', true, false],
    ]);
    expect(await app.http(owner, 'POST', at('llm-profiles'), { name: 'Fast', model: 'x' })).toMatchObject({
      status: 409,
      body: { code: 'settings.name-taken' },
    });
    expect(await app.http(owner, 'PATCH', at(`llm-profiles/${second.id}`), { name: 'Fast' })).toMatchObject({
      status: 409,
      body: { code: 'settings.name-taken' },
    });
    expect(
      (await app.http(owner, 'PATCH', at(`llm-profiles/${first.id}`), { baseUrl: 'https://1.1.1.1/v1' })).status,
    ).toBe(400);
    expect(
      (
        await app.http(owner, 'PATCH', at(`llm-profiles/${first.id}`), {
          baseUrl: 'https://1.1.1.1/v1',
          apiKey: 'sk-canary-again',
        })
      ).status,
    ).toBe(200);
    expect((await app.http(owner, 'PATCH', at(`llm-profiles/${first.id}`), { apiKey: null })).body).toMatchObject({
      hasApiKey: false,
      temperature: 0.5,
    });
    expect((await app.http(owner, 'DELETE', at(`llm-profiles/${first.id}`))).status).toBe(204);
    const { rows } = await app.owner.query(
      `SELECT query_to_xml('SELECT * FROM app.audit_entry', true, false, '')::text || query_to_xml('SELECT * FROM app.llm_profile', true, false, '')::text AS dump`,
    );
    expect(rows[0].dump).not.toContain('canary');
  });

  it('MCP servers name secrets instead of holding them, and say which of those there are not', async () => {
    await app.http(owner, 'POST', at('secrets'), { name: 'KNOWN', value: 'a value of it' });
    const body = {
      name: 'Issues',
      transport: 'http',
      url: 'https://8.8.4.4/mcp',
      headers: {
        authorization: { secret: 'KNOWN', prefix: 'Bearer ' },
        'x-other': { secret: 'UNKNOWN' },
        'x-plain': { value: 'v' },
      },
    };
    const made = McpServer.parse((await app.http(owner, 'POST', at('mcp-servers'), body)).body);
    expect(made).toMatchObject({
      ...body,
      headers: { ...body.headers, 'x-other': { secret: 'UNKNOWN', prefix: '' } },
      enabled: true,
      missingSecrets: ['UNKNOWN'],
    });
    expect((await app.http(owner, 'PATCH', at(`mcp-servers/${made.id}`), { command: 'npx' })).status).toBe(400);
    expect(
      (await app.http(owner, 'PATCH', at(`mcp-servers/${made.id}`), { enabled: false, headers: {} })).body,
    ).toMatchObject({
      enabled: false,
      headers: {},
      missingSecrets: [],
      url: body.url,
    });
    const local = {
      name: 'Files',
      transport: 'stdio',
      command: 'npx',
      args: ['files'],
      env: { TOKEN: { secret: 'KNOWN' } },
    };
    expect((await app.http(owner, 'POST', at('mcp-servers'), local)).status).toBe(201);
    expect(
      McpServerList.parse((await app.http(member, 'GET', at('mcp-servers'))).body).data.map(({ name }) => name),
    ).toEqual(['Files', 'Issues']);
    expect(await app.http(owner, 'POST', at('mcp-servers'), local)).toMatchObject({
      status: 409,
      body: { code: 'settings.name-taken' },
    });
    expect((await app.http(owner, 'DELETE', at(`mcp-servers/${made.id}`))).status).toBe(204);
    expect(await audit('mcp-server.create')).toMatchObject([
      { after: { url: body.url, names: ['authorization', 'x-other', 'x-plain'] } },
      { after: { command: 'npx' } },
    ]);
  });

  it('addresses inside of a network are refused at saving, however they are written', async () => {
    const refused = [
      'http://8.8.8.8/',
      'https://127.0.0.1/',
      'https://0x7f.1/',
      'https://2130706433/',
      'https://[::1]/',
      'https://[::ffff:10.0.0.1]/',
      'https://169.254.169.254/latest',
      'https://localhost/',
      'https://db.internal/',
      'https://intranet/',
      'https://user:pw@8.8.8.8/',
      'https://100.64.1.1/',
    ];
    for (const url of refused) {
      expect([
        url,
        (await app.http<{ code: string }>(owner, 'POST', at('llm-profiles'), { name: 'N', model: 'm', baseUrl: url }))
          .body.code,
      ]).toEqual([url, 'settings.url-refused']);
      expect([
        url,
        (await app.http<{ code: string }>(owner, 'POST', at('mcp-servers'), { name: 'N', transport: 'sse', url })).body
          .code,
      ]).toEqual([url, 'settings.url-refused']);
    }
  });
});
