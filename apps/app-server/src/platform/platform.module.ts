import { type DynamicModule, Global, Inject, Module, type OnApplicationShutdown } from '@nestjs/common';
import {
  ApiKeys,
  ApiKeyUses,
  OidcIssuer,
  PrincipalService,
  ProviderTokens,
  SecretBox,
  SessionCookie,
  Sessions,
} from '@slipway/auth';
import { SandboxKeys } from '@slipway/auth/caller-keys';
import { Envelope } from '@slipway/auth/envelope';
import { createPool, type SqlPool } from '@slipway/db/sql';
import { type Clock, createIds, type Ids, systemClock } from '@slipway/domain';
import { OrgHosts } from '@slipway/outside';
import type { Logger } from '@slipway/telemetry';
import { PoolMetrics, type Registry } from '@slipway/telemetry/http';
import type { Config } from '../config.js';
import { CALLBACK_PATH } from '../identity/sign-in/paths.js';
import { CLOCK, CONFIG, IDS, LOGGER, METRICS, SQL_POOL } from './tokens.js';

/** Connections of one process, for SQL and for Prisma alike. */
const SQL_CONNECTIONS = 20;
/** Longest wait for one answer of the database: a user waits for ours. Milliseconds. */
const QUERY_TIMEOUT_MS = 10_000;

export interface Platform {
  readonly config: Config;
  readonly logger: Logger;
  /** Takes a line for each request. Absent: none is written. */
  readonly access?: Logger;
  readonly metrics: Registry;
  readonly clock?: Clock;
  /** Aborted when this process is about to end. */
  readonly stopping?: AbortSignal;
}

/** What every feature may inject. Closed in the end, after the features. */
@Global()
@Module({})
export class PlatformModule implements OnApplicationShutdown {
  constructor(
    private readonly sessions: Sessions,
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    private readonly uses: ApiKeyUses,
  ) {}

  static register({ config, logger, metrics, clock = systemClock }: Platform): DynamicModule {
    const pools = new PoolMetrics(metrics);
    const providers = [
      { provide: CONFIG, useValue: config },
      { provide: LOGGER, useValue: logger },
      { provide: METRICS, useValue: metrics },
      { provide: CLOCK, useValue: clock },
      { provide: IDS, useValue: createIds(clock) },
      {
        provide: OrgHosts,
        useFactory: () =>
          new OrgHosts({
            only: config.EGRESS_ORG_HOSTS,
            never: config.EGRESS_NEVER_HOSTS,
            ports: config.EGRESS_PORTS ?? null,
          }),
      },
      {
        provide: SQL_POOL,
        useFactory: () =>
          pools.watch(
            'sql',
            createPool({
              url: config.DATABASE_URL,
              max: SQL_CONNECTIONS,
              applicationName: 'app-server sql',
              queryTimeoutMs: QUERY_TIMEOUT_MS,
              onError: (error) => logger.warn({ reason: error.message }, 'database connection failed'),
            }),
          ),
      },
      { provide: SecretBox, useValue: new SecretBox(config.ENCRYPTION_KEY, config.ENCRYPTION_KEY_PREVIOUS) },
      {
        provide: SandboxKeys,
        inject: [SecretBox],
        useFactory: (box: SecretBox) => new SandboxKeys(box, config.INGEST_SECRET),
      },
      {
        provide: Envelope,
        inject: [SQL_POOL, SecretBox],
        useFactory: (pool: SqlPool, box: SecretBox) => new Envelope(pool, box, clock),
      },
      { provide: SessionCookie, useValue: new SessionCookie(config.SESSION_SECRET, config.PUBLIC_URL) },
      {
        provide: OidcIssuer,
        useValue: new OidcIssuer({
          issuerUrl: config.OIDC_ISSUER_URL,
          clientId: config.OIDC_CLIENT_ID,
          clientSecret: config.OIDC_CLIENT_SECRET,
          redirectUri: new URL(CALLBACK_PATH, config.PUBLIC_URL).href,
          secondFactorAcr: config.OIDC_SECOND_FACTOR_ACR,
        }),
      },
      {
        provide: Sessions,
        inject: [SQL_POOL, SecretBox, OidcIssuer, IDS, ProviderTokens],
        useFactory: (pool: SqlPool, box: SecretBox, issuer: OidcIssuer, ids: Ids, providers: ProviderTokens) =>
          new Sessions(
            pool,
            box,
            issuer,
            clock,
            ids,
            logger,
            (userId, accessToken) => void providers.renew(userId, accessToken),
          ),
      },
      {
        provide: ProviderTokens,
        inject: [SQL_POOL, SecretBox, OidcIssuer],
        useFactory: (pool: SqlPool, box: SecretBox, issuer: OidcIssuer) =>
          new ProviderTokens(pool, box, issuer, clock, logger, config.OIDC_BROKERS),
      },
      { provide: ApiKeys, inject: [SQL_POOL], useFactory: (pool: SqlPool) => new ApiKeys(pool, clock) },
      { provide: ApiKeyUses, inject: [SQL_POOL], useFactory: (pool: SqlPool) => new ApiKeyUses(pool, clock, logger) },
      {
        provide: PrincipalService,
        inject: [SessionCookie, Sessions, ApiKeys],
        useFactory: (cookie: SessionCookie, sessions: Sessions, keys: ApiKeys) =>
          new PrincipalService(cookie, sessions, keys, config.PUBLIC_URL, {
            verifiedEmail: config.REQUIRE_VERIFIED_EMAIL,
            termsVersion: config.TERMS_VERSION ?? null,
          }),
      },
    ];
    return { module: PlatformModule, providers, exports: providers.map(({ provide }) => provide) };
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all([this.uses.close(), this.sessions.close()]);
    await this.pool.end();
  }
}
