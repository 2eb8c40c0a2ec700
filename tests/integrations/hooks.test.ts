import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type {
  ConnectionWithSecret,
  IntegrationConnection,
  IntegrationDeliveryPage,
  IntegrationHook,
  IntegrationHookList,
} from '@slipway/contracts/integrations';
import { until } from '@slipway/testing';
import { type Gitea, type GiteaRepository, type GiteaUser, missingForGitea, startGitea } from '@slipway/testing/gitea';
import { describeUnless } from '@slipway/testing/jest';
import { FEATURES } from '../../apps/app-server/dist/app.module.js';
import { ConversationApp, type User } from '../../apps/app-server/dist/testing/conversation-app.js';

const missing = await missingForGitea();
if (missing !== null) console.log(`${missing} What needs a real git host is not run.`);
const WAIT_MS = 30_000;

interface HookThere {
  readonly id: number;
  readonly active: boolean;
  readonly config: { readonly url: string };
}

describeUnless(missing)('webhooks that Slipway makes at a real Gitea', () => {
  let gitea: Gitea;
  let ada: GiteaUser;
  let shop: GiteaRepository;
  let app: ConversationApp;
  let olga: User;
  let mia: User;
  let connection: IntegrationConnection;

  beforeAll(async () => {
    if (missing !== null) return;
    gitea = await startGitea({ say: console.log });
    ada = await gitea.admin.createUser('ada');
    shop = await ada.createRepository({ name: 'Shop', files: { 'a.txt': 'a\n' } });
    app = await ConversationApp.start({
      features: FEATURES,
      env: { INTEGRATION_PRIVATE_HOSTS: new URL(gitea.url).host },
    });
    [olga, mia] = [await app.user('Olga'), await app.user('Mia')];
    await app.owner.query(`INSERT INTO app.membership (org_id, user_id, role) VALUES ($1, $2, 'member')`, [
      olga.orgId,
      mia.userId,
    ]);
    connection = await connect(await ada.createToken('slipway', ['write:repository']));
  });
  afterAll(async () => {
    await app?.close();
    await gitea?.close();
  });

  const path = (rest: string): string => `/api/v1/orgs/${olga.orgId}/integrations/connections${rest}`;
  const connect = async (token?: string): Promise<IntegrationConnection> => {
    const { host } = new URL(gitea.url);
    const body = {
      provider: 'gitea',
      kind: 'token',
      name: 'Gitea',
      host,
      settings: { baseUrl: gitea.url },
      ...(token === undefined ? {} : { token }),
    };
    return (await app.http<ConnectionWithSecret>(olga, 'POST', path(''), body)).body.connection;
  };
  const install = (repository: string, id = connection.id, by = olga) =>
    app.http<IntegrationHook>(by, 'POST', path(`/${id}/hooks`), { repository });
  const hooks = async (): Promise<IntegrationHookList['data']> =>
    (await app.http<IntegrationHookList>(olga, 'GET', path(`/${connection.id}/hooks`))).body.data;
  const there = (): Promise<readonly HookThere[]> => shop.call('GET', '/hooks');
  /** A deed at the host is delivered, and its signature holds. */
  const isDelivered = async (): Promise<void> => {
    const log = async () =>
      (await app.http<IntegrationDeliveryPage>(olga, 'GET', path(`/${connection.id}/deliveries?limit=100`))).body.data
        .length;
    const before = await log();
    await shop.createIssue(`After ${before}`);
    await until('it is delivered', async () => (await log()) > before, WAIT_MS);
  };

  it('makes one, by the name in any case, and what happens there is delivered', async () => {
    expect(await install('ADA/shop')).toMatchObject({
      status: 200,
      body: { repository: 'ada/Shop', state: 'installed', installedBy: { label: 'Olga' } },
    });
    expect(await there()).toMatchObject([{ active: true, config: { url: connection.address } }]);
    await isDelivered();
  });

  it('asked again, at once or after it was switched off, there is one and it works', async () => {
    const [hook] = await there();
    await shop.call('PATCH', `/hooks/${hook?.id}`, { active: false, events: ['push'] });
    expect(await Promise.all([install('ada/Shop'), install('ada/Shop')])).toMatchObject([
      { status: 200 },
      { status: 200 },
    ]);
    // Two at the same moment may each have made one; the next leaves one.
    expect(await install('ada/Shop')).toMatchObject({ status: 200 });
    expect(await there()).toMatchObject([{ active: true }]);
    expect(await hooks()).toHaveLength(1);
    await isDelivered();
  });

  it('wants hooks with the secret of before repaired, and repairs one that is asked for', async () => {
    expect((await app.http(olga, 'POST', path(`/${connection.id}/rotate-secret`), {})).status).toBe(200);
    // A job of the worker gives it to them; none runs here.
    expect(await hooks()).toMatchObject([{ state: 'queued' }]);
    expect((await app.owner.query(`SELECT 1 FROM app.outbox WHERE queue = 'integration-hook'`)).rowCount).toBe(1);
    await isDelivered();
    // A secret is believed to be the newest for a second.
    await app.owner.query('SELECT pg_sleep(1.1)');
    expect(await install('ada/Shop')).toMatchObject({ status: 200, body: { state: 'installed' } });
    await app.owner.query(
      `DELETE FROM app.integration_secret WHERE connection_id = $1 AND kind = 'webhook' AND valid_until IS NOT NULL`,
      [connection.id],
    );
    await isDelivered();
  });

  it('removes it at the host, and when it is gone there already', async () => {
    const [hook] = await hooks();
    expect((await app.http(olga, 'DELETE', path(`/${connection.id}/hooks/${hook?.id}`))).status).toBe(204);
    expect([await there(), await hooks()]).toEqual([[], []]);
    const again = (await install('ada/Shop')).body;
    await shop.call('DELETE', `/hooks/${(await there())[0]?.id}`);
    expect((await app.http(olga, 'DELETE', path(`/${connection.id}/hooks/${again.id}`))).status).toBe(204);
    expect((await app.http(olga, 'DELETE', path(`/${connection.id}/hooks/${again.id}`))).status).toBe(404);
  });

  it('refuses in words what cannot be: no token, a token that may not, a repository that is not there, a provider without hooks', async () => {
    expect(await install('ada/Shop', (await connect()).id)).toMatchObject({
      status: 409,
      body: { code: 'integration.no-token' },
    });
    const reading = await connect(await ada.createToken('reads', ['read:repository']));
    expect(await install('ada/Shop', reading.id)).toMatchObject({
      status: 502,
      body: { code: 'integration.provider-refused' },
    });
    expect(await install('ada/none')).toMatchObject({ status: 502, body: { code: 'integration.provider-refused' } });
    const { body } = await app.http<ConnectionWithSecret>(olga, 'POST', path(''), {
      provider: 'slack',
      name: 'Slack',
      webhookSecret: 'x'.repeat(32),
    });
    expect(await install('ada/Shop', body.connection.id)).toMatchObject({
      status: 409,
      body: { code: 'integration.hooks-unsupported' },
    });
    expect(await there()).toEqual([]);
  });

  it('takes a choice of repositories by name and pattern, and wants their webhooks made', async () => {
    const select = (patterns: string[], by = olga) =>
      app.http<IntegrationHookList>(by, 'PUT', path(`/${connection.id}/hooks`), { patterns });
    expect(await select(['ada/*', 'ada/*', '**'])).toMatchObject({
      status: 200,
      body: { selection: { patterns: ['ada/*', '**'], listedAt: null } },
    });
    expect(
      (
        await app.owner.query(`SELECT 1 FROM app.outbox WHERE queue = 'integration-hooks' AND key = $1`, [
          connection.id,
        ])
      ).rowCount,
    ).toBe(1);
    for (const patterns of [
      ['../x'],
      ['ada/..'],
      ['ada'],
      ['a b/*'],
      Array.from({ length: 51 }, (_, index) => `ada/${index}`),
    ])
      expect([patterns[0], (await select(patterns)).status]).toEqual([patterns[0], 400]);
    expect((await select([], mia)).status).toBe(403);
    expect(await select([])).toMatchObject({ body: { selection: { patterns: [] } } });
    expect((await app.http(olga, 'POST', path(`/${connection.id}/hooks/repair`))).status).toBe(202);
  });

  it('adversary: a member, and a name that leads elsewhere, make nothing', async () => {
    expect((await install('ada/Shop', connection.id, mia)).status).toBe(403);
    for (const repository of ['../admin', 'ada/..', 'ada', 'ada/Shop?x=', '%2e%2e/admin', ''])
      expect([repository, (await install(repository)).body]).toMatchObject([repository, { code: 'request.invalid' }]);
    // A name with groups is one of other hosts.
    expect(await install('ada/Shop/hooks')).toMatchObject({
      status: 502,
      body: { code: 'integration.provider-refused' },
    });
    expect(await there()).toEqual([]);
  });
});
