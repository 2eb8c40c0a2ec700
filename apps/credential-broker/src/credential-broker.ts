import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { InternalSignature } from '@slipway/auth/internal-signature';
import { createResolver, type Resolve } from '@slipway/outside';
import type { GracefulStop } from '@slipway/service';
import { type Logger, metricsAddress } from '@slipway/telemetry';
import { installTelemetry } from '@slipway/telemetry/http';
import fastify from 'fastify';
import type { Config } from './config.js';
import { ControlClient } from './control/control-client.js';
import { HeldCredentials } from './control/held-credentials.js';
import { OpenTunnels } from './control/open-tunnels.js';
import { Resting } from './control/resting.js';
import { UseAsking } from './control/use-asking.js';
import { UseTallies } from './control/use-tallies.js';
import { AccessTokens } from './forms/access-tokens.js';
import { RefreshTokens } from './forms/refresh-token.js';
import { RequestService } from './forward/serve-request.js';
import { asksForWebSocket } from './forward/websocket.js';
import { Intake } from './intake/intake.js';
import { LeafCertificates } from './intake/leaf-certificates.js';
import { BodyTallies } from './leaving/body-tallies.js';
import { BodyWatch } from './leaving/body-watch.js';
import { Workspaces } from './leaving/workspaces.js';
import { type BrokerMetrics, createBrokerMetrics } from './metrics.js';

export interface CredentialBroker {
  /** Where egress-proxy dials. */
  readonly address: { readonly host: string; readonly port: number };
  /** Address of its probes. */
  readonly healthUrl: string;
  readonly metricsUrl: string | null;
  /** Passes nothing new on, waits for what is open for at most so long, and ends it then. Milliseconds. */
  settle(withinMs: number): Promise<void>;
  close(): Promise<void>;
}

/** Longest head of a request, and longest wait for it. Bytes, milliseconds. */
const MAX_HEADER_BYTES = 32 * 1024;
const HEAD_MS = 10_000;
/** Longest pause between two requests of a connection. Milliseconds. */
const KEEP_ALIVE_MS = 120_000;

/**
 * The whole broker in this process. It leaves by `stop`, whose steps are the caller's.
 * @throws SlipwayError `config.invalid` for an authority that cannot be read.
 */
export async function startCredentialBroker(
  config: Config,
  logger: Logger,
  stop: GracefulStop,
  resolve: Resolve = createResolver(config.BROKER_DNS_SERVERS),
): Promise<CredentialBroker> {
  const idleMs = config.BROKER_IDLE_SECONDS * 1000;
  const metrics = createBrokerMetrics();
  const leaves = await LeafCertificates.open(config.BROKER_CA_FILE, config.BROKER_CA_KEY_FILE);
  const client = new ControlClient(config.CREDENTIAL_CONTROL_URL, config.CREDENTIAL_CONTROL_SECRET);
  const resting = new Resting((body) => client.reflected(body), logger);
  const upstream = {
    addresses: { cluster: config.BROKER_CLUSTER_RANGES, permitted: config.BROKER_PERMITTED_RANGES },
    resolve,
    idleMs,
  };
  const refreshing = new RefreshTokens({ client, upstream, logger });
  const tokens = new AccessTokens({ upstream, refreshing, counted: (outcome) => metrics.tokens.inc({ outcome }) });
  const held: HeldCredentials = new HeldCredentials({
    client,
    logger,
    changed: (org) => {
      tokens.forget(org);
      tunnels.changed(org);
    },
  });
  const tunnels = new OpenTunnels(
    (line) => held.lease(line),
    (why) => metrics.cut.inc({ why }),
  );
  const workspaces = new Workspaces({ ask: (question) => client.prints(question), logger });
  const bodies = new BodyTallies({ client, source: randomUUID(), logger });
  const uses = new UseTallies({ client, source: randomUUID(), logger });
  const service = new RequestService({
    uses,
    bodies: new BodyWatch(workspaces, bodies),
    held,
    tokens,
    resting,
    asking: new UseAsking({ client, logger, holdMs: config.BROKER_HOLD_SECONDS * 1000 }),
    metrics,
    logger,
    upstream,
    maxBodyBytes: config.BROKER_MAX_BODY_BYTES,
  });
  const server = createHttpServer(idleMs, metrics);
  const intake = new Intake(server, {
    signature: new InternalSignature(config.BROKER_SECRET, 'slipway-broker'),
    leaves,
    tunnels,
    upstream,
    metrics,
    connectionsPerSandbox: config.BROKER_CONNECTIONS_PER_SANDBOX,
    maxConnections: config.BROKER_MAX_CONNECTIONS,
  });
  passRequests(server, intake, service, logger);
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
    intake.server.once('error', failed).listen(config.BROKER_PORT, config.HOST, listening),
  );
  const healthUrl = await health.listen({ host: config.HOST, port: config.PORT });
  const { address, port } = intake.server.address() as AddressInfo;
  return {
    address: { host: address, port },
    healthUrl,
    metricsUrl: telemetry.metricsUrl(),
    settle: async (withinMs) => {
      intake.server.close();
      await tunnels.settle(withinMs);
      service.closed = true;
    },
    close: async () => {
      service.closed = true;
      if (intake.server.listening) intake.server.close();
      tunnels.close();
      held.close();
      await tokens.close();
      refreshing.close();
      resting.close();
      workspaces.close();
      await Promise.all([bodies.close(), uses.close()]);
      client.close();
      server.closeAllConnections();
      await health.close();
    },
  };
}

/** Hands each request of the server to the service, with the connection that it came by. */
function passRequests(server: Server, intake: Intake, service: RequestService, logger: Logger): void {
  const serve = (expects: boolean) => (request: IncomingMessage, response: ServerResponse) => {
    const tunnel = intake.tunnelOf(request.socket);
    if (tunnel === undefined) return void response.destroy();
    service.serve({ tunnel, request, response, expects, early: null }).catch((err: unknown) => {
      logger.error({ err }, 'request failed');
      response.destroy();
    });
  };
  server.on('request', serve(false)).on('checkContinue', serve(true));
  server.on('upgrade', (request, socket: Socket, early: Buffer) => {
    const tunnel = intake.tunnelOf(request.socket);
    if (tunnel === undefined) return void socket.destroy();
    socket.on('error', () => socket.destroy());
    // Refusals, and answers of a host that does not upgrade, are answers as any other; nothing comes after them.
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(socket);
    response.once('finish', () => socket.destroySoon());
    service.serve({ tunnel, request, response, expects: false, early }).catch((err: unknown) => {
      logger.error({ err }, 'request failed');
      socket.destroy();
    });
  });
}

/** Strict: what can be read in two ways is answered 400, and its connection ends. */
function createHttpServer(idleMs: number, metrics: BrokerMetrics): Server {
  const server = createServer({
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: HEAD_MS,
    requestTimeout: 0,
    keepAliveTimeout: Math.min(KEEP_ALIVE_MS, idleMs),
    insecureHTTPParser: false,
    noDelay: true,
    // Any other upgrade is not passed on, and its request is one as any.
    shouldUpgradeCallback: asksForWebSocket,
  });
  server.timeout = idleMs;
  server.on('clientError', (_error, socket) => {
    metrics.refusedConnections.inc({ why: 'malformed' });
    if (socket.writable)
      socket.end('HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n', () => socket.destroy());
    else socket.destroy();
  });
  server.on('connect', (_request, socket: Socket) => {
    socket.end('HTTP/1.1 405 Method Not Allowed\r\ncontent-length: 0\r\nconnection: close\r\n\r\n', () =>
      socket.destroy(),
    );
  });
  return server;
}
