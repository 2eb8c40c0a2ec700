// A small service with our tracing, for the tests of this folder: it is bundled as the apps are, and started with and
// without a tracer.
import http from 'node:http';
import { GracefulStop } from '@slipway/service';
import { createLogger, flushTraces, inSpan, traceHeaders, useTracing } from '@slipway/telemetry';
import { createMetrics, installTelemetry } from '@slipway/telemetry/http';
import { preloadedTracing } from '@slipway/telemetry/preloaded';
import Fastify from 'fastify';
import { request } from 'undici';

const logger = createLogger('probe', 'info');
useTracing(preloadedTracing(logger));
const stop = new GracefulStop({ logger, drainSeconds: 0 });
const server = Fastify();
installTelemetry(server, { registry: createMetrics('probe'), logger, ready: async () => {}, access: logger });

const throughHttp = (url: string, headers: Readonly<Record<string, string>>): Promise<void> =>
  new Promise((resolve, reject) => {
    http.get(url, { headers }, (response) => response.resume().on('end', resolve)).on('error', reject);
  });
const CLIENTS: Readonly<Record<string, (url: string, headers: Record<string, string>) => Promise<unknown>>> = {
  fetch: async (url, headers) => (await fetch(url, { headers })).text(),
  undici: async (url, headers) => (await request(url, { headers })).body.text(),
  http: throughHttp,
};
/** Calls `to` as a peer, and `to`/stranger without our header. */
server.get<{ Params: { client: string }; Querystring: { to: string } }>('/call/:client', async ({ params, query }) => {
  const call = CLIENTS[params.client];
  await call?.(`${query.to}/peer`, { ...traceHeaders() });
  await call?.(`${query.to}/stranger`, {});
  return {};
});
/** A job that fails although its request is answered. */
server.get('/job', async () => {
  await inSpan('job', { attributes: { 'slipway.kind': 'test' } }, () =>
    Promise.reject(new TypeError('a prompt of a user')),
  ).catch(() => {});
  return {};
});
server.get('/fail', async () => {
  throw new Error('a prompt of a user');
});
stop.serve(server.server);
stop.onSignals([stop.requests(1_000), flushTraces()]);
await server.listen({ port: Number(process.env['PORT']), host: '127.0.0.1' });
