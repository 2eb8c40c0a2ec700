import { randomUUID } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { EgressCredentials } from '@slipway/auth/egress-credential';
import { createResolver, OrgHosts, type Resolve } from '@slipway/outside';
import { type GracefulStop } from '@slipway/service';
import { type Logger, metricsAddress } from '@slipway/telemetry';
import { installTelemetry } from '@slipway/telemetry/http';
import fastify from 'fastify';
import { plainAddress } from './admission/caller.js';
import { HostRules, loadRules } from './admission/host-rules.js';
import { SandboxSeats } from './admission/sandbox-seats.js';
import { BrokerClient } from './broker/broker-client.js';
import { EgressBudgets } from './budget/egress-budgets.js';
import type { Config } from './config.js';
import { ControlClient } from './control/control-client.js';
import { EgressDecisions } from './control/egress-decisions.js';
import { Gate } from './gate.js';
import { serveHttp } from './http-forward.js';
import { OpenLines } from './lines/open-lines.js';
import { createEgressMetrics } from './metrics.js';
import { Tallies } from './tallies/tallies.js';
import { serveTunnel } from './tunnel.js';

export interface EgressProxy {
  /** Where sandboxes reach it, `http://host:port`. */
  readonly url: string;
  /** Address of its metrics and probes. */
  readonly healthUrl: string;
  /** Where its metrics are. */
  readonly metricsUrl: string | null;
  /** Lets nothing new through, waits for what is open for at most so long, and ends it then. Milliseconds. */
  settle(withinMs: number): Promise<void>;
  close(): Promise<void>;
}

/**
 * Longest head of a request, and longest wait for it. Bytes, milliseconds: this is what a sandbox can send before
 * anything is known of it.
 */
const MAX_HEADER_BYTES = 16 * 1024;
const HEAD_MS = 10_000;
/**
 * Connections of one address for each that its sandbox may have open: some of them are between two requests, or were
 * not admitted yet.
 */
const SPARE = 2;

/**
 * The whole proxy in this process. It leaves by `stop`, whose steps are the caller's. @throws SlipwayError
 * `config.invalid` for rules that cannot be read.
 */
export async function startEgressProxy(
  config: Config,
  logger: Logger,
  stop: GracefulStop,
  resolve: Resolve = createResolver(config.EGRESS_DNS_SERVERS),
): Promise<EgressProxy> {
  const idleMs = config.EGRESS_IDLE_SECONDS * 1000;
  const metrics = createEgressMetrics();
  const lines = new OpenLines({ bytes: config.EGRESS_MAX_BYTES, ageMs: config.EGRESS_MAX_SECONDS * 1000 });
  const control = openControl(config, lines, logger);
  const gate = new Gate({
    credentials: new EgressCredentials(config.EGRESS_SECRET),
    bindSource: config.EGRESS_BIND_SOURCE,
    control,
    broker:
      config.BROKER_URL === undefined || config.BROKER_SECRET === undefined
        ? null
        : new BrokerClient(config.BROKER_URL, config.BROKER_SECRET),
    rules: new HostRules(loadRules(config.EGRESS_RULES), config.EGRESS_PORTS),
    seats: new SandboxSeats({
      connections: config.EGRESS_CONNECTIONS_PER_SANDBOX,
      perSecond: config.EGRESS_REQUESTS_PER_SECOND,
    }),
    addresses: { cluster: config.EGRESS_CLUSTER_RANGES, permitted: config.EGRESS_PERMITTED_RANGES },
    resolve,
    lines,
    metrics,
    logger,
  });
  const server = createServer(
    {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: HEAD_MS,
      requestTimeout: 0,
      keepAlive: true,
      keepAliveInitialDelay: 15_000,
      noDelay: true,
    },
    (request, response) =>
      void serveHttp(gate, request, response, idleMs).catch((err: unknown) => {
        logger.error({ err }, 'request failed');
        response.destroy();
      }),
  );
  server.keepAliveTimeout = 30_000;
  server.timeout = idleMs;
  server.maxConnections = config.EGRESS_MAX_CONNECTIONS;
  server.on('connect', (request, client, head) => {
    serveTunnel(gate, { request, client: client as Socket, head }, { idleMs, tlsPorts: config.EGRESS_TLS_PORTS }).catch(
      (err: unknown) => {
        logger.error({ err }, 'tunnel failed');
        client.destroy();
      },
    );
  });
  // Where addresses are hidden on the way all sandboxes have the same one.
  if (config.EGRESS_BIND_SOURCE) limitByAddress(server, config.EGRESS_CONNECTIONS_PER_SANDBOX * SPARE);
  stop.serve(server);

  const health = fastify();
  const telemetry = installTelemetry(health, {
    registry: metrics.registry,
    logger,
    stopping: stop.stopping,
    metrics: metricsAddress(config),
    ready: async () => {},
  });
  stop.serve(health.server);
  await new Promise<void>((listening, failed) =>
    server.once('error', failed).listen(config.EGRESS_PORT, config.HOST, listening),
  );
  const healthUrl = await health.listen({ host: config.HOST, port: config.PORT });
  const { address, port, family } = server.address() as AddressInfo;
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`,
    healthUrl,
    metricsUrl: telemetry.metricsUrl(),
    settle: async (withinMs) => {
      gate.closed = true;
      await lines.settle(withinMs);
    },
    close: async () => {
      gate.closed = true;
      lines.close();
      await control?.close();
      server.closeAllConnections();
      if (server.listening) await new Promise((closed) => server.close(closed));
      await health.close();
    },
  };
}

/** @returns `null` without an app-server to ask: the installation's list is all that is reached. */
function openControl(config: Config, lines: OpenLines, logger: Logger) {
  const { EGRESS_CONTROL_URL: url, EGRESS_CONTROL_SECRET: secret, EGRESS_HOLD_SECONDS: holdSeconds } = config;
  if (url === undefined || secret === undefined) return null;
  const client = new ControlClient(url, secret);
  const budgets = new EgressBudgets({ client, lines, logger });
  const decisions = new EgressDecisions({
    client,
    holdMs: holdSeconds * 1000,
    lines,
    logger,
    onChange: (org) => budgets.changed(org),
  });
  const tallies = new Tallies({ client, lines, source: randomUUID(), logger });
  return {
    hosts: new OrgHosts({
      only: config.EGRESS_ORG_HOSTS,
      never: config.EGRESS_NEVER_HOSTS,
      ports: config.EGRESS_PORTS,
    }),
    decisions,
    budgets,
    tallies,
    close: async () => {
      decisions.close();
      await Promise.all([budgets.close(), tallies.close()]);
      client.close();
    },
  };
}

/** Closes connections of an address that has too many, before a byte of them is read. */
function limitByAddress(server: Server, most: number): void {
  const open = new Map<string, number>();
  server.on('connection', (socket) => {
    const address = plainAddress(socket.remoteAddress);
    const count = (open.get(address) ?? 0) + 1;
    open.set(address, count);
    socket.once('close', () => {
      const left = (open.get(address) ?? 1) - 1;
      if (left === 0) open.delete(address);
      else open.set(address, left);
    });
    if (count > most) socket.destroy();
  });
}
