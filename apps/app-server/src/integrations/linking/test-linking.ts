import { afterAll, afterEach, beforeAll, expect, jest } from '@jest/globals';
import type { LinkBegun, LinkedAccount, LinkedAccountList, OAuthClient } from '@slipway/contracts/identity';
import type { ConnectionWithSecret } from '@slipway/contracts/integrations';
import { FEATURES } from '../../app.module.js';
import { type Answer, ConversationApp, type User } from '../../testing/conversation-app.js';
import { APP, ScriptedOAuth } from './scripted-oauth.js';

jest.setTimeout(120_000);

export const CALLBACK = '/oauth/integrations/callback';
export const MINE = '/api/v1/me/linked-accounts';

export let app: ConversationApp;
export let provider: ScriptedOAuth;
export let olga: User;
export let mia: User;
export let connectionId: string;
export const join = (user: User, orgId = olga.orgId): Promise<unknown> =>
  app.owner.query(`INSERT INTO app.membership (org_id, user_id, role) VALUES ($1, $2, 'member')`, [orgId, user.userId]);
export const path = (rest: string, by = olga): string => `/api/v1/orgs/${by.orgId}/integrations/connections${rest}`;
export const connect = async (id: string, by = olga): Promise<string> => {
  const body = {
    provider: id,
    name: `A ${id}`,
    host: provider.host,
    settings: { baseUrl: `http://${provider.host}` },
  };
  const made = await app.http<ConnectionWithSecret>(by, 'POST', path('', by), body);
  expect([made.status, made.body]).toEqual([201, expect.anything()]);
  return made.body.connection.id;
};
export const enterClient = async (id: string, by = olga): Promise<OAuthClient> => {
  const answer = await app.http<OAuthClient>(by, 'PUT', path(`/${id}/oauth-client`, by), APP);
  expect([answer.status, answer.body]).toEqual([200, expect.anything()]);
  return answer.body;
};
interface Begun extends LinkBegun {
  readonly cookie: string;
}
/** Where a browser is sent back to, by state. */
export const callbacks = new Map<string, string>();
export const begin = async (user: User, id = connectionId, org = olga.orgId): Promise<Begun> => {
  const answer = await app.http<LinkBegun>(user, 'POST', MINE, { org, connectionId: id });
  expect([answer.status, answer.body]).toEqual([201, expect.anything()]);
  const asked = new URL(answer.body.authorizeUrl).searchParams;
  callbacks.set(asked.get('state') ?? '', asked.get('redirect_uri') ?? '');
  return { ...answer.body, cookie: answer.headers.getSetCookie()[0]?.split(';')[0] ?? '' };
};
interface Back {
  readonly state?: string;
  readonly code?: string;
  readonly error?: string;
}
export const comeBack = (
  user: User | null,
  back: Back,
  cookie: string,
  accept = 'application/json',
): Promise<Response> =>
  fetch(
    `${callbacks.get(back.state ?? '') ?? `${app.url}${CALLBACK}/${connectionId}`}?${new URLSearchParams(back as Record<string, string>)}`,
    {
      redirect: 'manual',
      headers: { accept, cookie: [user?.cookie, cookie].filter(Boolean).join('; ') },
    },
  );
export const codeOf = async (response: Response): Promise<unknown> => [
  response.status,
  ((await response.json()) as { code: string }).code,
];
export const confirmOf = (response: Response): string => {
  expect(response.status).toBe(302);
  return new URL(response.headers.get('location') ?? '').searchParams.get('confirm') ?? '';
};
export const consent = async (user: User, account: object, id = connectionId): Promise<string> => {
  const begun = await begin(user, id);
  return confirmOf(await comeBack(user, provider.consent(begun.authorizeUrl, account), begun.cookie));
};
export const confirm = (user: User, id: string): Promise<Answer<LinkedAccount & { code?: string }>> =>
  app.http(user, 'POST', `${MINE}/${id}/confirm`);
export const list = async (user: User): Promise<LinkedAccountList> =>
  (await app.http<LinkedAccountList>(user, 'GET', MINE)).body;
export const linked = async (user: User): Promise<string[]> =>
  (await list(user)).data.filter(({ state }) => state === 'linked').map(({ login }) => login);
export const audit = async (target: string): Promise<unknown[]> =>
  (
    await app.owner.query(
      'SELECT action, actor_id, detail FROM app.audit_entry WHERE target = $1 ORDER BY created_at',
      [target],
    )
  ).rows;
export const actor = async (orgId: string, externalId: string): Promise<string | undefined> =>
  (
    await app.owner.query<{ user_id: string }>('SELECT user_id FROM app.integration_actor($1, $2, $3, $4)', [
      orgId,
      'gitea',
      provider.host,
      externalId,
    ])
  ).rows[0]?.user_id;

/** A provider, an organization of two users, and a connection that users can link to. */
export function setUpLinking(): void {
  beforeAll(async () => {
    provider = await ScriptedOAuth.start();
    app = await ConversationApp.start({ features: FEATURES, env: { INTEGRATION_PRIVATE_HOSTS: provider.host } });
    [olga, mia] = [await app.user('Olga'), await app.user('Mia')];
    await join(mia);
    connectionId = await connect('gitea');
    await enterClient(connectionId);
  });
  afterAll(async () => {
    await app?.close();
    provider?.close();
  });
  afterEach(() => provider.broken.clear());
}
