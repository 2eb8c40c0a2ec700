import { createServer, type Server } from 'node:http';

/** Longest for a request to be here, and most connections at once. Milliseconds. */
const REQUEST_MS = 5_000;
const MAX_CONNECTIONS = 32;

/** `METRICS_PORT` of `METRICS_HOST`; when not given, PORT + 100 of HOSTNAME. With a PORT of 0 any. */
export function metricsAddress(env: Readonly<Record<string, string | undefined>>): { host: string; port: number } {
  const own = Number(env['PORT'] ?? 3000);
  const named = env['METRICS_PORT'] === undefined || env['METRICS_PORT'] === '' ? null : Number(env['METRICS_PORT']);
  return { host: env['METRICS_HOST'] || env['HOSTNAME'] || '127.0.0.1', port: named ?? (own === 0 ? 0 : own + 100) };
}

/** `/metrics` on a port of its own, which no client of the pages reaches. @throws when the port is taken. */
export async function startMetricsServer({
  host,
  port,
}: {
  readonly host: string;
  readonly port: number;
}): Promise<Server> {
  const server = createServer({ requestTimeout: REQUEST_MS, headersTimeout: REQUEST_MS }, (request, response) => {
    if (request.url !== '/metrics') return void response.writeHead(404).end();
    response.writeHead(200, { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }).end(processMetrics());
  });
  server.maxConnections = MAX_CONNECTIONS;
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, host, resolve));
  server.unref();
  return server;
}

/** Memory and CPU of this process in Prometheus' text format. */
function processMetrics(): string {
  const cpu = process.cpuUsage();
  const rows = [
    ['process_resident_memory_bytes', 'gauge', process.memoryUsage().rss],
    ['process_cpu_user_seconds_total', 'counter', cpu.user / 1e6],
    ['process_cpu_system_seconds_total', 'counter', cpu.system / 1e6],
  ] as const;
  return rows.map(([name, type, value]) => `# TYPE ${name} ${type}\n${name}{service="web"} ${value}\n`).join('');
}
