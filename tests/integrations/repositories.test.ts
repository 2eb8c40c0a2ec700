import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { Conversation } from '@slipway/contracts/conversations';
import type { ConnectionWithSecret } from '@slipway/contracts/integrations';
import type { RepositoryBranchPage, RepositoryPage } from '@slipway/contracts/repositories';
import { type Gitea, type GiteaRepository, type GiteaUser, missingForGitea, startGitea } from '@slipway/testing/gitea';
import { describeUnless } from '@slipway/testing/jest';
import { FEATURES } from '../../apps/app-server/dist/app.module.js';
import { type Answer, ConversationApp, type User } from '../../apps/app-server/dist/testing/conversation-app.js';

const missing = await missingForGitea();
if (missing !== null) console.log(`${missing} What needs a real git host is not run.`);

describeUnless(missing)('repositories of a real Gitea', () => {
  let gitea: Gitea;
  let ada: GiteaUser;
  let bob: GiteaUser;
  let shop: GiteaRepository;
  let app: ConversationApp;
  let olga: User;
  let mia: User;
  let sam: User;
  let host: string;
  let connectionId: string;

  beforeAll(async () => {
    if (missing !== null) return;
    gitea = await startGitea({ say: console.log });
    host = new URL(gitea.url).host;
    [ada, bob] = [await gitea.admin.createUser('ada'), await gitea.admin.createUser('bob')];
    shop = await ada.createRepository({
      name: 'shop',
      private: true,
      files: { 'total.js': 'export const total = 1;\n' },
    });
    await ada.createRepository({ name: 'secret', private: true, files: { 'key.txt': 'none\n' } });
    await ada.createRepository({ name: 'open', files: { 'README.md': '# Open\n' } });
    await shop.addCollaborator('bob', 'write');
    for (const name of ['fix-cart', 'fix-total', 'round'])
      await shop.commit({ message: name, files: { [`${name}.js`]: '' }, newBranch: name });
    app = await ConversationApp.start({ features: FEATURES, env: { INTEGRATION_PRIVATE_HOSTS: host } });
    [olga, mia, sam] = [await app.user('Olga'), await app.user('Mia'), await app.user('Sam')];
    for (const user of [mia, sam])
      await app.owner.query(`INSERT INTO app.membership (org_id, user_id, role) VALUES ($1, $2, 'member')`, [
        olga.orgId,
        user.userId,
      ]);
    const body = {
      provider: 'gitea',
      kind: 'token',
      name: 'Gitea',
      host,
      token: await ada.createToken('slipway', ['read:repository']),
      settings: { baseUrl: gitea.url },
    };
    connectionId = (
      await app.http<ConnectionWithSecret>(olga, 'POST', `/api/v1/orgs/${olga.orgId}/integrations/connections`, body)
    ).body.connection.id;
    await link(olga, ada);
    await link(mia, bob);
  });
  afterAll(async () => {
    await app?.close();
    await gitea?.close();
  });

  /** As when they had linked the account. */
  const link = async (user: User, as: GiteaUser): Promise<void> => {
    const { id, login } = await as.self();
    await app.owner.query(
      `INSERT INTO app.linked_account (id, org_id, provider, host, external_user_id, user_id, login) VALUES (gen_random_uuid()::text, $1, 'gitea', $2, $3, $4, $5)`,
      [olga.orgId, host, String(id), user.userId, login],
    );
  };
  const list = async (user: User, query: Record<string, string> = {}): Promise<RepositoryPage> => {
    const answer = await app.http<RepositoryPage>(
      user,
      'GET',
      `/api/v1/orgs/${olga.orgId}/integrations/repositories?${new URLSearchParams(query)}`,
    );
    expect([answer.status, answer.body]).toEqual([200, expect.anything()]);
    return answer.body;
  };
  const names = async (user: User, query: Record<string, string> = {}): Promise<string[]> =>
    (await list(user, query)).data.map(({ fullName }) => fullName);
  const branches = (
    user: User,
    query: Record<string, string>,
  ): Promise<Answer<RepositoryBranchPage & { code?: string }>> =>
    app.http(
      user,
      'GET',
      `/api/v1/orgs/${olga.orgId}/integrations/repositories/branches?${new URLSearchParams({ connection: connectionId, ...query })}`,
    );
  const start = (
    user: User,
    repository: string,
    at = `/api/v1/orgs/${olga.orgId}/conversations`,
  ): Promise<Answer<Conversation & { code?: string }>> => app.http(user, 'POST', at, { prompt: 'Fix it', repository });

  it('lists what the linked account may read there, with what it may do', async () => {
    expect((await list(olga)).data).toEqual([
      expect.objectContaining({ fullName: 'ada/open', private: false, access: 'admin' }),
      expect.objectContaining({ fullName: 'ada/secret', private: true }),
      {
        reference: 'gitea:ada/shop',
        connectionId,
        provider: 'gitea',
        fullName: 'ada/shop',
        url: `${gitea.url}/ada/shop`,
        defaultBranch: 'main',
        private: true,
        access: 'admin',
      },
    ]);
    const { data, connections } = await list(mia);
    expect(data.map(({ fullName, access }) => [fullName, access])).toEqual([
      ['ada/open', 'read'],
      ['ada/shop', 'write'],
    ]);
    expect(connections).toEqual([
      { connectionId, provider: 'gitea', providerName: 'Gitea', name: 'Gitea', host, state: 'listed', text: null },
    ]);
    expect([await names(mia, { query: 'SHO' }), await names(mia, { query: 'ada/secret' })]).toEqual([['ada/shop'], []]);
  });

  it('pages by name without a gap', async () => {
    const first = await list(olga, { limit: '2' });
    const second = await list(olga, { limit: '2', cursor: first.page.nextCursor ?? '' });
    expect([...first.data, ...second.data].map(({ fullName }) => fullName)).toEqual([
      'ada/open',
      'ada/secret',
      'ada/shop',
    ]);
    expect(second.page.nextCursor).toBe(null);
  });

  it('adversary: a member without a linked account learns no name, and neither does one whose link is of another account by now', async () => {
    expect(await list(sam)).toMatchObject({ data: [], connections: [{ state: 'no-oauth-client' }] });
    expect(await branches(sam, { repository: 'ada/shop' })).toMatchObject({
      status: 409,
      body: { code: 'linked-account.needed' },
    });
    expect(await start(sam, 'gitea:ada/shop')).toMatchObject({ status: 409, body: { code: 'linked-account.needed' } });
    const eve = await app.user('Eve');
    await app.owner.query(`INSERT INTO app.membership (org_id, user_id, role) VALUES ($1, $2, 'member')`, [
      olga.orgId,
      eve.userId,
    ]);
    // A login that the provider gives to another account: its id is not the one that was linked.
    await app.owner.query(
      `INSERT INTO app.linked_account (id, org_id, provider, host, external_user_id, user_id, login) VALUES ('eve', $1, 'gitea', $2, '99999', $3, 'ada')`,
      [olga.orgId, host, eve.userId],
    );
    expect(await names(eve)).toEqual([]);
    expect(await start(eve, 'gitea:ada/shop')).toMatchObject({ status: 422, body: { code: 'repository.unknown' } });
  });

  it('lists branches, by part of their name and in pages', async () => {
    const all = await branches(mia, { repository: 'ada/shop' });
    expect(all.body.data.map(({ name }) => name).sort()).toEqual(['fix-cart', 'fix-total', 'main', 'round']);
    const first = await branches(mia, { repository: 'ada/shop', query: 'FIX', limit: '1' });
    const second = await branches(mia, {
      repository: 'ada/shop',
      query: 'FIX',
      limit: '1',
      cursor: first.body.page.nextCursor ?? '',
    });
    expect([...first.body.data, ...second.body.data].map(({ name }) => name).sort()).toEqual(['fix-cart', 'fix-total']);
    expect(await branches(mia, { repository: 'ada/secret' })).toMatchObject({
      status: 422,
      body: { code: 'repository.unknown' },
    });
    expect((await branches(mia, { repository: '../..' })).status).toBe(400);
  });

  it('starts a conversation by provider and name, in both forms of the API', async () => {
    expect(await start(mia, 'gitea:ada/shop')).toMatchObject({
      status: 201,
      body: { repository: `${gitea.url}/ada/shop` },
    });
    expect(await start(mia, 'gitea:ADA/Shop')).toMatchObject({
      status: 201,
      body: { repository: `${gitea.url}/ada/shop` },
    });
    for (const name of ['ada/secret', 'ada/nothing', 'nobody/shop'])
      expect(await start(mia, `gitea:${name}`)).toMatchObject({ status: 422, body: { code: 'repository.unknown' } });
    expect(await start(mia, 'gitlab:ada/shop')).toMatchObject({
      status: 409,
      body: { code: 'repository.not-connected' },
    });
    for (const name of ['slack:ada/shop', 'nothing:ada/shop', 'gitea:shop', 'gitea:ada/..', 'gitea:ada/shop?x'])
      expect((await start(mia, name)).status).toBe(400);
    expect(await start(mia, 'github:octo/cat')).toMatchObject({
      status: 201,
      body: { repository: 'https://github.com/octo/cat' },
    });
    const simple = await app.http<{ conversation_id: string }>(
      olga,
      'POST',
      '/api/conversations',
      { initial_user_msg: 'Fix it', repository: 'ada/secret', git_provider: 'gitea' },
      { 'x-org-id': olga.orgId },
    );
    const { rows } = await app.owner.query('SELECT repository FROM app.conversation WHERE id = $1', [
      simple.body.conversation_id,
    ]);
    expect([simple.status, rows]).toEqual([200, [{ repository: `${gitea.url}/ada/secret` }]]);
  });

  it('says that the provider is away, and what is wrong with its token', async () => {
    await gitea.server.stop();
    try {
      // What was asked before is believed for a while.
      expect((await start(mia, 'gitea:ada/unknown-before')).body.code).toBe('integration.provider-away');
    } finally {
      await gitea.server.start();
    }
    const at = `/api/v1/orgs/${olga.orgId}/integrations/connections/${connectionId}`;
    await app.http(olga, 'PATCH', at, { token: 'not-a-token-of-gitea' });
    expect(await list(olga)).toMatchObject({
      data: [],
      connections: [{ state: 'refused', text: expect.stringContaining('does not take the credential') }],
    });
    expect((await start(mia, 'gitea:ada/shop')).body.code).toBe('integration.provider-refused');
    await app.http(olga, 'PATCH', at, { token: null });
    expect(await list(olga)).toMatchObject({ data: [], connections: [{ state: 'no-token' }] });
    expect((await start(mia, 'gitea:ada/shop')).body.code).toBe('repository.not-connected');
  });
});
