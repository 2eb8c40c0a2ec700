import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ProviderClient } from '../calls/provider-client.js';
import { PROVIDERS, type ProviderId } from '../providers/index.js';
import {
  type ConnectionOAuth,
  consentUrl,
  type Installation,
  isFinal,
  redeemCode,
  renewTokens,
} from './connection-oauth.js';

const APP = { clientId: 'c', clientSecret: 'the-secret' };
const ASKED = { clientId: 'c', redirectUri: 'https://slipway.test/back', state: 's', challenge: 'x' };

/** The answers of the providers as their documentation has them; none of them can be had here. */
describe('connecting by OAuth', () => {
  let server: Server;
  let port = 0;
  let requests: string[] = [];
  let answers: Record<string, readonly [status: number, body: unknown]> = {};
  beforeAll(async () => {
    server = createServer(async (request, response) => {
      const body = await text(request);
      requests.push([request.method, request.url, request.headers.authorization, body].filter(Boolean).join(' '));
      const [status, answer] = answers[new URL(request.url ?? '', 'http://x').pathname] ?? [404, {}];
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    port = (server.address() as AddressInfo).port;
  });
  afterAll(() => {
    server?.closeAllConnections();
    server?.close();
  });
  beforeEach(() => {
    [requests, answers] = [[], {}];
  });

  const oauthOf = (id: ProviderId): ConnectionOAuth =>
    (PROVIDERS[id] as { oauth?: ConnectionOAuth }).oauth as ConnectionOAuth;
  /** Every host is the one server, with the host as the first part of the path. */
  const connect = (url: string, authorization: string | null): ProviderClient => {
    const { host, pathname } = new URL(url);
    const base = `http://127.0.0.1:${port}/${host}${pathname.replace(/\/$/, '')}`;
    return new ProviderClient({ baseUrl: base, authorization, dispatch: fetch, now: () => new Date() });
  };
  const installation = (id: ProviderId, baseUrl: string): Promise<Installation> =>
    oauthOf(id).installation(connect(oauthOf(id).apiUrl(baseUrl), 'Bearer the-token'), baseUrl);
  const renew = (id: ProviderId, baseUrl: string) =>
    renewTokens(oauthOf(id), { baseUrl, app: APP, refreshToken: 'rt-1' }, connect);

  it('asks for consent where each provider does, for what Slipway needs there', () => {
    const of = (id: ProviderId, baseUrl: string): unknown[] => {
      const url = new URL(consentUrl(oauthOf(id), { ...ASKED, baseUrl }));
      const { scope, audience, prompt, actor, code_challenge_method: method } = Object.fromEntries(url.searchParams);
      return [`${url.origin}${url.pathname}`, scope, audience, prompt, actor, method];
    };
    const none = undefined;
    expect(of('gitlab', 'https://git.acme.test/gitlab')).toEqual([
      'https://git.acme.test/gitlab/oauth/authorize',
      'api',
      none,
      none,
      none,
      'S256',
    ]);
    expect(of('linear', 'https://linear.app')).toEqual([
      'https://linear.app/oauth/authorize',
      'read,write,app:assignable,app:mentionable',
      none,
      'consent',
      'app',
      'S256',
    ]);
    expect(of('jira', 'https://acme.atlassian.net')).toEqual([
      'https://auth.atlassian.com/authorize',
      'read:jira-work write:jira-work read:jira-user manage:jira-webhook offline_access',
      'api.atlassian.com',
      'consent',
      none,
      'S256',
    ]);
    expect(of('slack', 'https://slack.com')).toEqual([
      'https://slack.com/oauth/v2/authorize',
      expect.stringContaining('app_mentions:read,chat:write,'),
      none,
      none,
      none,
      'S256',
    ]);
    expect(oauthOf('jira').supports?.('https://jira.acme.test')).toBe(false);
  });

  it('learns from each provider who the connection is there', async () => {
    answers = {
      '/slack.com/api/auth.test': [
        200,
        { ok: true, user_id: 'U1', user: 'slipway', bot_id: 'B1', team_id: 'T1', team: 'Acme' },
      ],
      '/api.linear.app/graphql': [
        200,
        { data: { viewer: { id: 'app-1', name: 'Slipway' }, organization: { id: 'lin-1', name: 'Acme' } } },
      ],
      '/api.atlassian.com/oauth/token/accessible-resources': [
        200,
        [
          { id: 'cloud-0', url: 'https://other.atlassian.net', name: 'other' },
          { id: 'cloud-1', url: 'https://acme.atlassian.net', name: 'acme' },
        ],
      ],
      '/api.atlassian.com/ex/jira/cloud-1/rest/api/3/myself': [200, { accountId: '557058:1', displayName: 'Slipway' }],
      '/gitlab.com/api/v4/user': [200, { id: 7, username: 'slipway-bot' }],
    };
    expect(await installation('slack', 'https://slack.com')).toEqual({
      ids: ['U1', 'B1'],
      mention: null,
      name: 'slipway',
      account: 'T1',
      accountName: 'Acme',
    });
    expect(await installation('linear', 'https://linear.app')).toEqual({
      ids: ['app-1'],
      mention: null,
      name: 'Slipway',
      account: 'lin-1',
      accountName: 'Acme',
    });
    expect(await installation('jira', 'https://acme.atlassian.net')).toEqual({
      ...{ ids: ['557058:1'], mention: null, name: 'Slipway' },
      ...{ account: 'cloud-1', accountName: 'acme' },
    });
    expect(await installation('gitlab', 'https://gitlab.com')).toMatchObject({
      ids: ['7'],
      mention: 'slipway-bot',
      account: null,
    });
    expect(oauthOf('jira').apiBase?.('cloud-1')).toBe('https://api.atlassian.com/ex/jira/cloud-1');
    expect(PROVIDERS.jira.answers?.apiUrl('https://api.atlassian.com/ex/jira/cloud-1')).toBe(
      'https://api.atlassian.com/ex/jira/cloud-1/rest/api/3',
    );
  });

  it('adversary: a consent for another Jira site than that of the connection is refused', async () => {
    answers = {
      '/api.atlassian.com/oauth/token/accessible-resources': [
        200,
        [{ id: 'cloud-0', url: 'https://evil.atlassian.net', name: 'evil' }],
      ],
    };
    await expect(installation('jira', 'https://acme.atlassian.net')).rejects.toMatchObject({ kind: 'forbidden' });
  });

  it('redeems a code in the form that each provider takes, and reads scopes however they are written', async () => {
    const redeem = (id: ProviderId, baseUrl: string) =>
      redeemCode(
        oauthOf(id),
        { baseUrl, app: APP, code: 'the-code', redirectUri: ASKED.redirectUri, verifier: 'v' },
        connect,
      );
    answers = {
      '/slack.com/api/oauth.v2.access': [
        200,
        { ok: true, access_token: 'xoxb-1', scope: 'chat:write,commands', bot_user_id: 'U1', team: { id: 'T1' } },
      ],
      '/auth.atlassian.com/oauth/token': [
        200,
        { access_token: 'at', refresh_token: 'rt', expires_in: 3600, scope: 'read:jira-work offline_access' },
      ],
      '/api.linear.app/oauth/token': [
        200,
        { access_token: 'at', refresh_token: 'rt', expires_in: 86399, scope: ['read', 'write'] },
      ],
    };
    expect(await redeem('slack', 'https://slack.com')).toEqual({
      accessToken: 'xoxb-1',
      refreshToken: null,
      expiresIn: null,
      scopes: ['chat:write', 'commands'],
    });
    expect(await redeem('jira', 'https://acme.atlassian.net')).toMatchObject({
      refreshToken: 'rt',
      expiresIn: 3600,
      scopes: ['read:jira-work', 'offline_access'],
    });
    expect(await redeem('linear', 'https://linear.app')).toMatchObject({
      refreshToken: 'rt',
      expiresIn: 86_399,
      scopes: ['read', 'write'],
    });
    expect(requests[1]).toMatch(/^POST \/auth\.atlassian\.com\/oauth\/token \{"grant_type":"authorization_code",/);
    expect(requests[2]).toMatch(/^POST \/api\.linear\.app\/oauth\/token grant_type=authorization_code&/);
  });

  it('takes a renewal that a provider refuses for final, and nothing else', async () => {
    const of = async (
      id: ProviderId,
      baseUrl: string,
      path: string,
      status: number,
      body: unknown,
    ): Promise<boolean> => {
      answers = { [path]: [status, body] };
      return renew(id, baseUrl).then(
        () => false,
        (error: unknown) => isFinal(error),
      );
    };
    const gitlab = (status: number, body: unknown): Promise<boolean> =>
      of('gitlab', 'https://gitlab.com', '/gitlab.com/oauth/token', status, body);
    const slack = (body: unknown): Promise<boolean> =>
      of('slack', 'https://slack.com', '/slack.com/api/oauth.v2.access', 200, body);
    const jira = (status: number, body: unknown): Promise<boolean> =>
      of('jira', 'https://acme.atlassian.net', '/auth.atlassian.com/oauth/token', status, body);
    expect([await gitlab(400, { error: 'invalid_grant' }), await gitlab(401, { error: 'invalid_client' })]).toEqual([
      true,
      true,
    ]);
    expect([
      await slack({ ok: false, error: 'invalid_refresh_token' }),
      await jira(403, { error: 'unauthorized_client' }),
    ]).toEqual([true, true]);
    expect([
      await gitlab(503, {}),
      await gitlab(429, {}),
      await gitlab(200, {}),
      await gitlab(404, {}),
      await jira(500, {}),
    ]).toEqual([false, false, false, false, false]);
    expect([
      await slack({ ok: false, error: 'ratelimited' }),
      await slack({ ok: false, error: 'internal_error' }),
    ]).toEqual([false, false]);
  });

  it('keeps a refresh token that the provider does not replace', async () => {
    answers = { '/gitlab.com/oauth/token': [200, { access_token: 'at-2', expires_in: 7200 }] };
    expect(await renew('gitlab', 'https://gitlab.com')).toEqual({
      accessToken: 'at-2',
      refreshToken: 'rt-1',
      expiresIn: 7200,
      scopes: null,
    });
  });
});
