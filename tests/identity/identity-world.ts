import { fileURLToPath } from 'node:url';
import { OidcIssuer } from '@slipway/auth';
import {
  createTestDatabase,
  freePort,
  type IdentityServer,
  startIdentityServer,
  type TestDatabase,
} from '@slipway/testing';
import { Keycloak } from '@slipway/testing/keycloak';
import pg from 'pg';
import { MeModule } from '../../apps/app-server/dist/identity/me/me.module.js';
import { SignInModule } from '../../apps/app-server/dist/identity/sign-in/sign-in.module.js';
import { DomainsModule } from '../../apps/app-server/dist/organizations/domains/domains.module.js';
import { MovableClock, startTestApp, type TestApp, testConfig } from '../../apps/app-server/dist/testing/test-app.js';
import type { Broker } from '../../keycloak/brokers.ts';
import { type RealmParameters, realmRepresentation } from '../../keycloak/realm.ts';
import { discoverIssuer } from '../../keycloak/render.ts';

const WEB_CLIENT = { id: 'slipway-web', secret: 'web-secret-of-the-tests' };
const SERVICE_CLIENT = { id: 'slipway-service', secret: 'service-secret-of-the-tests' };

/** A user of the realm with a password. */
export const ADA = {
  username: 'ada',
  password: 'correct horse',
  firstName: 'Ada',
  lastName: 'Byron',
  email: 'ada@example.test',
} as const;

/** A realm as `keycloak/` makes it, for an app at this address. Strangers may register. */
export function realmFor(
  name: string,
  appUrl: string,
  more: Partial<RealmParameters> = {},
): Readonly<Record<string, unknown>> & { readonly realm: string } {
  return {
    realm: name,
    ...realmRepresentation({
      name,
      publicUrl: appUrl,
      appServerUrl: appUrl,
      webClient: WEB_CLIENT,
      serviceClient: SERVICE_CLIENT,
      registration: true,
      verifyEmail: false,
      totp: 'optional',
      stepUp: false,
      smtp: null,
      sessionIdleSeconds: 86_400,
      sessionMaxSeconds: 86_400,
      brokers: [],
      ...more,
    }),
  };
}

/**
 * The real Keycloak with the realm of an installation, app-server behind it, and a company's own issuer (an embedded
 * one) as a broker.
 */
export class IdentityWorld {
  readonly keycloak: Keycloak;
  readonly company: IdentityServer;
  readonly clock: MovableClock;
  private readonly database: TestDatabase;
  private readonly app: TestApp;

  private constructor(parts: {
    keycloak: Keycloak;
    company: IdentityServer;
    database: TestDatabase;
    app: TestApp;
    clock: MovableClock;
  }) {
    ({
      keycloak: this.keycloak,
      company: this.company,
      database: this.database,
      app: this.app,
      clock: this.clock,
    } = parts);
  }

  static async open(): Promise<IdentityWorld> {
    const [port, keycloakPort] = [await freePort(), await freePort()];
    const appUrl = `http://127.0.0.1:${port}`;
    const company = await startIdentityServer(appUrl, {
      REDIRECT_URI: `http://localhost:${keycloakPort}/realms/slipway/broker/company/endpoint`,
    });
    const broker: Broker = {
      kind: 'oidc',
      alias: 'company',
      label: 'Company account',
      trustEmail: true,
      clientId: company.clientId,
      clientSecret: company.clientSecret,
      endpoints: await discoverIssuer(company.issuerUrl),
    };
    const keycloak = await Keycloak.open({
      realm: realmFor('slipway', appUrl, { brokers: [broker] }),
      port: keycloakPort,
      themes: fileURLToPath(new URL('../../keycloak/themes', import.meta.url)),
      say: (line) => console.log(line),
    });
    await keycloak.admin.createUser(ADA);
    const database = await createTestDatabase();
    const clock = new MovableClock();
    const config = testConfig(
      port,
      database,
      { issuerUrl: keycloak.issuerUrl, clientId: WEB_CLIENT.id, clientSecret: WEB_CLIENT.secret },
      { OIDC_BROKERS: 'company' },
    );
    const app = await startTestApp(config, { clock, features: [SignInModule, DomainsModule.register(), MeModule] });
    return new IdentityWorld({ keycloak, company, database, app, clock });
  }

  get url(): string {
    return this.app.url;
  }

  /** What app-server has of its issuer, for what it does not show. @param realm of this Keycloak. */
  issuer(appUrl = this.url, realm = 'slipway'): OidcIssuer {
    return new OidcIssuer({
      issuerUrl: this.issuerUrl(realm),
      clientId: WEB_CLIENT.id,
      clientSecret: WEB_CLIENT.secret,
      redirectUri: new URL('/oauth/keycloak/callback', appUrl).href,
    });
  }

  issuerUrl(realm: string): string {
    return this.keycloak.issuerUrl.replace(/[^/]+$/, realm);
  }

  get client(): { clientId: string; clientSecret: string } {
    return { clientId: WEB_CLIENT.id, clientSecret: WEB_CLIENT.secret };
  }

  /** app-server's own token, without any user. */
  tokenOfService(): Promise<Response> {
    const body = new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: SERVICE_CLIENT.id,
      client_secret: SERVICE_CLIENT.secret,
    });
    return fetch(`${this.keycloak.issuerUrl}/protocol/openid-connect/token`, {
      method: 'POST',
      body,
      signal: AbortSignal.timeout(60_000),
    });
  }

  /** Queries app-server's database as its owner. */
  async query<Row extends pg.QueryResultRow>(text: string): Promise<Row[]> {
    const client = new pg.Client({ connectionString: this.database.ownerUrl });
    await client.connect();
    try {
      return (await client.query<Row>(text)).rows;
    } finally {
      await client.end();
    }
  }

  async close(): Promise<void> {
    await this.app.close();
    await this.database.close();
    await this.keycloak.close();
    await this.company.close();
  }
}
