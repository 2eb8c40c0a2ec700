import { createServer, type Server } from 'node:http';
import { SandboxTokens } from '@slipway/auth/sandbox-access';
import { SANDBOX_BACKENDS } from '@slipway/contracts/sandboxes';
import { createPool } from '@slipway/db/sql';
import { OpenSeats } from '@slipway/domain';
import { type GracefulStop } from '@slipway/service';
import { type Logger, metricsAddress } from '@slipway/telemetry';
import { installTelemetry, PoolMetrics } from '@slipway/telemetry/http';
import fastify from 'fastify';
import { AccessHandler } from './access/access-handler.js';
import { listenForChanges } from './access/change-listener.js';
import { GrantWatch } from './access/grant-watch.js';
import {
  isPassApplied,
  isSpenderApplied,
  liveGrants,
  noteUse,
  redeemTicket,
  requestChargePass,
  spendThrough,
  steerThrough,
} from './access/grants.queries.js';
import { Spending } from './access/spending.js';
import { Steering } from './access/steering.js';
import { UsersWork } from './access/users-work.js';
import type { Config } from './config.js';
import { createGatewayMetrics } from './metrics.js';
import { createSandboxAgent } from './proxy/sandbox-connection.js';
import { Addresses } from './routing/address.js';
import { SandboxProxy } from './sandbox-proxy.js';
import { Locator } from './sandboxes/locator.js';
import { Visitors } from './visitors.js';

export interface Gateway {
  /** `http://host:port`. */
  readonly url: string;
  /** Where its metrics are. */
  readonly metricsUrl: string | null;
  /** Sends the sockets elsewhere, spread over this time. Milliseconds; 0: at once. */
  drain(overMs: number): Promise<void>;
  /** Ends the requests that are under way. */
  breakOff(): void;
  /** Gives up the connections, after the last request. */
  close(): Promise<void>;
}

/**
 * Longest answer of Postgres. Milliseconds; below the second within which a revocation must hold, so that a database
 * that hangs is one that is away.
 */
const QUERY_TIMEOUT_MS = 900;
/** Beside the one that listens. */
const DB_CONNECTIONS = 5;

/**
 * The whole gateway in this process. It leaves by `stop`, whose steps are the caller's.
 * @param now for the notes of who works in sandboxes. Milliseconds that only go forward.
 */
export async function startGateway(
  config: Config,
  logger: Logger,
  stop: GracefulStop,
  now: () => number,
): Promise<Gateway> {
  const pool = createPool({
    url: config.DATABASE_URL,
    max: DB_CONNECTIONS,
    applicationName: 'sandbox-gateway',
    queryTimeoutMs: QUERY_TIMEOUT_MS,
    onError: (err) => logger.warn({ err }, 'database connection failed'),
  });
  const silenceMs = config.SANDBOX_GATEWAY_SILENCE_SECONDS * 1000;
  const tokens = new SandboxTokens(config.SANDBOX_ACCESS_SECRET);
  const seats = new OpenSeats({ perUser: config.STREAMS_PER_USER, perOrg: config.STREAMS_PER_ORG });
  const metrics = createGatewayMetrics(seats);
  new PoolMetrics(metrics.registry).watch('sql', pool);
  const grants = new GrantWatch({
    look: (ids) => within(liveGrants(pool, ids)),
    graceMs: config.SANDBOX_GATEWAY_GRACE_SECONDS * 1000,
    logger,
  });
  const listener = listenForChanges(pool, () => grants.changed(), logger);
  const locator = new Locator({
    runtimeApiUrl: config.RUNTIME_API_URL,
    apiKey: config.RUNTIME_API_KEY,
    appPorts: SANDBOX_BACKENDS[config.SANDBOX_BACKEND].ownPorts ? 'open' : 'closed',
  });
  const agent = createSandboxAgent(silenceMs);
  const accessHandler = new AccessHandler({
    tokens,
    redeem: (hash, conversation, port) => redeemTicket(pool, hash, conversation, port),
    find: (id) => grants.find(id),
    platformOrigin: new URL(config.PUBLIC_URL).origin,
    secure: config.SANDBOX_GATEWAY_URL.startsWith('https:'),
  });
  const visitors = new Visitors();
  const work = new UsersWork({
    note: (uses) => within(noteUse(pool, uses)),
    failed: () => metrics.useNotNoted.inc(),
    now,
    logger,
  });
  const spending = new Spending({
    spend: (grantId, pays) => within(spendThrough(pool, grantId, pays)),
    isApplied: (conversation) => within(isSpenderApplied(pool, conversation)),
    requestPass: (grantId, hash) => within(requestChargePass(pool, grantId, hash)),
    isPassApplied: (hash) => within(isPassApplied(pool, hash)),
  });
  const proxy = new SandboxProxy({
    addresses: new Addresses(config.SANDBOX_GATEWAY_URL),
    tokens,
    grants,
    accessHandler,
    locator,
    agent,
    visitors,
    seats,
    work,
    spending,
    steering: new Steering({
      steer: (grantId, seconds) => within(steerThrough(pool, grantId, seconds)),
      now: () => performance.now(),
    }),
    graceMs: config.SANDBOX_GATEWAY_GRACE_SECONDS * 1000,
    metrics,
    logger,
    publicUrl: config.PUBLIC_URL,
    gatewayUrl: config.SANDBOX_GATEWAY_URL,
  });
  const app = fastify({
    serverFactory: (handler): Server => {
      // Uploads may take as long as they like while bytes come; what is silent is cut off.
      const server = createServer(
        { noDelay: true, keepAlive: true, keepAliveInitialDelay: 15_000, requestTimeout: 0, headersTimeout: 20_000 },
        (request, response) => {
          if (!proxy.serve(request, response)) handler(request, response);
        },
      );
      // Longer than any client's or load balancer's own, so that it is never this side that closes under a request.
      server.keepAliveTimeout = 75_000;
      server.timeout = silenceMs;
      server.on('upgrade', (request, socket, head) => proxy.upgrade(request, socket, head));
      return server;
    },
  });
  // Ready is who can learn whether access holds; runtime-api's health is its own affair.
  const telemetry = installTelemetry(app, {
    registry: metrics.registry,
    logger,
    stopping: stop.stopping,
    metrics: metricsAddress(config),
    ready: async () => void (await liveGrants(pool, [])),
  });
  stop.serve(app.server);
  const address = await app.listen({ host: config.HOST, port: config.PORT });
  return {
    url: address,
    metricsUrl: telemetry.metricsUrl(),
    drain: async (overMs) => {
      const sockets = await visitors.drain(overMs);
      logger.info({ sockets }, 'sockets sent away to reconnect elsewhere');
    },
    breakOff: () => visitors.breakOff(),
    close: async () => {
      await app.close();
      await listener.close();
      grants.close();
      await work.close();
      await Promise.all([agent.destroy(), locator.close()]);
      await pool.end();
    },
  };
}

/** As the pool's own limit, with the wait for a free connection in it. */
async function within<T>(answer: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => reject(new Error(`the database did not answer within ${QUERY_TIMEOUT_MS} ms`)),
      QUERY_TIMEOUT_MS,
    );
  });
  return Promise.race([answer, late]).finally(() => clearTimeout(timer));
}
