import { describe, expect, it } from '@jest/globals';
import type { SlipwayError } from '@slipway/errors';
import fc from 'fast-check';
import type { Dialect } from './dialect.js';
import { readRoutingFields } from './routing-fields.js';

const codeOf = (body: string | Buffer, dialect: Dialect = 'chat'): string => {
  try {
    readRoutingFields(Buffer.from(body), dialect);
    return 'ok';
  } catch (error) {
    return (error as SlipwayError).code;
  }
};

const request = fc.record(
  { model: fc.string({ minLength: 1, maxLength: 50 }), messages: fc.array(fc.jsonValue()) },
  { requiredKeys: ['model', 'messages'] },
);
const NAMES = new Set(['stream', 'stream_options', 'max_tokens', 'max_completion_tokens', 'n', 'tools']);

describe('readRoutingFields', () => {
  it('reads the same as JSON.parse, from any valid body', () => {
    fc.assert(
      fc.property(
        request,
        fc.record(
          {
            stream: fc.boolean(),
            max_tokens: fc.integer({ min: 1 }),
            n: fc.integer({ min: 1, max: 8 }),
            tools: fc.array(fc.jsonValue()),
          },
          { requiredKeys: [] },
        ),
        fc.dictionary(fc.string(), fc.jsonValue()),
        fc.constantFrom(undefined, 1, '\t'),
        (base, more, extra, space) => {
          fc.pre(Object.keys(extra).every((name) => !NAMES.has(name)));
          const body = Buffer.from(JSON.stringify({ ...extra, ...base, ...more }, null, space));
          const fields = readRoutingFields(body, 'chat');
          expect([fields.model, fields.stream, fields.maxOutputTokens, fields.choices, fields.tools]).toEqual([
            base.model,
            more.stream ?? false,
            more.max_tokens ?? null,
            more.n ?? 1,
            (more.tools ?? []).length > 0,
          ]);
          expect(JSON.parse(body.toString('utf8', fields.modelAt.start, fields.modelAt.end))).toBe(base.model);
        },
      ),
    );
  });

  it('finds the end of a string of any length and any escapes', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('\\', '"', 'a', '\\"', 'x'.repeat(60), 'ü'), { maxLength: 60 }),
        (pieces) => {
          const text = pieces.join('');
          const body = Buffer.from(JSON.stringify({ messages: [text], [`k${text}`]: text, model: 'm', stream: true }));
          expect(readRoutingFields(body, 'chat')).toMatchObject({ model: 'm', stream: true });
        },
      ),
      { numRuns: 300 },
    );
  });

  it('never takes a field of a nested object or of a string for its own', () => {
    const body = '{"a":{"model":"x","b":["}","{\\"model\\":\\"y\\"}"]},"messages":[{"model":"z"}],"model":"right"}';
    expect(readRoutingFields(Buffer.from(body), 'chat').model).toBe('right');
  });

  it('refuses a routing field that is there twice, also when its name is written with an escape', () => {
    expect(codeOf('{"model":"a","messages":[],"model":"b"}')).toBe('request.invalid');
    expect(codeOf('{"model":"a","messages":[],"mod\\u0065l":"b"}')).toBe('request.invalid');
    expect(codeOf('{"model":"a","messages":[],"max_tokens":1,"max_tokens":100000}')).toBe('request.invalid');
  });

  /**
   * JSON with its members in any order and, at one place of any depth, one of them again, with a name that may be
   * escaped.
   */
  it('refuses a name that any object has twice, at any depth and in any spelling; the same body without it passes', () => {
    const name = fc.constantFrom('type', 'text', 'source', 'a', '', 'ü', '__proto__');
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { depthSize: 'small' },
        fc.constantFrom('1', '"type"', 'null'),
        fc.array(tie('tree') as fc.Arbitrary<string>, { maxLength: 3 }).map((items) => `[${items.join(' ,')}]`),
        fc
          .uniqueArray(fc.tuple(name, tie('tree') as fc.Arbitrary<string>), { maxLength: 30, selector: ([key]) => key })
          .map((members) => `{${members.map(([key, value]) => `${JSON.stringify(key)} : ${value}`).join(', ')}}`),
      ),
    }));
    const spelled = (key: string, escapes: boolean): string =>
      escapes
        ? `"${[...key].map((letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')}"`
        : JSON.stringify(key);
    fc.assert(
      fc.property(
        tree,
        tree,
        name,
        fc.boolean(),
        fc.nat(40),
        fc.nat(5),
        (before, again, key, escapes, others, depth) => {
          const many = Array.from({ length: others }, (_, index) => `"k${index}":${before}`);
          const inside = (members: readonly string[]): string =>
            `{"model":"m","messages":[${'{"a":['.repeat(depth)}{${members.join(',')}}${']}'.repeat(depth)}]}`;
          const once = [...many, `${JSON.stringify(key)}:${before}`];
          expect(codeOf(inside(once))).toBe('ok');
          expect(codeOf(inside([...once, `${spelled(key, escapes)}:${again}`]))).toBe('request.invalid');
          expect(codeOf(inside([`${spelled(key, escapes)}:${again}`, ...once]))).toBe('request.invalid');
        },
      ),
      { numRuns: 300 },
    );
  });

  it('bounds what a hostile body makes it remember', () => {
    const names = (count: number): string => Array.from({ length: count }, (_, index) => `"${index}":0`).join(',');
    expect(codeOf(`{"model":"m","messages":[{${names(19_000)}},{${names(19_000)}}]}`)).toBe('ok');
    expect(codeOf(`{"model":"m","messages":[{${names(21_000)}}]}`)).toBe('request.invalid');
    expect(codeOf(`{"model":"m","messages":[${'{"a":'.repeat(21_000)}`)).toBe('request.invalid');
    expect(codeOf(`{"model":"m","messages":[${'{'.repeat(21_000)}`)).toBe('request.invalid');
  });

  it('takes a million levels without running out of stack', () => {
    expect(codeOf(`{"model":"a","messages":[],"x":${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}}`)).toBe('ok');
    expect(codeOf(`{"model":"a","messages":${'['.repeat(1_000_000)}}`)).toBe('request.not-json');
  });

  it('answers any bytes with fields or a code, never with another error', () => {
    const codes = ['ok', 'request.not-json', 'request.invalid'];
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => expect(codes).toContain(codeOf(Buffer.from(bytes)))),
    );
    fc.assert(
      fc.property(
        request,
        fc.nat(),
        fc.nat(255),
        fc.constantFrom('chat', 'responses', 'messages', 'embeddings'),
        (base, at, byte, dialect) => {
          const body = Buffer.from(JSON.stringify({ ...base, input: 'x', stream: true }));
          body[at % body.length] = byte;
          expect(codes).toContain(codeOf(body, dialect));
        },
      ),
      { numRuns: 500 },
    );
  });

  it('says what is missing or wrong in each dialect', () => {
    for (const [dialect, body, code] of [
      ['chat', '', 'request.not-json'],
      ['chat', '[]', 'request.not-json'],
      ['chat', '{}', 'request.invalid'],
      ['chat', '{"model":1,"messages":[]}', 'request.invalid'],
      ['chat', '{"model":"a"}', 'request.invalid'],
      ['chat', '{"model":"a","messages":"x"}', 'request.invalid'],
      ['chat', '{"model":"a","messages":[],"stream":"yes"}', 'request.invalid'],
      ['chat', '{"model":"a","messages":[],"n":0}', 'request.invalid'],
      ['chat', '{"model":"a","messages":[],"max_tokens":-1}', 'request.invalid'],
      ['chat', '{"model":"a","messages":[],"max_tokens":"9"}', 'request.invalid'],
      ['chat', '{"model":"a","messages":[],"max_tokens":null}', 'ok'],
      ['chat', '{"model":"a","messages":[]} x', 'request.not-json'],
      ['chat', '{"model":"a","messages":[]', 'request.not-json'],
      ['messages', '{"model":"a"}', 'request.invalid'],
      ['messages', '{"model":"a","messages":[],"max_tokens":5}', 'ok'],
      ['responses', '{"model":"a","messages":[]}', 'request.invalid'],
      ['responses', '{"model":"a","input":5}', 'request.invalid'],
      ['responses', '{"model":"a","input":"x"}', 'ok'],
      ['responses', '{"model":"a","input":[]}', 'ok'],
      ['responses', '{"model":"a","input":"x","background":true}', 'request.invalid'],
      ['embeddings', '{"model":"a"}', 'request.invalid'],
      ['embeddings', '{"model":"a","input":[[1,2]]}', 'ok'],
    ] as const)
      expect([dialect, body, codeOf(body, dialect)]).toEqual([dialect, body, code]);
  });

  it('takes the longer of two limits, since the provider may', () => {
    const body = Buffer.from('{"model":"a","messages":[],"max_completion_tokens":5,"max_tokens":9}');
    expect(readRoutingFields(body, 'chat').maxOutputTokens).toBe(9);
    expect(
      readRoutingFields(Buffer.from('{"model":"a","input":"x","max_output_tokens":7}'), 'responses').maxOutputTokens,
    ).toBe(7);
  });
});
