import { randomUUID } from 'node:crypto';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { collectDefaultMetrics, Histogram, Registry } from 'prom-client';
import { type RequestContext, runInContext, traceIdOf } from '../context.js';
import type { Logger } from '../logger.js';
import { type MetricsServer, type Readiness, startMetricsServer } from '../metrics-server.js';
import { activeTracing } from '../tracing/tracing.js';

export interface TelemetryOptions {
  readonly registry: Registry;
  readonly logger: Logger;
  /**
   * Takes a line for each request, probes aside (`createGatheringLogger`). Absent: requests are logged at debug, failed
   * ones as errors, in `logger`.
   */
  readonly access?: Logger | undefined;
  /**
   * Answers when the service can do its work; rejects with the reason when it cannot. Called by `/ready`, at most once
   * a second.
   */
  readonly ready: (signal: AbortSignal) => Promise<void>;
  /** Warnings of a service that can still work: sentences by name, which `/ready` shows to this machine. */
  readonly notes?: () => Promise<Readonly<Record<string, string>>>;
  /** Shows the notes to every caller of `/ready`; for a service that is not reachable from outside of the cluster. */
  readonly notesForAll?: boolean;
  /**
   * Aborted when this process is about to end (`GracefulStop.stopping`): from then on `/ready` says 503, so that new
   * connections go elsewhere.
   */
  readonly stopping?: AbortSignal | undefined;
  /**
   * Where `/metrics` answers (`metricsAddress`): a port of its own, which opens with the server and closes with it.
   * Without it nothing is exposed.
   */
  readonly metrics?: { readonly host: string; readonly port: number } | undefined;
}

export interface Telemetry {
  /** `http://host:port` of the metrics port, once the server is ready; `null` without one. */
  metricsUrl(): string | null;
}

const REQUEST_ID = /^[A-Za-z0-9._-]{8,64}$/;
/** Longest that `/ready` waits for its checks. Milliseconds; below a kubelet's usual probe timeout. */
const READY_TIMEOUT_MS = 2_000;

/** Answers to a proxy on this machine go elsewhere, so they count as remote. */
const FORWARDED = ['forwarded', 'x-forwarded-for', 'via'] as const;
const LOOPBACK: ReadonlySet<string> = new Set(['127.0.0.1', '::1', '::ffff:127.0.0.1']);

/** Asked every few seconds by whoever watches the process. */
const PROBES: ReadonlySet<string> = new Set(['/alive', '/ready']);

/** The names of `createLogger`'s own lines. An answer may end outside of its request's context. */
function whose(context: RequestContext | undefined, request: FastifyRequest): object {
  return {
    request_id: context?.requestId,
    trace_id: context?.traceId,
    org_id: context?.orgId,
    user_id: context?.userId,
    conversation_id: context?.conversationId ?? conversationOf(request),
    ...activeTracing().logFields(),
  };
}

/** By the route: what follows `/conversations/` there is an id. */
function conversationOf(request: FastifyRequest): string | undefined {
  const name = /\/conversations\/:(\w+)/.exec(request.routeOptions.url ?? '')?.[1];
  const id = name === undefined ? undefined : (request.params as Readonly<Record<string, unknown>> | undefined)?.[name];
  return typeof id === 'string' && UUID.test(id) ? id : undefined;
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** A registry with the process metrics of prom-client. */
export function createMetrics(service: string): Registry {
  const registry = new Registry();
  registry.setDefaultLabels({ service });
  collectDefaultMetrics({ register: registry });
  return registry;
}

/**
 * Gives a Fastify server its request context (request id, trace), `/alive`, `/ready`, a duration histogram and one log
 * line a request. `/metrics` is not on this server, whose port clients reach: it has one of its own. Call before routes
 * are added.
 */
export function installTelemetry(fastify: FastifyInstance, options: TelemetryOptions): Telemetry {
  const durations = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from request to response, by route',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers: [options.registry],
  });
  // There from the beginning, so that the first time that this process is not ready is a rise and not a new series.
  durations.zero({ method: 'GET', route: '/ready', status: 503 });
  const contexts = new WeakMap<FastifyRequest, RequestContext>();
  fastify.addHook('onRequest', (request, reply, done) => {
    const given = request.headers['x-request-id'];
    const requestId = typeof given === 'string' && REQUEST_ID.test(given) ? given : `req_${randomUUID()}`;
    const traceparent = request.headers['traceparent'];
    reply.header('x-request-id', requestId);
    const refusesTracking = request.headers['sec-gpc'] === '1' || request.headers['dnt'] === '1';
    const traceId = activeTracing().active()?.traceId ?? traceIdOf(traceparent);
    const context: RequestContext = { requestId, address: request.ip, traceId, refusesTracking };
    contexts.set(request, context);
    runInContext(context, done);
  });
  fastify.addHook('onResponse', (request, reply, done) => {
    const route = request.routeOptions.url ?? 'none';
    durations.observe({ method: request.method, route, status: reply.statusCode }, reply.elapsedTime / 1000);
    const line = {
      method: request.method,
      route,
      status: reply.statusCode,
      elapsed_ms: Math.round(reply.elapsedTime * 10) / 10,
    };
    const failed = reply.statusCode >= 500;
    if (options.access !== undefined) {
      if (!PROBES.has(route))
        options.access[failed ? 'error' : 'info']({ ...line, ...whose(contexts.get(request), request) }, 'request');
    } else if (failed) options.logger.error(line, 'request failed');
    else options.logger.debug(line, 'request');
    done();
  });

  let lastCheck: { at: number; result: Promise<Readiness> } | undefined;
  const check = (): Promise<Readiness> => {
    if (lastCheck === undefined || performance.now() - lastCheck.at > 1_000) {
      const result = withinTime(options.ready).then(
        async () => ({ reason: null, notes: (await options.notes?.().catch(() => ({}))) ?? {} }),
        (error: unknown) => ({ reason: error instanceof Error ? error.message : String(error), notes: {} }),
      );
      lastCheck = { at: performance.now(), result };
    }
    return lastCheck.result;
  };
  fastify.get('/alive', async () => ({ status: 'ok' }));
  fastify.get('/ready', async (request, reply) => {
    if (options.stopping?.aborted === true) return reply.code(503).send({ status: 'draining' });
    const { reason, notes } = await check();
    const isHere =
      LOOPBACK.has(request.socket.remoteAddress ?? '') && !FORWARDED.some((name) => name in request.headers);
    if (reason === null)
      return {
        status: 'ready',
        ...((isHere || options.notesForAll === true) && Object.keys(notes).length > 0 ? { notes } : {}),
      };
    // The reason is the database's own words: for callers on this machine, and for the log.
    options.logger.warn({ reason }, 'not ready');
    return reply.code(503).send(isHere ? { status: 'not ready', reason } : { status: 'not ready' });
  });
  const { metrics, registry } = options;
  let server: MetricsServer | null = null;
  if (metrics !== undefined) {
    fastify.addHook('onReady', async () => {
      server = await startMetricsServer({
        ...metrics,
        contentType: registry.contentType,
        metrics: () => registry.metrics(),
        readiness: check,
      });
    });
    fastify.addHook('onClose', () => server?.close());
  }
  return { metricsUrl: () => server?.url ?? null };
}

/** @throws Error when the checks, which may not heed their signal, take longer than `/ready` waits. */
async function withinTime(ready: TelemetryOptions['ready']): Promise<void> {
  const signal = AbortSignal.timeout(READY_TIMEOUT_MS);
  const late = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error(`the checks took longer than ${READY_TIMEOUT_MS} ms`)), {
      once: true,
    });
  });
  await Promise.race([ready(signal), late]);
}
