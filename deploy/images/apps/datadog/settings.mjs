// Settings of dd-trace that are the same in every installation; what differs (agent, sample rate, service) comes as
// DD_* of the chart. See docs/operate/datadog.md.

/**
 * Integrations that are never loaded: what they say is said by another, is noise by the thousand, or would carry
 * prompts.
 */
const OFF = [
  ...['net', 'dns', 'fs', 'child_process', 'ws', 'ioredis', 'prisma', 'next', 'http2', 'pino', 'crypto', 'url', 'vm'],
  ...[
    'openai',
    'anthropic',
    'ai',
    'claude-agent-sdk',
    '@modelcontextprotocol/sdk',
    'langchain',
    'aws-sdk',
    'express',
    'cookie',
  ],
];

/** By variable. One that is set already counts. */
const VARIABLES = {
  DD_TRACE_DISABLED_INSTRUMENTATIONS: OFF.join(','),
  // Nothing goes to the vendor but through the operator's agent, and nothing comes from the vendor.
  DD_INSTRUMENTATION_TELEMETRY_ENABLED: 'false',
  DD_REMOTE_CONFIGURATION_ENABLED: 'false',
  DD_CRASHTRACKING_ENABLED: 'false',
  DD_CODE_ORIGIN_FOR_SPANS_ENABLED: 'false',
  DD_APPSEC_ENABLED: 'false',
  DD_IAST_ENABLED: 'false',
  DD_LLMOBS_ENABLED: 'false',
  DD_DYNAMIC_INSTRUMENTATION_ENABLED: 'false',
  DD_EXCEPTION_REPLAY_ENABLED: 'false',
  DD_DATA_STREAMS_ENABLED: 'false',
  DD_DBM_PROPAGATION_MODE: 'disabled',
  // Not JSON of ours.
  DD_TRACE_STARTUP_LOGS: 'false',
  DD_LOGS_INJECTION: 'false',
  DD_TRACE_PROPAGATION_STYLE: 'tracecontext',
  DD_TRACE_BAGGAGE_TAG_KEYS: '',
  DD_TRACE_CLIENT_IP_ENABLED: 'false',
  DD_TRACE_HEADER_TAGS: '',
  // The whole query: a sign-in has a code in it.
  DD_TRACE_OBFUSCATION_QUERY_STRING_REGEXP: '.*',
  DD_TRACE_GIT_METADATA_ENABLED: 'false',
  DD_TRACE_MIDDLEWARE_TRACING_ENABLED: 'false',
  // One service an app: what it asks of Postgres is its own time.
  DD_TRACE_REMOVE_INTEGRATION_SERVICE_NAMES_ENABLED: 'true',
  DD_TRACE_PARTIAL_FLUSH_MIN_SPANS: '300',
  DD_TRACE_RATE_LIMIT: '100',
};

/**
 * Rates by path, first match wins: asked for by machines every few seconds, or written by every sandbox all the time,
 * heartbeats included.
 */
const BY_PATH = [
  { path: '/alive', rate: 0 },
  { path: '/ready', rate: 0 },
  { path: '/metrics', rate: 0 },
  { path: '/ingest/', rate: 0.01 },
];
/**
 * Spans that begin a trace only for background work: the poll of a queue, a connection that waits, the watch of a
 * cluster.
 */
const POLLS = ['pg.*', 'http.request', 'fetch', 'undici.*', 'tcp.*'];

/** A number from 0 to 1; 0.1 when there is none. */
function rateOf(text) {
  const rate = Number(text ?? '');
  return text !== undefined && text !== '' && rate >= 0 && rate <= 1 ? rate : 0.1;
}

/**
 * Rules of sampling in dd-trace's form, for traces that begin here. A path without a rate is recognized by its tag: the
 * route is not known yet when the decision falls.
 */
export function samplingRules(sampleRate, keepsFailures) {
  return [
    // Of a request it is decided before it has a span.
    ...(keepsFailures ? [] : [{ name: 'web.request', sample_rate: 1 }]),
    ...BY_PATH.map(({ path, rate }) => ({ tags: { 'http.url': `*${path}*` }, sample_rate: rate })),
    ...POLLS.map((name) => ({ name, sample_rate: 0 })),
    { sample_rate: sampleRate },
    // Otherwise the agent gets every trace, to count it and throw it away: nine of ten spans would be written and sent
    // for what /metrics says already.
  ].map((rule) => ({ ...rule, discard: true }));
}

/** Share of a path's requests of which the trace is sent. */
export function rateOfPath(path, sampleRate) {
  return BY_PATH.find((one) => path.includes(one.path))?.rate ?? sampleRate;
}

/**
 * Whether an exporter gets these spans of one trace for more than to count them: the decision came with the request, or
 * was made for a failure.
 */
export function isKept(spans) {
  const priority = spans[0]?.metrics?.['_sampling_priority_v1'];
  return priority === undefined || priority > 0;
}

/** Whether a request gets spans: as who sent it has decided, else by chance. */
export function isRequestSampled(headers, url, sampleRate, random = Math.random) {
  const given = TRACEPARENT.exec(headers.traceparent ?? '');
  return given === null
    ? random() < rateOfPath(url.split('?')[0], sampleRate)
    : (Number.parseInt(given[4], 16) & 1) === 1;
}

/**
 * Fills in what `env` has not. `keepsFailures`: each request has spans, and those of one that fails are sent although
 * it was not sampled.
 */
export function applySettings(env) {
  const sampleRate = rateOf(env.DD_TRACE_SAMPLE_RATE);
  const keepsFailures = env.SLIPWAY_TRACES_KEEP_FAILURES === 'true';
  for (const [name, value] of Object.entries(VARIABLES)) env[name] ??= value;
  env.DD_TRACE_SAMPLING_RULES ??= JSON.stringify(samplingRules(sampleRate, keepsFailures));
  return { sampleRate, keepsFailures };
}

/** Tags that are sent. Everything else stays: messages and stacks of errors, names of browsers, addresses of people. */
const SENT =
  /^(_dd\.|db\.(name|user|type|pool\.)|error\.type$|http\.(method|route|status_code|url)$|messaging\.|network\.destination\.|out\.(host|port)$|slipway\.)/;
const SENT_NAMES = new Set(['component', 'env', 'language', 'runtime-id', 'span.kind', 'version', 'process_id']);
/** How this process was started, and where. */
const NOT_SENT = /^_dd\.(tags\.process|git|code_origin)/;

/**
 * Leaves in each span what docs/operate/datadog.md says is sent. `spans` are changed in place, as an exporter gets
 * them.
 */
export function maskSpans(spans) {
  for (const span of spans) {
    span.span_events = undefined;
    const { meta } = span;
    for (const name of Object.keys(meta))
      if ((!SENT.test(name) && !SENT_NAMES.has(name)) || NOT_SENT.test(name)) delete meta[name];
    const url = meta['http.url'];
    // The path of a request of ours can be a secret, as the address of an incoming webhook is.
    if (url !== undefined)
      meta['http.url'] = meta['span.kind'] === 'client' ? (URL.parse(url)?.origin ?? '') : url.split(/[?#]/)[0];
  }
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

/**
 * What a request from outside may decide: its trace id, so that one id goes from the click to the tool call. Whether
 * the trace is sent is decided here, by chance and not by the id, which the caller chose too. `headers` are changed in
 * place. Of several values the first counts, as for our own ids.
 */
export function decideAtTheEdge(headers, url, sampleRate, random = Math.random) {
  delete headers.tracestate;
  delete headers.baggage;
  const given = headers.traceparent;
  if (given === undefined) return;
  const found = String(given)
    .slice(0, 1_000)
    .split(',')
    .map((value) => TRACEPARENT.exec(value.trim()))
    .find((match) => match !== null && match[1] !== 'ff' && !/^0+$/.test(match[2]) && !/^0+$/.test(match[3]));
  if (found === undefined) delete headers.traceparent;
  else
    headers.traceparent = `00-${found[2]}-${found[3]}-${random() < rateOfPath(url.split('?')[0], sampleRate) ? '01' : '00'}`;
}
