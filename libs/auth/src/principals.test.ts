import { describe, expect, it } from '@jest/globals';
import { ROLE_PERMISSIONS } from '@slipway/contracts/organizations';
import { SlipwayError } from '@slipway/errors';
import type { AuthenticatedKey } from './api-keys/api-keys.js';
import { PrincipalService } from './principals.js';
import { readCookie, SessionCookie } from './session-cookie.js';
import type { SignedIn } from './sessions.js';

const cookie = new SessionCookie('a session secret of thirty-two characters');
const USER: SignedIn = {
  sessionId: 'ses_1',
  userId: 'usr_1',
  name: 'Ada',
  email: null,
  emailVerified: false,
  termsVersion: null,
  orgs: [
    {
      id: 'org_1',
      slug: 'ada',
      name: 'Ada',
      kind: 'personal',
      role: 'viewer',
      permissions: [...ROLE_PERMISSIONS.viewer],
      deletesAt: null,
      needs: null,
    },
  ],
};
const JOINED: SignedIn = {
  ...USER,
  orgs: [...USER.orgs, { ...(USER.orgs[0] as SignedIn['orgs'][0]), id: 'org_2', slug: 'new' }],
};
const service = new PrincipalService(
  cookie,
  { find: async (id: string) => (id === USER.sessionId ? USER : null), findNow: async () => JOINED },
  { find: async () => null },
  'https://slipway.example/',
);

describe('PrincipalService', () => {
  it('authenticates a user by a cookie that this server signed, among others, and by nothing else', async () => {
    const soon = new Date(Date.now() + 60_000);
    const valid = await cookie.sign('ses_1', soon);
    expect(await service.authenticateCookie(`a=b; keycloak_auth=${valid}; c=d`)).toBe(USER);
    const refused = [
      undefined,
      '',
      'keycloak_auth=',
      'keycloak_auth=ses_1',
      `other=${valid}`,
      `keycloak_auth=${valid.slice(0, -2)}`,
      `keycloak_auth=${await cookie.sign('ses_2', soon)}`,
      `keycloak_auth=${await cookie.sign('ses_1', new Date(Date.now() - 60_000))}`,
      `keycloak_auth=${await new SessionCookie('another session secret of 32 characters').sign('ses_1', soon)}`,
    ];
    for (const header of refused) expect(await service.authenticateCookie(header)).toBeNull();
  });

  it('gives the permissions of the role in that organization, by id and by slug, and says of any other that there is none', () => {
    for (const name of ['org_1', 'ada'])
      expect([...service.principalFor(USER, name).permissions]).toEqual([...ROLE_PERMISSIONS.viewer]);
    for (const name of ['org_2', '', 'Ada'])
      expect(() => service.principalFor(USER, name)).toThrow(expect.objectContaining({ code: 'resource.not-found' }));
  });

  it('is read again when a user asks for an organization that another process just added them to, and not otherwise', async () => {
    const authenticated = { kind: 'session', user: USER } as const;
    expect(await service.upToDate(authenticated, 'ada')).toBe(authenticated);
    for (const org of ['org_2', 'new'])
      expect(await service.upToDate(authenticated, org)).toEqual({ kind: 'session', user: JOINED });
  });

  it('a bearer token counts alone: an invalid one authenticates no user, whatever the cookie says; other schemes are not ours', async () => {
    const key: AuthenticatedKey = {
      keyId: 'key_1',
      org: { id: 'org_1', slug: 'ada', name: 'Ada', kind: 'personal' },
      owner: {
        kind: 'service-account',
        id: 'svc_1',
        label: 'robot',
        email: null,
        emailVerified: false,
        termsVersion: null,
      },
      role: 'member',
      scopes: ['org:read'],
      permissions: new Set(['org:read']),
      expiresAt: new Date(),
    };
    const withKeys = new PrincipalService(
      cookie,
      { find: async () => USER, findNow: async () => USER },
      { find: async (token: string) => (token === 'good' ? key : null) },
      'https://slipway.example/',
    );
    const header = `keycloak_auth=${await cookie.sign('ses_1', new Date(Date.now() + 60_000))}`;
    const by = async (authorization?: string): Promise<string | undefined> =>
      (await withKeys.authenticate({ cookie: header, ...(authorization === undefined ? {} : { authorization }) }))
        ?.kind;
    expect([await by('Bearer good'), await by('bearer  good '), await by(), await by('Basic eDp5')]).toEqual([
      'api-key',
      'api-key',
      'session',
      'session',
    ]);
    for (const refused of ['Bearer', 'Bearer ', 'Bearer bad', 'Bearer good good'])
      expect([refused, await by(refused)]).toEqual([refused, undefined]);
    const principal = withKeys.principalOf({ kind: 'api-key', key }, 'ada');
    expect(principal).toMatchObject({
      orgId: 'org_1',
      actor: { kind: 'service-account', id: 'svc_1', viaKey: 'key_1' },
    });
    for (const other of ['org_2', 'Ada', ''])
      expect(() => withKeys.principalOfKey(key, other)).toThrow(
        expect.objectContaining({ code: 'resource.not-found' }),
      );
  });

  it('lets pages of its own origin use the cookie, and no others', () => {
    expect(service.mayOpenSocket({ origin: 'https://slipway.example' })).toBe(true);
    for (const origin of [
      'https://evil.example',
      'http://slipway.example',
      'https://slipway.example.evil.example',
      'https://slipway.example:8443',
      'null',
      '',
    ]) {
      expect(service.mayOpenSocket({ origin })).toBe(false);
      expect(() => service.assertSameSite({ origin })).toThrow(SlipwayError);
    }
    expect(() => service.assertSameSite({})).toThrow(SlipwayError);
    expect(() => service.assertSameSite({ 'sec-fetch-site': 'same-origin' })).not.toThrow();
    for (const site of ['cross-site', 'same-site', 'none'])
      expect(() => service.assertSameSite({ 'sec-fetch-site': site })).toThrow(SlipwayError);
    expect(
      ['cross-site', 'same-site', 'same-origin', 'none', undefined].map((site) =>
        service.mayOpenSocket({ 'sec-fetch-site': site }),
      ),
    ).toEqual([false, false, true, true, true]);
  });
});

describe('readCookie', () => {
  it('reads one cookie of a header, with whatever stands in its value', () => {
    expect(readCookie('a=1; keycloak_auth=x=y; b', 'keycloak_auth')).toBe('x=y');
    expect(readCookie('xkeycloak_auth=1', 'keycloak_auth')).toBeUndefined();
  });

  it('takes two values of one name as none, whichever comes first', () => {
    expect(readCookie('keycloak_auth=planted; keycloak_auth=ours', 'keycloak_auth')).toBeUndefined();
    expect(readCookie('keycloak_auth=; a=1; keycloak_auth=ours', 'keycloak_auth')).toBeUndefined();
    expect(readCookie('keycloak_auth=ours; keycloak_auth=ours', 'keycloak_auth')).toBe('ours');
  });
});
