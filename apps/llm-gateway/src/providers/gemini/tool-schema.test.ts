import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { geminiSchema } from './tool-schema.js';

describe('a schema for Gemini', () => {
  it('keeps what Gemini reads as it is', () => {
    const schema = {
      type: 'object',
      description: 'Where to look',
      properties: {
        path: { type: 'string', description: 'A path', format: 'date-time' },
        kind: { type: ['string', 'null'], enum: ['file', 'folder'] },
        lines: { type: 'array', items: { type: 'integer', minimum: 1 }, minItems: 1, maxItems: 5 },
        either: { anyOf: [{ type: 'string' }, { type: 'number' }] },
      },
      required: ['path'],
      additionalProperties: false,
      propertyOrdering: ['path', 'kind'],
    };
    expect(geminiSchema(schema)).toEqual(schema);
  });

  it('says in its words what Gemini knows by others', () => {
    expect(geminiSchema({ const: 'one' })).toEqual({ type: 'string', enum: ['one'] });
    expect(geminiSchema({ const: 1 })).toEqual({ enum: [1] });
    expect(geminiSchema({ oneOf: [{ type: 'string' }, { type: 'null' }] })).toEqual({
      anyOf: [{ type: 'string' }, { type: 'null' }],
    });
    expect(geminiSchema({ type: 'integer', exclusiveMinimum: 0, exclusiveMaximum: 10 })).toEqual({
      type: 'integer',
      minimum: 1,
      maximum: 9,
    });
    expect(geminiSchema({ type: 'number', exclusiveMinimum: 0 })).toEqual({ type: 'number', minimum: 0 });
    expect(geminiSchema({ type: 'array', items: [{ type: 'string' }, true] })).toEqual({
      type: 'array',
      prefixItems: [{ type: 'string' }, {}],
    });
    expect(
      geminiSchema({
        definitions: { node: { type: 'string', pattern: 'x' } },
        properties: { n: { $ref: '#/definitions/node', description: 'no' } },
      }),
    ).toEqual({
      $defs: { node: { type: 'string', description: '(pattern: "x")' } },
      properties: { n: { $ref: '#/$defs/node' } },
      type: 'object',
    });
    expect(
      geminiSchema({
        type: 'object',
        allOf: [
          { properties: { a: { type: 'string' } }, required: ['a'] },
          { properties: { b: { const: 2 } }, required: ['b'] },
        ],
      }),
    ).toEqual({ type: 'object', properties: { a: { type: 'string' }, b: { enum: [2] } }, required: ['a', 'b'] });
  });

  it('says a type where only its members are said, and demands no member that is not described', () => {
    expect(geminiSchema({ properties: { a: { items: {} }, b: { enum: ['x'] } }, required: ['a', 'gone'] })).toEqual({
      type: 'object',
      properties: { a: { type: 'array', items: {} }, b: { type: 'string', enum: ['x'] } },
      required: ['a'],
    });
    expect(geminiSchema({ type: 'object', required: ['gone'] })).toEqual({ type: 'object' });
  });

  it('moves other keywords to the description, and leaves out what would be refused', () => {
    expect(
      geminiSchema({
        type: 'string',
        description: 'An address',
        format: 'uri',
        pattern: '^https:',
        minLength: 1,
        default: 'x',
        examples: ['y'],
      }),
    ).toEqual({
      type: 'string',
      description: 'An address (format: "uri", pattern: "^https:", minLength: 1, default: "x")',
    });
    expect(
      geminiSchema({
        type: 'boolean',
        enum: [true],
        not: {},
        if: {},
        patternProperties: {},
        $schema: 'x',
        $comment: 'y',
      }),
    ).toEqual({ type: 'boolean' });
  });

  it('has nothing but what Gemini reads, whatever was given, and forbids nesting without end', () => {
    const known = new Set(
      '$defs $ref $anchor type format title description enum items prefixItems minItems maxItems minimum maximum anyOf properties additionalProperties required propertyOrdering'.split(
        ' ',
      ),
    );
    const names = fc.constantFrom(
      'type',
      'properties',
      'items',
      'anyOf',
      'oneOf',
      'allOf',
      'not',
      'const',
      'enum',
      '$ref',
      '$defs',
      'required',
      'default',
      'title',
    );
    const any = fc.letrec((tie) => ({
      node: fc.oneof(
        { maxDepth: 4 },
        fc.jsonValue({ maxDepth: 1 }),
        fc.array(tie('node'), { maxLength: 2 }),
        fc.dictionary(names, tie('node'), { maxKeys: 4 }),
      ),
    })).node;
    fc.assert(
      fc.property(any, (schema) =>
        expect(Object.keys(geminiSchema(schema)).filter((name) => !known.has(name))).toEqual([]),
      ),
    );
    let deep: object = { type: 'string' };
    for (let depth = 0; depth < 10_000; depth += 1) deep = { items: deep };
    expect(() => geminiSchema(deep)).toThrow(/more than 64 deep/);
  });
});
