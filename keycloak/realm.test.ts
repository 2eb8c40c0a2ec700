import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import type { Broker } from './brokers.ts';
import { realmRepresentation } from './realm.ts';
import { realmParameters } from './settings.ts';

const LEAST = {
  PUBLIC_URL: 'https://slipway.example',
  OIDC_CLIENT_SECRET: 'web-secret-web-secret',
  SERVICE_CLIENT_SECRET: 'service-secret-secret',
};
const ENDPOINTS = {
  issuer: 'https://login.acme.example',
  authorization_endpoint: 'https://login.acme.example/auth',
  token_endpoint: 'https://login.acme.example/token',
  jwks_uri: 'https://login.acme.example/keys',
};
const discover = async () => ENDPOINTS;

interface Client {
  readonly clientId: string;
  readonly redirectUris: readonly string[];
  readonly attributes?: Readonly<Record<string, string>>;
  readonly [flag: string]: unknown;
}
interface Provider {
  readonly alias: string;
  readonly providerId: string;
  readonly config: Readonly<Record<string, string>>;
  readonly [flag: string]: unknown;
}
interface Realm {
  readonly clients: readonly Client[];
  readonly identityProviders: readonly Provider[];
  readonly [key: string]: unknown;
}

async function realmOf(more: Readonly<Record<string, string>> = {}): Promise<Realm> {
  return realmRepresentation(await realmParameters({ ...LEAST, ...more }, discover)) as unknown as Realm;
}

describe('the realm', () => {
  it('takes the code flow with PKCE to one exact address, and no other way to a token of a person', async () => {
    const { clients } = await realmOf();
    expect(
      clients.map(({ directAccessGrantsEnabled, implicitFlowEnabled, publicClient }) => [
        directAccessGrantsEnabled,
        implicitFlowEnabled,
        publicClient,
      ]),
    ).toEqual(clients.map(() => [false, false, false]));
    const [web, service] = clients;
    expect(web?.redirectUris).toEqual(['https://slipway.example/oauth/keycloak/callback']);
    expect(web?.attributes).toMatchObject({
      'pkce.code.challenge.method': 'S256',
      'post.logout.redirect.uris': 'https://slipway.example/##https://slipway.example/oauth/switched',
      'backchannel.logout.url': 'https://slipway.example/oauth/backchannel-logout',
    });
    expect([service?.['standardFlowEnabled'], service?.redirectUris]).toEqual([false, []]);
  });

  it('switches on what has its settings, each with its tokens stored and no silent linking', async () => {
    expect((await realmOf()).identityProviders).toEqual([]);
    const { identityProviders } = await realmOf({
      GITHUB_CLIENT_ID: 'gh',
      GITHUB_CLIENT_SECRET: 'gh-secret',
      GITHUB_URL: 'https://github.acme.example/',
      GITLAB_CLIENT_ID: 'gl',
      GITLAB_CLIENT_SECRET: 'gl-secret',
      GITLAB_URL: 'https://gitlab.acme.example',
      GOOGLE_CLIENT_ID: 'go',
      GOOGLE_CLIENT_SECRET: 'go-secret',
      COMPANY_OIDC_ISSUER: 'https://login.acme.example',
      COMPANY_OIDC_CLIENT_ID: 'slipway',
      COMPANY_OIDC_CLIENT_SECRET: 'company-secret',
      COMPANY_SAML_ENTITY_ID: 'https://saml.acme.example',
      COMPANY_SAML_SIGN_ON_URL: 'https://saml.acme.example/sso',
      COMPANY_SAML_CERTIFICATE: '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n',
    });
    expect(identityProviders.map(({ alias, providerId, storeToken }) => [alias, providerId, storeToken])).toEqual([
      ['github', 'github', true],
      ['gitlab', 'oidc', true],
      ['google', 'google', true],
      ['company', 'oidc', true],
      ['company-saml', 'saml', false],
    ]);
    for (const one of identityProviders)
      expect([one['firstBrokerLoginFlowAlias'], one['enabled']]).toEqual(['first broker login', true]);
    const configOf = (alias: string) => identityProviders.find((one) => one.alias === alias)?.config;
    expect(configOf('github')).toMatchObject({
      baseUrl: 'https://github.acme.example/',
      apiUrl: 'https://github.acme.example/api/v3',
    });
    expect(configOf('company')).toMatchObject({
      tokenUrl: ENDPOINTS.token_endpoint,
      validateSignature: 'true',
      pkceMethod: 'S256',
      disableUserInfo: 'true',
    });
    expect(configOf('company-saml')).toMatchObject({ signingCertificate: 'MIIB', wantAssertionsSigned: 'true' });
  });

  it('believes no address that the admin of a self-managed server calls verified, unless a setting says so', async () => {
    const trusted = async (more: Readonly<Record<string, string>>) => {
      const social = {
        GITHUB_CLIENT_ID: 'a',
        GITHUB_CLIENT_SECRET: 'b',
        GITLAB_CLIENT_ID: 'c',
        GITLAB_CLIENT_SECRET: 'd',
      };
      const { identityProviders } = await realmOf({ ...social, ...more });
      return identityProviders.map(({ alias, trustEmail }) => [alias, trustEmail]);
    };
    const own = { GITHUB_URL: 'https://github.acme.example', GITLAB_URL: 'https://gitlab.acme.example' };
    expect(await trusted({})).toEqual([
      ['github', true],
      ['gitlab', true],
    ]);
    expect(await trusted(own)).toEqual([
      ['github', false],
      ['gitlab', false],
    ]);
    expect(await trusted({ ...own, GITHUB_TRUST_EMAIL: 'true', GITLAB_TRUST_EMAIL: 'true' })).toEqual([
      ['github', true],
      ['gitlab', true],
    ]);
  });

  it('asks for a second factor and a verified address when configured so', async () => {
    const mail = { SMTP_URL: 'smtp://mailer:p%40ss@mail.acme.example', MAIL_FROM: 'slipway@acme.example' };
    const realm = await realmOf({ TOTP: 'required', VERIFY_EMAIL: 'true', REGISTRATION: 'true', ...mail });
    expect(realm).toMatchObject({
      verifyEmail: true,
      registrationAllowed: true,
      smtpServer: { host: 'mail.acme.example', port: '587', starttls: 'true', user: 'mailer', password: 'p@ss' },
    });
    expect(
      (realm['requiredActions'] as Array<{ alias: string; defaultAction: boolean }>)
        .filter(({ defaultAction }) => defaultAction)
        .map(({ alias }) => alias),
    ).toEqual(['CONFIGURE_TOTP']);
  });

  it('has its own way in when a second factor can be asked for, of which every step names what there is', async () => {
    expect((await realmOf())['authenticationFlows']).toBeUndefined();
    const realm = await realmOf({ STEP_UP: 'true' });
    const flows = realm['authenticationFlows'] as Array<{
      alias: string;
      authenticationExecutions: Array<{ flowAlias?: string; authenticatorConfig?: string }>;
    }>;
    const configs = (realm['authenticatorConfig'] as Array<{ alias: string }>).map(({ alias }) => alias);
    const steps = flows.flatMap(({ authenticationExecutions }) => authenticationExecutions);
    expect(flows.map(({ alias }) => alias)).toEqual(
      expect.arrayContaining(steps.flatMap(({ flowAlias }) => flowAlias ?? [])),
    );
    expect(steps.flatMap(({ authenticatorConfig }) => authenticatorConfig ?? []).sort()).toEqual([...configs].sort());
    expect(realm['attributes']).toEqual({ 'acr.loa.map': '{"password":1,"second-factor":2}' });
  });

  it('says every setting that is wrong or missing, and no value', async () => {
    const wrong = { ...LEAST, OIDC_CLIENT_SECRET: 'short', GITHUB_CLIENT_ID: 'gh', VERIFY_EMAIL: 'true' };
    await expect(realmParameters(wrong, discover)).rejects.toThrow(/^OIDC_CLIENT_SECRET: at least 16 characters$/);
    await expect(realmParameters({ ...wrong, OIDC_CLIENT_SECRET: 'long-enough-a-secret' }, discover)).rejects.toThrow(
      /^GITHUB_CLIENT_SECRET: needed beside GITHUB_CLIENT_ID\nSMTP_URL: needed for VERIFY_EMAIL$/,
    );
    const broker: Broker = { kind: 'google', clientId: 'go', clientSecret: 'go-secret' };
    const parameters = { ...(await realmParameters(LEAST, discover)), brokers: [broker] };
    expect(() => realmRepresentation({ ...parameters, verifyEmail: true })).toThrow('mail server');
  });

  it('is printed by the command, and nothing is when a setting is wrong', () => {
    const render = (env: Readonly<Record<string, string>>): string =>
      execFileSync(
        process.execPath,
        ['--disable-warning=ExperimentalWarning', path.join(import.meta.dirname, 'render.ts')],
        {
          env,
          encoding: 'utf8',
          stdio: ['ignore', 'pipe', 'pipe'],
        },
      );
    expect(JSON.parse(render(LEAST))).toMatchObject({ realm: 'slipway', sslRequired: 'external' });
    expect(() => render({ PUBLIC_URL: 'nowhere' })).toThrow(expect.objectContaining({ status: 1, stdout: '' }));
  });
});
