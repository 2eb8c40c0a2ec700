import { describe, expect, it } from '@jest/globals';
import {
  applySettings,
  decideAtTheEdge,
  isKept,
  isRequestSampled,
  maskSpans,
  rateOfPath,
  samplingRules,
} from '../../deploy/images/apps/datadog/settings.mjs';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';

describe('settings of dd-trace', () => {
  it('send nothing home, take nothing from the vendor, and give way to what is set', () => {
    const env: Record<string, string | undefined> = { DD_TRACE_RATE_LIMIT: '7', DD_TRACE_SAMPLE_RATE: '0.5' };
    expect(applySettings(env)).toEqual({ sampleRate: 0.5, keepsFailures: false });
    expect(env).toMatchObject({
      DD_INSTRUMENTATION_TELEMETRY_ENABLED: 'false',
      DD_REMOTE_CONFIGURATION_ENABLED: 'false',
      DD_TRACE_RATE_LIMIT: '7',
    });
    expect(env['DD_TRACE_DISABLED_INSTRUMENTATIONS']?.split(',')).toEqual(
      expect.arrayContaining(['net', 'dns', 'fs', 'child_process', 'ws', 'ioredis', 'openai']),
    );
    for (const wrong of [undefined, '', 'half', '-1', '2'])
      expect(applySettings({ DD_TRACE_SAMPLE_RATE: wrong }).sampleRate).toBe(0.1);
  });

  it('send no probe and no poll, one of a hundred batches of events, and the rate of everything else', () => {
    expect(
      ['/alive', '/ready', '/metrics', '/ingest/v1/conversations/x/events', '/api/v1/me'].map((path) =>
        rateOfPath(path, 0.3),
      ),
    ).toEqual([0, 0, 0, 0.01, 0.3]);
    const rules = samplingRules(0.3, true);
    expect(rules.at(-1)).toEqual({ sample_rate: 0.3, discard: true });
    // What is not sampled is not sent to be counted either.
    expect(rules.every(({ discard }) => discard)).toBe(true);
    expect(
      [2, 1, 0, -1, undefined].map((priority) =>
        isKept([{ metrics: priority === undefined ? {} : { _sampling_priority_v1: priority } }]),
      ),
    ).toEqual([true, true, false, false, true]);
    expect(rules.map(({ name }) => name)).toEqual(expect.arrayContaining(['pg.*', 'http.request']));
  });
});

describe('a request', () => {
  it('has spans when who sent it has them, or else by chance, and then its trace is sent for sure', () => {
    const sampled = (traceparent: string | undefined, chance: number, url = '/api/v1/me?x=/alive'): boolean =>
      isRequestSampled(traceparent === undefined ? {} : { traceparent }, url, 0.1, () => chance);
    expect([sampled(`00-${TRACE}-${SPAN}-01`, 0.99), sampled(`00-${TRACE}-${SPAN}-00`, 0)]).toEqual([true, false]);
    expect([
      sampled(undefined, 0.05),
      sampled(undefined, 0.2),
      sampled(undefined, 0.05, '/ingest/v1/x'),
      sampled(undefined, 0, '/ready'),
    ]).toEqual([...[true, false, false, false]]);
    expect(samplingRules(0.3, false)[0]).toEqual({ name: 'web.request', sample_rate: 1, discard: true });
    expect(samplingRules(0.3, true)[0]).not.toHaveProperty('name');
  });
});

describe('a request at the public edge', () => {
  const decided = (
    headers: Record<string, string>,
    chance: number,
    url = '/api/v1/me?x=/alive',
  ): Record<string, string> => {
    const changed = { ...headers };
    decideAtTheEdge(changed, url, 0.1, () => chance);
    return changed;
  };

  it('keeps its trace id, and is sampled by chance and not by its own flag', () => {
    for (const flags of ['00', '01', 'ff']) {
      const given = { traceparent: `00-${TRACE}-${SPAN}-${flags}`, tracestate: 'dd=s:2;t.dm:-4', baggage: 'user.id=1' };
      expect(decided(given, 0.05)).toEqual({ traceparent: `00-${TRACE}-${SPAN}-01` });
      expect(decided(given, 0.2)).toEqual({ traceparent: `00-${TRACE}-${SPAN}-00` });
    }
    expect(decided({ traceparent: `00-${TRACE}-${SPAN}-01` }, 0.05, '/ingest/v1/x')).toEqual({
      traceparent: `00-${TRACE}-${SPAN}-00`,
    });
  });

  for (const [what, traceparent] of [
    ['nonsense', 'nonsense'],
    ['zeros', `00-${'0'.repeat(32)}-${SPAN}-01`],
    ['the version that is none', `ff-${TRACE}-${SPAN}-01`],
    ['a hundred thousand commas', ','.repeat(100_000)],
  ] as const)
    it(`begins a trace for ${what}`, () => expect(decided({ traceparent, tracestate: 'a=b' }, 0)).toEqual({}));

  it('counts the first of several values, as for our own ids', () =>
    expect(decided({ traceparent: `nonsense, 00-${TRACE}-${SPAN}-00, 00-${'1'.repeat(32)}-${SPAN}-01` }, 0)).toEqual({
      traceparent: `00-${TRACE}-${SPAN}-01`,
    }));
});

describe('a span that is sent', () => {
  it('has no message, stack, query, address or browser, and of a request of ours the host alone', () => {
    const server = {
      meta: {
        'http.url': 'https://slipway.test/oauth/callback?code=secret#x', 'span.kind': 'server', 'http.useragent': 'Mozilla', 'error.message': 'a prompt', 'error.stack': 'at /opt',
        'error.type': 'Error', 'network.client.ip': '192.0.2.1', '_dd.p.tid': '00', '_dd.tags.process': 'entrypoint', 'usr.id': 'u', 'http.request.headers.cookie': 'c',
      },
      span_events: [{ name: 'exception' }],
    }; // biome-ignore format: a list reads better in lines
    const client = {
      meta: {
        'http.url': 'https://user:password@hooks.example.com:8443/services/T0/B0/secret',
        'span.kind': 'client',
        component: 'undici',
      },
    };
    const plain = { meta: { 'http.url': 'https://hooks.example.com:8443/services/secret', 'span.kind': 'client' } };
    maskSpans([server, client, plain]);
    expect(server).toEqual({
      meta: {
        'http.url': 'https://slipway.test/oauth/callback',
        'span.kind': 'server',
        'error.type': 'Error',
        '_dd.p.tid': '00',
      },
      span_events: undefined,
    });
    for (const { meta } of [client, plain]) expect(meta['http.url']).toBe('https://hooks.example.com:8443');
  });
});
