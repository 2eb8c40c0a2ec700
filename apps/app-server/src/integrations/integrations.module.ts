import { type DynamicModule, Inject, Module, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyAdapter } from '@nestjs/platform-fastify';
import { Envelope } from '@slipway/auth/envelope';
import type { SqlPool } from '@slipway/db/sql';
import type { Clock, Ids } from '@slipway/domain';
import type { Connect, Provider } from '@slipway/integrations';
import { InstalledApps, installationSource } from '@slipway/integrations/apps';
import { ConnectionCredentials, OAuthSource } from '@slipway/integrations/credentials';
import { WindowCounters } from '@slipway/queue';
import type { Logger } from '@slipway/telemetry';
import type { Registry } from '@slipway/telemetry/http';
import type { Config } from '../config.js';
import { Jobs } from '../platform/jobs.js';
import { CLOCK, CONFIG, IDS, LOGGER, METRICS, SQL_POOL } from '../platform/tokens.js';
import { AppComeBack } from './apps/app-come-back.js';
import { AppInstallationService } from './apps/app-installation.service.js';
import { AppRegistrationService } from './apps/app-registration.service.js';
import { AppUpkeepService } from './apps/app-upkeep.service.js';
import { AppsController } from './apps/apps.controller.js';
import { AuthorizationsController } from './authorization/authorizations.controller.js';
import { AuthorizationsService } from './authorization/authorizations.service.js';
import { ConnectionMails } from './connection-mails.js';
import { ConnectionsService } from './connections.service.js';
import { DeliveriesService } from './deliveries.service.js';
import { HookAccess } from './hooks/hook-access.js';
import { HookInstallationService } from './hooks/hook-installation.service.js';
import { HookSelectionService } from './hooks/hook-selection.service.js';
import { HooksController } from './hooks/hooks.controller.js';
import { DeliveryTargets } from './intake/delivery-target.js';
import { installIntakeRoutes } from './intake/intake.routes.js';
import { Intake } from './intake/intake.service.js';
import { RepositorySuggestions } from './intake/repository-suggestions.js';
import { IntegrationsController } from './integrations.controller.js';
import { KNOWN_PROVIDERS, providersById } from './known-providers.js';
import { ApprovalsService } from './linking/approvals.service.js';
import { LinkedAccountsService } from './linking/linked-accounts.service.js';
import { LinkingController } from './linking/linking.controller.js';
import { OAuthClientService } from './linking/oauth-client.service.js';
import { ProviderCalls } from './provider-calls.js';
import { CodeHosts } from './repositories/code-hosts.js';
import { RepositoriesController } from './repositories/repositories.controller.js';
import { RepositoriesService } from './repositories/repositories.service.js';
import { RepositoryReferences } from './repositories/repository-references.js';
import { SocketsService } from './sockets/sockets.service.js';
import { SuggestedTasksController } from './suggested-tasks/suggested-tasks.controller.js';
import { SuggestedTasksService } from './suggested-tasks/suggested-tasks.service.js';

const MINUTE_SECONDS = 60;
/** Of renewing an authorization: an answer that is given up may have ended the tokens that we have. Milliseconds. */
const RENEWAL_TIMEOUT_MS = 20_000;

@Module({})
export class IntegrationsModule implements OnModuleInit, OnApplicationShutdown {
  private readonly counters: WindowCounters;

  constructor(
    private readonly adapterHost: HttpAdapterHost<FastifyAdapter>,
    private readonly envelope: Envelope,
    private readonly jobs: Jobs,
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(IDS) private readonly ids: Ids,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(CONFIG) private readonly config: Config,
    @Inject(METRICS) private readonly metrics: Registry,
    @Inject(LOGGER) private readonly logger: Logger,
    @Inject(KNOWN_PROVIDERS) private readonly providers: ReadonlyMap<string, Provider>,
    private readonly repositories: RepositoriesService,
    private readonly sockets: SocketsService,
  ) {
    // In this process alone: a delivery waits for the database and for nothing else.
    this.counters = new WindowCounters({ logger });
  }

  static register(providers: readonly Provider[]): DynamicModule {
    return {
      module: IntegrationsModule,
      controllers: [
        IntegrationsController,
        AppsController,
        AuthorizationsController,
        LinkingController,
        HooksController,
        RepositoriesController,
        SuggestedTasksController,
      ],
      // Whoever starts a conversation takes names of repositories.
      global: true,
      exports: [RepositoryReferences, ConnectionCredentials, KNOWN_PROVIDERS],
      providers: [
        AuthorizationsService,
        ConnectionMails,
        ConnectionsService,
        DeliveriesService,
        HookAccess,
        HookInstallationService,
        HookSelectionService,
        ApprovalsService,
        LinkedAccountsService,
        OAuthClientService,
        ProviderCalls,
        SocketsService,
        AppComeBack,
        AppRegistrationService,
        AppUpkeepService,
        AppInstallationService,
        {
          provide: InstalledApps,
          inject: [SQL_POOL, Envelope, CONFIG, CLOCK, KNOWN_PROVIDERS, ProviderCalls],
          useFactory: (
            pool: SqlPool,
            envelope: Envelope,
            config: Config,
            clock: Clock,
            known: ReadonlyMap<string, Provider>,
            calls: ProviderCalls,
          ) =>
            new InstalledApps({
              pool,
              envelope,
              providers: known,
              platform: config.INTEGRATION_APPS,
              connect: (url, authorization) => calls.client(url, authorization),
              now: () => clock.now(),
            }),
        },
        {
          provide: ConnectionCredentials,
          inject: [SQL_POOL, Envelope, InstalledApps, KNOWN_PROVIDERS, ProviderCalls, CLOCK, IDS, LOGGER],
          useFactory: (
            pool: SqlPool,
            envelope: Envelope,
            apps: InstalledApps,
            known: ReadonlyMap<string, Provider>,
            calls: ProviderCalls,
            clock: Clock,
            ids: Ids,
            logger: Logger,
          ) => {
            const connect: Connect = (baseUrl, authorization) =>
              calls.client(baseUrl, authorization, { timeoutMs: RENEWAL_TIMEOUT_MS });
            const say = (fields: object, message: string): void => logger.warn(fields, message);
            const oauth = new OAuthSource({ pool, envelope, providers: known, connect, clock, ids, say });
            return new ConnectionCredentials(pool, envelope, [installationSource(apps), oauth]);
          },
        },
        CodeHosts,
        RepositoriesService,
        SuggestedTasksService,
        RepositoryReferences,
        { provide: KNOWN_PROVIDERS, useValue: providersById(providers) },
      ],
    };
  }

  onModuleInit(): void {
    const targets = new DeliveryTargets(this.pool, this.envelope, this.config.INTEGRATION_APP_SECRETS);
    const points = this.config.RATE_DELIVERIES_PER_MINUTE;
    const limit = { points, count: this.counters.counter('rate:deliveries', points, MINUTE_SECONDS) };
    const suggestions = new RepositorySuggestions(this.pool, this.repositories, this.logger);
    const intake = new Intake(this.pool, this.envelope, targets, this.jobs, this.ids, this.clock, suggestions, limit);
    this.sockets.start(intake);
    installIntakeRoutes(this.adapterHost.httpAdapter.getInstance(), {
      intake,
      targets,
      providers: this.providers,
      metrics: this.metrics,
      logger: this.logger,
      docsUrl: new URL('/docs', this.config.PUBLIC_URL).href,
    });
  }

  async onApplicationShutdown(): Promise<void> {
    await this.sockets.close();
    this.counters.close();
  }
}
