import { afterEach, describe, expect, it } from '@jest/globals';
import { runInContext, traceIdOf } from './context.js';
import { currentTraceparent, type Tracing, traceHeaders, useTracing } from './tracing/tracing.js';

const ID = '0af7651916cd43dd8448eb211c80319c';
const ONE = `00-${ID}-b7ad6b7169203331-01`;
const OTHER = '00-11111111111111111111111111111111-2222222222222222-01';

describe('the trace of a request', () => {
  for (const [what, given] of [
    ['one header', ONE],
    ['a second header, which a tracer added and Node joined to the first', `${ONE}, ${OTHER}`],
    ['a first value that is none', `nonsense, ${ONE}`],
    ['values in a list', [ONE, OTHER]],
    ['a later version with more fields', `01-${ID}-b7ad6b7169203331-01-more`],
  ] as const)
    it(`is kept from ${what}`, () => expect(traceIdOf(given)).toBe(ID));

  for (const [what, given] of [
    ['no header', undefined],
    ['an id of zeros', `00-${'0'.repeat(32)}-b7ad6b7169203331-01`],
    ['the version that is none', `ff-${ID}-b7ad6b7169203331-01`],
    ['another form', `00-${ID.toUpperCase()}-b7ad6b7169203331-01`],
    ['a hundred thousand commas', ','.repeat(100_000)],
  ] as const)
    it(`is a new one with ${what}`, () => {
      const id = traceIdOf(given);
      expect(id).toMatch(/^[0-9a-f]{32}$/);
      expect(traceIdOf(given)).not.toBe(id);
    });

  it('goes on in what the work calls', () => {
    expect(traceIdOf(runInContext({ traceId: ID }, () => currentTraceparent()))).toBe(ID);
  });
});

describe('the headers of a request', () => {
  const SPAN = { traceId: ID, spanId: 'b7ad6b7169203331', sampled: false };
  const tracer = (active: Tracing['active']): Tracing => ({
    ...{
      active,
      isUnsampled: () => active === NO_SPANS,
      span: (_name, _options, work) => work(),
      logFields: () => ({}),
      flush: async () => {},
    },
  });
  const NO_SPANS = (): undefined => undefined;
  afterEach(() => useTracing(null));

  it('make a peer create no spans where this side makes none', () => {
    useTracing(tracer(NO_SPANS));
    expect(traceHeaders(ID).traceparent).toMatch(new RegExp(`^00-${ID}-[0-9a-f]{16}-00$`));
  });

  it('carry the trace of the work and a span of their own without a tracer', () => {
    const [first, second] = runInContext({ traceId: ID }, () => [traceHeaders(), traceHeaders()]);
    expect(first.traceparent).toMatch(new RegExp(`^00-${ID}-[0-9a-f]{16}-01$`));
    expect(second.traceparent).not.toBe(first.traceparent);
  });

  it('carry the span of the tracer, and whether its trace is sent', () => {
    useTracing(tracer(() => SPAN));
    expect(runInContext({ traceId: ID }, () => traceHeaders())).toEqual({
      traceparent: `00-${ID}-b7ad6b7169203331-00`,
    });
    useTracing(tracer(() => ({ ...SPAN, sampled: true })));
    expect(traceHeaders()).toEqual({ traceparent: ONE });
  });

  it('carry the trace of the work where the tracer has no span, or one of another trace', () => {
    for (const active of [() => undefined, () => SPAN]) {
      useTracing(tracer(active));
      expect(traceHeaders('1'.repeat(32)).traceparent).toMatch(/^00-1{32}-/);
      expect(runInContext({ traceId: '2'.repeat(32) }, () => currentTraceparent())).toMatch(/^00-2{32}-/);
    }
  });
});
