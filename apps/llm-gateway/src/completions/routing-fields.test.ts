import { describe, it } from 'node:test';
import type { SlipwayError } from '@slipway/errors';
import { expect } from 'expect';
import fc from 'fast-check';
import { askForUsage, readRoutingFields } from './routing-fields.js';

const codeOf = (body: string | Buffer): string => {
  try {
    readRoutingFields(Buffer.from(body));
    return 'ok';
  } catch (error) {
    return (error as SlipwayError).code;
  }
};

const request = fc.record({ model: fc.string({ minLength: 1, maxLength: 50 }), messages: fc.array(fc.jsonValue()) }, { requiredKeys: ['model', 'messages'] });

describe('readRoutingFields', () => {
  it('reads the same model and stream as JSON.parse, from any valid body', () => {
    fc.assert(
      fc.property(
        request,
        fc.option(fc.boolean(), { nil: undefined }),
        fc.dictionary(fc.string(), fc.jsonValue()),
        fc.constantFrom(undefined, 1, '\t'),
        (base, stream, extra, space) => {
          const value = { ...extra, ...base, ...(stream === undefined ? {} : { stream }) };
          fc.pre(Object.hasOwn(value, 'stream') === (stream !== undefined) && !Object.hasOwn(extra, 'stream_options'));
          const fields = readRoutingFields(Buffer.from(JSON.stringify(value, null, space)));
          expect(fields.model).toBe(base.model);
          expect(fields.stream).toBe(stream ?? false);
        },
      ),
    );
  });

  it('never takes a field of a nested object or of a string for its own', () => {
    const fields = readRoutingFields(Buffer.from('{"a":{"model":"x","b":["}","{\\"model\\":\\"y\\"}"]},"messages":[{"model":"z"}],"model":"right"}'));
    expect(fields.model).toBe('right');
  });

  it('refuses a routing field that is there twice, also when its name is written with an escape', () => {
    expect(codeOf('{"model":"a","messages":[],"model":"b"}')).toBe('request.invalid');
    expect(codeOf('{"model":"a","messages":[],"mod\\u0065l":"b"}')).toBe('request.invalid');
  });

  it('takes a million levels without running out of stack', () => {
    expect(codeOf(`{"model":"a","messages":[],"x":${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}}`)).toBe('ok');
    expect(codeOf(`{"model":"a","messages":${'['.repeat(1_000_000)}}`)).toBe('request.not-json');
  });

  it('answers any bytes with fields or a code, never with another error', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => expect(['ok', 'request.not-json', 'request.invalid']).toContain(codeOf(Buffer.from(bytes)))),
    );
    fc.assert(
      fc.property(request, fc.nat(), fc.nat(255), (base, at, byte) => {
        const body = Buffer.from(JSON.stringify({ ...base, stream: true }));
        body[at % body.length] = byte;
        expect(['ok', 'request.not-json', 'request.invalid']).toContain(codeOf(body));
      }),
      { numRuns: 500 },
    );
  });

  it('says what is missing', () => {
    for (const [body, code] of [
      ['', 'request.not-json'],
      ['[]', 'request.not-json'],
      ['{}', 'request.invalid'],
      ['{"model":1,"messages":[]}', 'request.invalid'],
      ['{"model":"a"}', 'request.invalid'],
      ['{"model":"a","messages":"x"}', 'request.invalid'],
      ['{"model":"a","messages":[],"stream":"yes"}', 'request.invalid'],
      ['{"model":"a","messages":[]} x', 'request.not-json'],
      ['{"model":"a","messages":[]', 'request.not-json'],
    ] as const)
      expect([body, codeOf(body)]).toEqual([body, code]);
  });
});

describe('askForUsage', () => {
  it('changes nothing but include_usage', () => {
    fc.assert(
      fc.property(request, fc.option(fc.dictionary(fc.string(), fc.jsonValue(), { maxKeys: 3 }), { nil: undefined }), (base, options) => {
        const value = { ...base, stream: true, ...(options === undefined ? {} : { stream_options: options }) };
        const body = Buffer.from(JSON.stringify(value));
        const asked = JSON.parse(askForUsage(body, readRoutingFields(body)).toString());
        expect(asked).toEqual(JSON.parse(JSON.stringify({ ...value, stream_options: { ...options, include_usage: true } })));
      }),
    );
  });

  it('leaves a body that already asks as it is, byte for byte', () => {
    const body = Buffer.from('{ "model":"a", "stream":true,"stream_options" : {"include_usage":true},"messages":[] }');
    expect(askForUsage(body, readRoutingFields(body))).toBe(body);
  });
});
