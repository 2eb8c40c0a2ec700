import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { ConnectionWithSecret } from '@slipway/contracts/integrations';
import type { RepositoryBranchPage, RepositoryPage } from '@slipway/contracts/repositories';
import { FEATURES } from '../../app.module.js';
import { type Answer, ConversationApp, type User } from '../../testing/conversation-app.js';
import { ScriptedHost } from './scripted-host.js';

const TOKEN = 'the-access-token-of-the-connection';

jest.setTimeout(180_000);

describe('repositories of connections', () => {
  let app: ConversationApp;
  let hosts: readonly [ScriptedHost, ScriptedHost];
  let asked = 0;
  beforeAll(async () => {
    hosts = [await ScriptedHost.start(), await ScriptedHost.start()];
    app = await ConversationApp.start({
      features: FEATURES,
      env: { INTEGRATION_PRIVATE_HOSTS: hosts.map(({ host }) => host).join(',') },
    });
  });
  afterAll(async () => {
    await app?.close();
    for (const host of hosts ?? []) host.close();
  });
  afterEach(() => {
    for (const host of hosts) {
      host.broken = null;
      host.rights.clear();
      host.requests.length = 0;
      [host.repositories, host.branches] = [[], []];
    }
  });

  interface World {
    readonly user: User;
    readonly ids: readonly string[];
  }
  /** An organization of its own with a connection to each host, so that nothing is believed from a test before. */
  const world = async (used: readonly ScriptedHost[] = [hosts[0]]): Promise<World> => {
    asked += 1;
    const user = await app.user(`Olga ${asked}`);
    const ids: string[] = [];
    for (const { host } of used) {
      const body = {
        provider: 'gitea',
        kind: 'token',
        name: host,
        host,
        token: TOKEN,
        settings: { baseUrl: `http://${host}` },
      };
      ids.push(
        (
          await app.http<ConnectionWithSecret>(
            user,
            'POST',
            `/api/v1/orgs/${user.orgId}/integrations/connections`,
            body,
          )
        ).body.connection.id,
      );
      await app.owner.query(
        `INSERT INTO app.linked_account (id, org_id, provider, host, external_user_id, user_id, login) VALUES (gen_random_uuid()::text, $1, 'gitea', $2, '7', $3, 'octo')`,
        [user.orgId, host, user.userId],
      );
    }
    return { user, ids };
  };
  const list = async ({ user }: World, query: Record<string, string> = {}): Promise<RepositoryPage> => {
    const answer = await app.http<RepositoryPage>(
      user,
      'GET',
      `/api/v1/orgs/${user.orgId}/integrations/repositories?${new URLSearchParams(query)}`,
    );
    expect([answer.status, answer.body]).toEqual([200, expect.anything()]);
    expect(JSON.stringify(answer.body)).not.toContain(TOKEN);
    return answer.body;
  };
  const branches = (
    { user, ids }: World,
    query: Record<string, string>,
  ): Promise<Answer<RepositoryBranchPage & { code?: string }>> =>
    app.http(
      user,
      'GET',
      `/api/v1/orgs/${user.orgId}/integrations/repositories/branches?${new URLSearchParams({ connection: ids[0] ?? '', ...query })}`,
    );
  const start = ({ user }: World, repository: string): Promise<Answer<{ code?: string; repository?: string }>> =>
    app.http(user, 'POST', `/api/v1/orgs/${user.orgId}/conversations`, { prompt: 'x', repository });
  const has = (host: ScriptedHost, names: readonly string[], permission = 'write'): void => {
    host.repositories = [...names];
    for (const name of names) host.rights.set(name, { id: 7, permission });
  };

  it('are listed from one host while another is away, slow, or answers what is none of it', async () => {
    const cases: ReadonlyArray<readonly [string, NonNullable<ScriptedHost['broken']>['answer'], string]> = [
      ['hangs up', (response) => response.destroy(), 'unavailable'],
      ['never answers', () => {}, 'unavailable'],
      ['limits calls', (response) => response.writeHead(429, { 'retry-after': '9' }).end(), 'unavailable'],
      ['broken', (response) => response.writeHead(502).end(), 'unavailable'],
      ['html', (response) => response.end('<html>'), 'refused'],
      ['30 MB', (response) => response.end(Buffer.alloc(30_000_000, ' ')), 'refused'],
      [
        'a redirect inside',
        (response) => response.writeHead(302, { location: 'http://169.254.169.254/' }).end(),
        'refused',
      ],
      ['another token', (response) => response.writeHead(401).end('{}'), 'refused'],
    ];
    for (const [name, answer, state] of cases)
      for (const below of ['/api/v1/repos/search', '/api/v1/repos/acme']) {
        const here = await world(hosts);
        for (const host of hosts) has(host, ['acme/shop']);
        hosts[0].broken = { below, answer };
        const { data, connections } = await list(here);
        const states = here.ids.map((id) => connections.find(({ connectionId }) => connectionId === id)?.state);
        // Unreadable rights count as no rights: nothing is shown.
        expect([name, below, data.map(({ url }) => url), states]).toEqual([
          name,
          below,
          [`http://${hosts[1].host}/acme/shop`],
          [state, 'listed'],
        ]);
      }
  });

  it('are searched up to 1,000, and one beyond is found by a part of its name and by its whole name', async () => {
    const here = await world();
    has(
      hosts[0],
      Array.from({ length: 1_300 }, (_, index) => `acme/shop-${String(index).padStart(4, '0')}`),
    );
    const first = await list(here, { limit: '50' });
    expect([first.data.length, first.data[0]?.fullName, first.connections[0]?.text]).toEqual([
      50,
      'acme/shop-0000',
      expect.stringContaining('owner/name'),
    ]);
    expect(hosts[0].requests.filter((path) => path.endsWith('/search'))).toHaveLength(20);
    for (const query of ['shop-1299', 'acme/shop-1299'])
      expect((await list(here, { query })).data.map(({ fullName }) => fullName)).toEqual(['acme/shop-1299']);
  });

  it('are asked about a bounded number of times for one page, which may be empty before the last', async () => {
    const here = await world();
    const names = Array.from({ length: 200 }, (_, index) => `acme/r-${String(index).padStart(3, '0')}`);
    has(hosts[0], names, 'none');
    hosts[0].rights.set('acme/r-199', { id: 7, permission: 'read' });
    const found: string[] = [];
    let cursor: string | null = null;
    let pages = 0;
    const rightsAsked = (): number => hosts[0].requests.filter((path) => path.endsWith('/permission')).length;
    do {
      const before = rightsAsked();
      const page: RepositoryPage = await list(here, cursor === null ? {} : { cursor });
      expect(rightsAsked() - before).toBeLessThanOrEqual(64);
      found.push(...page.data.map(({ fullName }) => fullName));
      cursor = page.page.nextCursor;
      pages += 1;
    } while (cursor !== null && pages < 20);
    expect([found, pages]).toEqual([['acme/r-199'], 4]);
  });

  it('are asked about once by several requests of the same moment', async () => {
    const here = await world();
    has(hosts[0], ['acme/shop']);
    await Promise.all(Array.from({ length: 8 }, () => list(here)));
    expect(hosts[0].requests.filter((path) => path.endsWith('/permission'))).toHaveLength(1);
    expect(hosts[0].requests.filter((path) => path.endsWith('/search'))).toHaveLength(1);
  });

  it('adversary: the right of another account of the same login, and without an account, shows nothing', async () => {
    const here = await world();
    has(hosts[0], ['acme/other', 'acme/none', 'acme/odd']);
    hosts[0].rights.set('acme/other', { id: 8, permission: 'admin' });
    hosts[0].rights.set('acme/none', { id: 7, permission: 'none' });
    hosts[0].rights.set('acme/odd', { id: 7, permission: 'superuser' });
    expect((await list(here)).data).toEqual([]);
    for (const name of hosts[0].repositories) {
      expect(await start(here, `gitea:${name}`)).toMatchObject({ status: 422, body: { code: 'repository.unknown' } });
      expect(await branches(here, { repository: name })).toMatchObject({
        status: 422,
        body: { code: 'repository.unknown' },
      });
    }
  });

  it('of one name at two hosts have to be named by their URL', async () => {
    const here = await world(hosts);
    for (const host of hosts) has(host, ['acme/shop']);
    expect(await start(here, 'gitea:acme/shop')).toMatchObject({ status: 422, body: { code: 'repository.ambiguous' } });
    const url = `http://${hosts[0].host}/acme/shop`;
    expect(await start(here, url)).toMatchObject({ status: 201, body: { repository: url } });
  });

  it('are named by no service account and found in no disabled connection', async () => {
    const here = await world();
    has(hosts[0], ['acme/shop']);
    const { orgId } = here.user;
    const root = `/api/v1/orgs/${orgId}`;
    const account = await app.http<{ id: string }>(here.user, 'POST', `${root}/service-accounts`, {
      name: 'CI',
      role: 'member',
    });
    const key = await app.http<{ token: string }>(here.user, 'POST', `${root}/api-keys`, {
      name: 'CI',
      scopes: ['conversation:create'],
      serviceAccountId: account.body.id,
    });
    const answer = await fetch(`${app.url}${root}/integrations/repositories`, {
      headers: { authorization: `Bearer ${key.body.token}` },
    });
    expect(await answer.json()).toMatchObject({ data: [], connections: [{ state: 'no-oauth-client' }] });
    await app.http(here.user, 'PATCH', `${root}/integrations/connections/${here.ids[0]}`, { disabled: true });
    expect(await list(here)).toMatchObject({ data: [], connections: [] });
    expect(await start(here, 'gitea:acme/shop')).toMatchObject({
      status: 409,
      body: { code: 'repository.not-connected' },
    });
  });

  it('have their branches in pages of any length, each once', async () => {
    const here = await world();
    has(hosts[0], ['acme/shop']);
    hosts[0].branches = Array.from({ length: 130 }, (_, index) => `b-${String(index).padStart(3, '0')}`);
    const found: string[] = [];
    let cursor: string | null = null;
    do {
      const { status, body }: Answer<RepositoryBranchPage> = await branches(here, {
        repository: 'acme/shop',
        limit: '35',
        ...(cursor === null ? {} : { cursor }),
      });
      expect(status).toBe(200);
      found.push(...body.data.map(({ name }) => name));
      cursor = body.page.nextCursor;
    } while (cursor !== null && found.length < 1_000);
    expect(found).toEqual(hosts[0].branches);
    expect((await branches(here, { repository: 'acme/shop', cursor: 'x' })).status).toBe(400);
    hosts[0].broken = { below: '/', answer: (response) => response.writeHead(503).end() };
    const away = await branches(await world(), { repository: 'acme/shop' });
    expect(away).toMatchObject({ status: 503, body: { code: 'integration.provider-away' } });
  });
});
