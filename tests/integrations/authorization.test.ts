import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Envelope } from '@slipway/auth/envelope';
import type { LinkBegun, OAuthClient } from '@slipway/contracts/identity';
import type {
  ConnectionWithSecret,
  IntegrationConnection,
  PendingAuthorization,
} from '@slipway/contracts/integrations';
import { createPool, type SqlPool } from '@slipway/db/sql';
import { createIds, systemClock } from '@slipway/domain';
import { type Connect, PROVIDERS, ProviderClient } from '@slipway/integrations';
import { ConnectionCredentials, type CredentialConnection, OAuthSource } from '@slipway/integrations/credentials';
import { type Gitea, type GiteaUser, giveConsent, missingForGitea, startGitea } from '@slipway/testing/gitea';
import { describeUnless } from '@slipway/testing/jest';
import { FEATURES } from '../../apps/app-server/dist/app.module.js';
import { ConversationApp, type User } from '../../apps/app-server/dist/testing/conversation-app.js';

const missing = await missingForGitea();
if (missing !== null) console.log(`${missing} What needs a real git host is not run.`);
const HOUR_MS = 3_600_000;

describeUnless(missing)('an organization connected by OAuth at a real Gitea', () => {
  let gitea: Gitea;
  let bot: GiteaUser;
  let app: ConversationApp;
  let olga: User;
  let pool: SqlPool;
  let id: string;
  let now = Date.now();

  beforeAll(async () => {
    if (missing !== null) return;
    gitea = await startGitea({ say: console.log });
    bot = await gitea.admin.createUser('slipway-bot');
    const { host } = new URL(gitea.url);
    app = await ConversationApp.start({ features: FEATURES, env: { INTEGRATION_PRIVATE_HOSTS: host } });
    olga = await app.user('Olga');
    pool = createPool({ url: app.database.urls.app, max: 3, applicationName: 'test', onError: () => {} });
    const body = { provider: 'gitea', kind: 'oauth', name: 'Gitea', host, settings: { baseUrl: gitea.url } };
    id = (await app.http<ConnectionWithSecret>(olga, 'POST', path(''), body)).body.connection.id;
    const { callbackUrl } = (await app.http<OAuthClient>(olga, 'GET', path(`/${id}/oauth-client`))).body;
    const application = await gitea.admin.createOAuth2Application('Slipway', [callbackUrl]);
    const client = { clientId: application.client_id, clientSecret: application.client_secret };
    expect((await app.http(olga, 'PUT', path(`/${id}/oauth-client`), client)).status).toBe(200);
  });
  afterAll(async () => {
    await pool?.end();
    await app?.close();
    await gitea?.close();
  });

  const path = (rest: string): string => `/api/v1/orgs/${olga.orgId}/integrations/connections${rest}`;
  const credentials = (): ConnectionCredentials => {
    const connect: Connect = (baseUrl, authorization) =>
      new ProviderClient({ baseUrl, authorization, dispatch: fetch, now: () => new Date(now) });
    const envelope = new Envelope(pool, app.box, systemClock);
    const clock = { now: () => new Date(now) };
    const providers = new Map(Object.entries(PROVIDERS));
    return new ConnectionCredentials(pool, envelope, [
      new OAuthSource({ pool, envelope, providers, connect, clock, ids: createIds(systemClock), say: () => {} }),
    ]);
  };
  const loginOf = async (token: string): Promise<unknown> => {
    const answer = await fetch(`${gitea.url}/api/v1/user`, { headers: { authorization: `token ${token}` } });
    return [answer.status, ((await answer.json()) as { login?: string }).login];
  };

  it('acts as the account that has consented, and is renewed before its token ends', async () => {
    const begun = await app.http<LinkBegun>(olga, 'POST', path(`/${id}/authorizations`));
    const cookie = begun.headers.getSetCookie()[0]?.split(';')[0] ?? '';
    const back = await giveConsent(bot, begun.body.authorizeUrl);
    const { headers } = await fetch(back, {
      redirect: 'manual',
      headers: { accept: 'text/html', cookie: `${olga.cookie}; ${cookie}` },
    });
    const request = new URL(headers.get('location') ?? '').searchParams.get('authorization') ?? headers.get('location');
    const self = await bot.self();
    expect(await app.http<PendingAuthorization>(olga, 'GET', path(`/${id}/authorizations/${request}`))).toMatchObject({
      status: 200,
      body: { name: 'slipway-bot', ids: [String(self.id)], mention: 'slipway-bot' },
    });
    const confirmed = await app.http<IntegrationConnection>(
      olga,
      'POST',
      path(`/${id}/authorizations/${request}/confirm`),
    );
    expect(confirmed).toMatchObject({
      status: 200,
      body: { own: { ids: [String(self.id)], mention: 'slipway-bot' }, credential: { renews: true } },
    });
    const connection = confirmed.body as unknown as CredentialConnection;
    const first = await credentials().credential(olga.orgId, connection);
    expect(await loginOf(first?.token ?? '')).toEqual([200, 'slipway-bot']);
    // A token that has not ended is given out while another one is fetched.
    now += 2 * HOUR_MS;
    const [one, other] = await Promise.all([
      credentials().credential(olga.orgId, connection),
      credentials().credential(olga.orgId, connection),
    ]);
    expect([one?.token === first?.token, other?.token]).toEqual([false, one?.token]);
    expect(await loginOf(one?.token ?? '')).toEqual([200, 'slipway-bot']);
  });
});
