import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ProviderClient } from '../calls/provider-client.js';
import { PROVIDERS, type ProviderId } from '../providers/index.js';
import { type AccountLinking, authorizeUrl } from './account-linking.js';
import { redeemForAccount } from './redeem.js';

const asked = { clientId: 'c', redirectUri: 'https://slipway.test/back', state: 's', challenge: 'x' };
const code = {
  app: { clientId: 'c', clientSecret: 'the-secret' },
  code: 'the-code',
  redirectUri: asked.redirectUri,
  verifier: 'v',
};

/** The answers of Slack, Linear and Jira as their documentation has them; none of them can be had here. */
describe('linking an account', () => {
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

  const linkingOf = (id: ProviderId): AccountLinking => PROVIDERS[id].linking as AccountLinking;
  /** Every host is the one server, with the host as the first part of the path. */
  const redeem = (id: ProviderId, baseUrl: string, workspace: string | null = null) =>
    redeemForAccount(linkingOf(id), { ...code, baseUrl, workspace }, (url, authorization) => {
      const { host, pathname } = new URL(url);
      const base = `http://127.0.0.1:${port}/${host}${pathname.replace(/\/$/, '')}`;
      return new ProviderClient({ baseUrl: base, authorization, dispatch: fetch, now: () => new Date() });
    });

  it('is known for every provider', () => {
    expect(Object.values(PROVIDERS).filter(({ linking }) => linking === undefined)).toEqual([]);
  });

  it('asks for consent where each provider does, for as little as says who it is', () => {
    const of = (id: ProviderId, baseUrl: string): string[] => {
      const url = new URL(authorizeUrl(linkingOf(id), { ...asked, baseUrl }));
      const { scope, audience, prompt, response_type } = Object.fromEntries(url.searchParams);
      return [`${url.origin}${url.pathname}`, scope, audience, prompt, response_type].map(String);
    };
    const none = 'undefined';
    expect(of('slack', 'https://slack.com')).toEqual([
      'https://slack.com/openid/connect/authorize',
      'openid profile',
      none,
      none,
      'code',
    ]);
    expect(of('linear', 'https://linear.app')).toEqual([
      'https://linear.app/oauth/authorize',
      'read',
      none,
      'consent',
      'code',
    ]);
    expect(of('jira', 'https://acme.atlassian.net')).toEqual([
      'https://auth.atlassian.com/authorize',
      'read:me',
      'api.atlassian.com',
      'consent',
      'code',
    ]);
    expect(of('jira', 'https://jira.acme.test')).toEqual([
      'https://jira.acme.test/rest/oauth2/latest/authorize',
      'READ',
      none,
      none,
      'code',
    ]);
  });

  it('learns who consented from Slack, and ends the token', async () => {
    const user = {
      ok: true,
      sub: 'U7',
      'https://slack.com/user_id': 'U7',
      'https://slack.com/team_id': 'T1',
      name: 'mia',
    };
    answers = {
      '/slack.com/api/openid.connect.token': [200, { ok: true, access_token: 'xoxp-1' }],
      '/slack.com/api/openid.connect.userInfo': [200, user],
    };
    answers['/slack.com/api/auth.revoke'] = [200, { ok: true }];
    expect(await redeem('slack', 'https://slack.com', 'T1')).toEqual({
      account: { id: 'U7', login: 'mia' },
      notRevoked: null,
    });
    expect(requests.map((each) => each.split(' ').slice(0, 4).join(' '))).toEqual([
      expect.stringMatching(
        /^POST \/slack\.com\/api\/openid\.connect\.token grant_type=authorization_code&client_id=c&client_secret=the-secret&code=the-code&/,
      ),
      'GET /slack.com/api/openid.connect.userInfo Bearer xoxp-1',
      'POST /slack.com/api/auth.revoke Bearer xoxp-1',
    ]);
    answers['/slack.com/api/openid.connect.token'] = [200, { ok: false, error: 'invalid_code' }];
    await expect(redeem('slack', 'https://slack.com', 'T1')).rejects.toMatchObject({ kind: 'invalid' });
  });

  it('adversary: a user of another Slack workspace is unknown here, and their token is ended', async () => {
    const user = { ok: true, 'https://slack.com/user_id': 'U7', 'https://slack.com/team_id': 'T-evil', name: 'mia' };
    answers = {
      '/slack.com/api/openid.connect.token': [200, { ok: true, access_token: 'xoxp-1' }],
      '/slack.com/api/openid.connect.userInfo': [200, user],
    };
    await expect(redeem('slack', 'https://slack.com', 'T1')).rejects.toMatchObject({ kind: 'forbidden' });
    expect(requests.at(-1)).toMatch(/^POST \/slack\.com\/api\/auth\.revoke Bearer xoxp-1/);
  });

  it('learns it from Linear and from both kinds of Jira', async () => {
    answers = {
      '/api.linear.app/oauth/token': [200, { access_token: 'lin-1', expires_in: 86_399 }],
      '/api.linear.app/graphql': [200, { data: { viewer: { id: 'a-uuid', name: 'Mia' } } }],
      '/api.linear.app/oauth/revoke': [200, {}],
      '/auth.atlassian.com/oauth/token': [200, { access_token: 'at-1' }],
      '/api.atlassian.com/me': [200, { account_id: '712020:77', nickname: 'mia', name: 'Mia' }],
      '/jira.acme.test/rest/oauth2/latest/token': [200, { access_token: 'dc-1' }],
      '/jira.acme.test/rest/api/2/myself': [200, { key: 'JIRAUSER10100', name: 'mia' }],
    };
    expect((await redeem('linear', 'https://linear.app')).account).toEqual({ id: 'a-uuid', login: 'Mia' });
    expect((await redeem('jira', 'https://acme.atlassian.net')).account).toEqual({ id: '712020:77', login: 'mia' });
    expect((await redeem('jira', 'https://jira.acme.test')).account).toEqual({ id: 'JIRAUSER10100', login: 'mia' });
    // Atlassian takes JSON.
    expect(requests.find((each) => each.includes('/auth.atlassian.com/'))).toContain(
      '{"grant_type":"authorization_code"',
    );
    answers['/api.linear.app/graphql'] = [200, { errors: [{ message: 'no' }] }];
    await expect(redeem('linear', 'https://linear.app')).rejects.toMatchObject({ kind: 'unreadable' });
  });
});
