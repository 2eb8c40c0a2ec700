import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { LinkBegun, LinkedAccount, LinkedAccountList, OAuthClient } from '@slipway/contracts/identity';
import type { ConnectionWithSecret } from '@slipway/contracts/integrations';
import {
  type Gitea,
  type GiteaOAuth2Application,
  type GiteaUser,
  giveConsent,
  missingForGitea,
  startGitea,
} from '@slipway/testing/gitea';
import { describeUnless } from '@slipway/testing/jest';
import { FEATURES } from '../../apps/app-server/dist/app.module.js';
import { type Answer, ConversationApp, type User } from '../../apps/app-server/dist/testing/conversation-app.js';

const missing = await missingForGitea();
if (missing !== null) console.log(`${missing} What needs a real git host is not run.`);
const MINE = '/api/v1/me/linked-accounts';

describeUnless(missing)('linking of accounts at a real Gitea', () => {
  let gitea: Gitea;
  let ada: GiteaUser;
  let bob: GiteaUser;
  let application: GiteaOAuth2Application;
  let app: ConversationApp;
  let olga: User;
  let mia: User;
  let connectionId: string;

  beforeAll(async () => {
    if (missing !== null) return;
    gitea = await startGitea({ say: console.log });
    [ada, bob] = [await gitea.admin.createUser('ada'), await gitea.admin.createUser('bob')];
    const { host } = new URL(gitea.url);
    app = await ConversationApp.start({ features: FEATURES, env: { INTEGRATION_PRIVATE_HOSTS: host } });
    [olga, mia] = [await app.user('Olga'), await app.user('Mia')];
    await app.owner.query(`INSERT INTO app.membership (org_id, user_id, role) VALUES ($1, $2, 'member')`, [
      olga.orgId,
      mia.userId,
    ]);
    const body = { provider: 'gitea', name: 'Gitea', host, settings: { baseUrl: gitea.url } };
    connectionId = (await app.http<ConnectionWithSecret>(olga, 'POST', path(''), body)).body.connection.id;
    const { callbackUrl } = (await app.http<OAuthClient>(olga, 'GET', path(`/${connectionId}/oauth-client`))).body;
    application = await gitea.admin.createOAuth2Application('Slipway', [callbackUrl]);
    await enter(application.client_secret);
  });
  afterAll(async () => {
    await app?.close();
    await gitea?.close();
  });

  const path = (rest: string): string => `/api/v1/orgs/${olga.orgId}/integrations/connections${rest}`;
  const enter = async (clientSecret: string): Promise<void> => {
    const answer = await app.http(olga, 'PUT', path(`/${connectionId}/oauth-client`), {
      clientId: application.client_id,
      clientSecret,
    });
    expect([answer.status, answer.body]).toMatchObject([200, { clientId: application.client_id }]);
  };
  const begin = async (user: User): Promise<{ url: string; cookie: string }> => {
    const { status, body, headers } = await app.http<LinkBegun>(user, 'POST', MINE, { org: olga.orgId, connectionId });
    expect(status).toBe(201);
    return { url: body.authorizeUrl, cookie: headers.getSetCookie()[0]?.split(';')[0] ?? '' };
  };
  const comeBack = (user: User, back: URL, cookie: string): Promise<Response> =>
    fetch(back, { redirect: 'manual', headers: { accept: 'text/html', cookie: `${user.cookie}; ${cookie}` } });
  const consent = async (user: User, as: GiteaUser): Promise<URL> => {
    const { url, cookie } = await begin(user);
    const { headers } = await comeBack(user, await giveConsent(as, url), cookie);
    return new URL(headers.get('location') ?? '');
  };
  const confirm = (user: User, id: string | null): Promise<Answer<LinkedAccount>> =>
    app.http<LinkedAccount>(user, 'POST', `${MINE}/${id}/confirm`);
  const list = async (user: User): Promise<readonly LinkedAccount[]> =>
    (await app.http<LinkedAccountList>(user, 'GET', MINE)).body.data;
  const unlink = async (user: User): Promise<void> => {
    for (const { id } of await list(user)) expect((await app.http(user, 'DELETE', `${MINE}/${id}`)).status).toBe(204);
  };

  it('names the account that has consented, and links it when the user confirms', async () => {
    const page = await consent(mia, ada);
    expect(page.pathname).toBe('/settings/linked-accounts');
    const { id, login } = await ada.self();
    expect(await list(mia)).toMatchObject([{ state: 'pending', login, externalUserId: String(id) }]);
    expect(await confirm(mia, page.searchParams.get('confirm'))).toMatchObject({
      status: 200,
      body: { state: 'linked', login: 'ada', provider: 'gitea' },
    });
    const { rows } = await app.owner.query('SELECT user_id FROM app.integration_actor($1, $2, $3, $4)', [
      olga.orgId,
      'gitea',
      new URL(gitea.url).host,
      id,
    ]);
    expect(rows).toEqual([{ user_id: mia.userId }]);
  });

  it('adversary: a second user cannot link the same account, and no user a second one', async () => {
    expect(await confirm(olga, (await consent(olga, ada)).searchParams.get('confirm'))).toMatchObject({
      status: 409,
      body: { code: 'linked-account.taken' },
    });
    expect(await confirm(mia, (await consent(mia, bob)).searchParams.get('confirm'))).toMatchObject({
      status: 409,
      body: { code: 'linked-account.exists' },
    });
    await unlink(mia);
    expect((await confirm(olga, (await consent(olga, ada)).searchParams.get('confirm'))).status).toBe(200);
    await unlink(olga);
  });

  it('adversary: a victim who opens what an attacker began, with the attacker’s own code, links nothing', async () => {
    const { url, cookie } = await begin(olga);
    const back = await giveConsent(bob, url);
    const location = (await comeBack(mia, back, cookie)).headers.get('location');
    expect(location).toBe(`${app.url}/settings/linked-accounts?problem=linked-account.refused`);
    expect([await list(mia), await list(olga)]).toEqual([[], []]);
  });

  it('says that the client is refused when its secret is wrong, and that Gitea is away when it is', async () => {
    await enter('not-the-secret');
    expect((await consent(mia, ada)).searchParams.get('problem')).toBe('integration.provider-refused');
    await enter(application.client_secret);
    const { url, cookie } = await begin(mia);
    const back = await giveConsent(ada, url);
    await gitea.server.stop();
    try {
      const location = (await comeBack(mia, back, cookie)).headers.get('location');
      expect(location).toBe(`${app.url}/settings/linked-accounts?problem=integration.provider-away`);
    } finally {
      await gitea.server.start();
    }
    expect(await list(mia)).toEqual([]);
  });
});
