import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What `/ready` knows: `reason` is `null` when the service can do its work. */
export interface Readiness {
  readonly reason: string | null;
  readonly notes: Readonly<Record<string, string>>;
}

export interface MetricsServerOptions {
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  /** Prometheus' text format, and its content type. */
  readonly metrics: () => Promise<string>;
  readonly contentType: string;
  readonly readiness: () => Promise<Readiness>;
}

export interface MetricsServer {
  /** `http://host:port`. */
  readonly url: string;
  close(): Promise<void>;
}

export interface MetricsSettings {
  readonly HOST: string;
  readonly PORT: number;
  readonly METRICS_HOST?: string | undefined;
  readonly METRICS_PORT?: number | undefined;
}

/** Longest for a request to be here, and most connections at once: Prometheus needs one. Milliseconds. */
const REQUEST_MS = 5_000;
const MAX_CONNECTIONS = 32;
/** Offset of the metrics port from the service's own when none is configured. */
const DISTANCE = 100;
const HIGHEST_PORT = 65_535;

/** Where an app's metrics answer: what its settings name, else PORT + 100 of HOST; with a PORT of 0 any. */
export function metricsAddress({ HOST, PORT, METRICS_HOST, METRICS_PORT }: MetricsSettings): {
  host: string;
  port: number;
} {
  const beside = PORT === 0 ? 0 : PORT + DISTANCE <= HIGHEST_PORT ? PORT + DISTANCE : PORT - DISTANCE;
  return { host: METRICS_HOST ?? HOST, port: METRICS_PORT ?? beside };
}

/**
 * A port that no client of the service reaches: `/metrics`, and `/ready` with the reason and the notes that the public
 * one withholds. It does not keep the process alive. @throws Error that names METRICS_PORT when the port is in use.
 */
export async function startMetricsServer(options: MetricsServerOptions): Promise<MetricsServer> {
  const server = createServer({ requestTimeout: REQUEST_MS, headersTimeout: REQUEST_MS }, (request, response) => {
    void answer(options, (request.url ?? '/').split('?', 1)[0] ?? '/', response).catch(() => response.destroy());
  });
  server.maxConnections = MAX_CONNECTIONS;
  await listen(server, options);
  server.unref();
  const { address, port, family } = server.address() as AddressInfo;
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`,
    close: async () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

async function answer(options: MetricsServerOptions, path: string, response: ServerResponse): Promise<void> {
  if (path === '/metrics')
    return void response.writeHead(200, { 'content-type': options.contentType }).end(await options.metrics());
  if (path !== '/ready' && path !== '/alive')
    return void response.writeHead(404, { 'content-type': 'text/plain' }).end('not found\n');
  const { reason, notes } = path === '/alive' ? { reason: null, notes: {} } : await options.readiness();
  response.writeHead(reason === null ? 200 : 503, { 'content-type': 'application/json' }).end(
    JSON.stringify({
      status: reason === null ? 'ready' : 'not ready',
      ...(reason === null ? {} : { reason }),
      notes,
    }),
  );
}

async function listen(server: Server, { host, port }: MetricsServerOptions): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) =>
      reject(
        cause.code === 'EADDRINUSE'
          ? new Error(`port ${port} of ${host}, for metrics, is taken by another process; set METRICS_PORT`)
          : new Error(
              `port ${port} of ${host}, for metrics, cannot be used: ${cause.message}; set METRICS_PORT or METRICS_HOST`,
              { cause },
            ),
      ),
    );
    server.listen(port, host, resolve);
  });
}
