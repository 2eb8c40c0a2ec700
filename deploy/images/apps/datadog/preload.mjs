// `node --import file:///opt/slipway/datadog/preload.mjs`: dd-trace for the main program of a service. Without that
// option nothing in this folder is read.
import { subscribe } from 'node:diagnostics_channel';
import { createRequire } from 'node:module';
import { isMainThread } from 'node:worker_threads';
import { applySettings, decideAtTheEdge, isKept, isRequestSampled, maskSpans } from './settings.mjs';

// Probes, jobs and child processes inherit NODE_OPTIONS; they are no service.
if (isMainThread && /[\\/]main\.js$/.test(process.argv[1] ?? '')) await start();

async function start() {
  const { sampleRate, keepsFailures } = applySettings(process.env);
  if (process.env.SLIPWAY_TRACES_EDGE === 'true') {
    // Node publishes this before any listener sees the request, dd-trace's own among them.
    subscribe('http.server.request.start', ({ request }) =>
      decideAtTheEdge(request.headers, request.url ?? '/', sampleRate),
    );
  }
  const require = createRequire(import.meta.url);
  turnProfilerOffWithoutOne(require);
  // Else it sends counters of its own StatsD client every ten seconds, of which we send nothing.
  require('dd-trace/packages/dd-trace/src/dogstatsd').CustomMetrics.prototype.flush = (done) => done?.();
  await import('dd-trace/initialize.mjs');
  const { default: tracer } = await import('dd-trace');

  // Headers of outgoing requests are written by libs/telemetry, to peers of ours only.
  const client = { propagationBlocklist: [() => true] };
  // Else each request costs spans without a receiver.
  const spans = keepsFailures ? null : spansOff(require);
  if (spans !== null) decideBeforeSpans(require('node:http'), sampleRate, spans.without);
  // A trace with a failed answer is sent, whatever the sampling.
  const request = (span, _request, response) => {
    if (response?.statusCode >= 500) span?.setTag('manual.keep', true);
  };
  tracer.use('http', { client, server: { blocklist: ['/alive', '/ready', '/metrics'] } });
  tracer.use('fastify', { hooks: { request } });
  tracer.use('fetch', client);
  tracer.use('undici', client);
  tracer.use('pg', { truncate: 1_000 });
  // The outbox decides when a job is added, so the request that wanted it is known by its row and not by who adds it.
  tracer.use('bullmq', { producerFilter: () => false });
  // A bundler leaves no trace of this package that would load its plugin.
  require('dc-polyfill').channel('dd-trace:instrumentation:load').publish({ name: 'bullmq' });

  const exporter = tracer._tracer?._exporter;
  // With DD_TRACE_ENABLED=false there is none, and there are no spans.
  if (typeof exporter?.export !== 'function') return;
  const send = exporter.export.bind(exporter);
  exporter.export = (spans) => {
    if (!isKept(spans)) return;
    maskSpans(spans);
    send(spans);
  };

  new tracer.TracerProvider().register();
  globalThis[Symbol.for('slipway.tracer')] = {
    name: 'dd-trace',
    keepTag: 'manual.keep',
    flush: (done) => exporter.flush(done),
    ...(spans === null ? {} : { withoutSpans: spans.without, isWithoutSpans: spans.isOff }),
  };
}

/** dd-trace's own way to be quiet, which its exporter uses too: no integration makes a span below `without`. */
function spansOff(require) {
  const store = require('dd-trace/packages/datadog-core').storage('legacy');
  return { without: (work) => store.run({ noop: true }, work), isOff: () => store.getStore()?.noop === true };
}

/** Around dd-trace's own listener, which is there since `http` was loaded. */
function decideBeforeSpans({ Server }, sampleRate, without) {
  const { emit } = Server.prototype;
  Server.prototype.emit = function (event, ...given) {
    const [request] = given;
    const begins = event === 'request' || event === 'checkContinue';
    if (!begins || isRequestSampled(request.headers, request.url ?? '/', sampleRate))
      return emit.call(this, event, ...given);
    return without(() => emit.call(this, event, ...given));
  };
}

/**
 * The profiler is native code that our images have not. Says so in a line as the service's own are, since dd-trace
 * would say nothing.
 */
function turnProfilerOffWithoutOne(require) {
  if (process.env.DD_PROFILING_ENABLED !== 'true') return;
  try {
    require.resolve('@datadog/pprof');
  } catch {
    process.env.DD_PROFILING_ENABLED = 'false';
    const service = String(process.env.DD_SERVICE).replace(/^slipway-/, '');
    const message = 'profiling is on, and this image has no profiler; see docs/operate/datadog.md';
    process.stdout.write(
      `${JSON.stringify({ severity: 'WARNING', timestamp: new Date().toISOString(), service, message })}\n`,
    );
  }
}
