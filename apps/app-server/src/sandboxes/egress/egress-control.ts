import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Inject, Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { ERRORS } from '@slipway/contracts/errors';
import { EgressBytesQuestion, EgressQuestion, EgressTallyBatch } from '@slipway/contracts/sandboxes';
import type { Clock } from '@slipway/domain';
import { SlipwayError } from '@slipway/errors';
import type { Logger } from '@slipway/telemetry';
import type { Config } from '../../config.js';
import { CLOCK, CONFIG, LOGGER } from '../../platform/tokens.js';
import { BrokerControl } from './broker-control.js';
import { ControlPeer, route } from './control-peer.js';
import { EgressBudgetService } from './egress-budget.service.js';
import { EgressChanges } from './egress-changes.js';
import { EgressDecisionsService } from './egress-decisions.service.js';
import { EgressTalliesService } from './egress-tallies.service.js';

const REQUEST_MS = 10_000;
/** Largest batch of counts, of the most rows with the longest names. Bytes. */
const MAX_TALLIES_BYTES = 1024 * 1024;

/**
 * Where egress-proxy and credential-broker ask: a port of its own, which no ingress and no sandbox reaches, for
 * requests signed with EGRESS_CONTROL_SECRET and with CREDENTIAL_CONTROL_SECRET, neither of which opens what is the
 * other's. Absent without the first.
 */
@Injectable()
export class EgressControl implements OnApplicationBootstrap, OnApplicationShutdown {
  private server: Server | null = null;
  private changes: EgressChanges | null = null;

  constructor(
    @Inject(CONFIG) private readonly config: Config,
    @Inject(LOGGER) private readonly logger: Logger,
    @Inject(CLOCK) private readonly clock: Clock,
    private readonly decisions: EgressDecisionsService,
    private readonly budgets: EgressBudgetService,
    private readonly tallies: EgressTalliesService,
    private readonly broker: BrokerControl,
  ) {}

  /** Where it listens; `null` without a secret. */
  get url(): string | null {
    const address = this.server?.address() as AddressInfo | null | undefined;
    return address == null ? null : `http://127.0.0.1:${address.port}`;
  }

  async onApplicationBootstrap(): Promise<void> {
    const { EGRESS_CONTROL_SECRET: secret, CREDENTIAL_CONTROL_SECRET, INTERNAL_PORT, HOST, DATABASE_URL } = this.config;
    if (secret === undefined) return;
    const changes = new EgressChanges({ databaseUrl: DATABASE_URL, logger: this.logger });
    this.changes = changes;
    const peers = [this.proxy(secret, changes)];
    if (CREDENTIAL_CONTROL_SECRET !== undefined) peers.push(this.broker.peer(CREDENTIAL_CONTROL_SECRET, changes));
    const server = createServer({ requestTimeout: REQUEST_MS, headersTimeout: REQUEST_MS }, (request, response) => {
      this.serve(peers, request, response).catch((err: unknown) => {
        this.logger.error({ err }, 'a question on the internal port was not answered');
        if (response.headersSent) response.destroy();
        // A credential that no key opens: an operator can mend it.
        else response.writeHead(err instanceof SlipwayError ? ERRORS[err.code].status : 500).end();
      });
    });
    this.server = server;
    await new Promise<void>((resolve, reject) =>
      server.once('error', reject).listen(INTERNAL_PORT, HOST, () => resolve()),
    );
  }

  async onApplicationShutdown(): Promise<void> {
    await this.changes?.close();
    this.server?.closeAllConnections();
    this.server?.close();
  }

  private proxy(secret: string, changes: EgressChanges): ControlPeer {
    return new ControlPeer({
      prefix: '/internal/egress/v1/',
      secret,
      purpose: 'slipway-egress-control',
      changes,
      routes: {
        decide: route(EgressQuestion, 'application/json', async (question) =>
          JSON.stringify(await this.decisions.decide(question)),
        ),
        bytes: route(EgressBytesQuestion, 'application/json', async (question) =>
          JSON.stringify(await this.budgets.reserve(question)),
        ),
        tallies: route(
          EgressTallyBatch,
          'application/json',
          async (batch) => {
            await this.tallies.count(batch);
            return '{}';
          },
          { maxBytes: MAX_TALLIES_BYTES },
        ),
      },
    });
  }

  private async serve(
    peers: readonly ControlPeer[],
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const now = this.clock.now();
    for (const peer of peers) if (await peer.serve(request, response, now)) return;
    response.writeHead(404).end();
  }
}
