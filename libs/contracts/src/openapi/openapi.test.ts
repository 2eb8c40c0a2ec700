import { describe, expect, it } from '@jest/globals';
import { ERRORS } from '../errors/index.js';
import { COMMON_ERRORS, type Operation, operations } from '../operations/index.js';
import { PERMISSIONS } from '../organizations/index.js';
import { exampleOf } from './example-of.js';
import { errorsOf, openApi } from './index.js';
import type { Json } from './json.js';

const { document, missing } = openApi();
const all = Object.values(operations) as Operation[];
const objectOf = ({ path, method }: Operation): Json =>
  (document['paths'] as Record<string, Record<string, Json>>)[path]?.[method.toLowerCase()] as Json;
const resolve = (value: Json): Json => {
  const name =
    String(value['$ref'] ?? '')
      .split('/')
      .at(-1) ?? '';
  return name === ''
    ? value
    : (((document['components'] as Record<string, Json>)['responses'] as Record<string, Json>)[name] ?? {});
};

describe('the document of the REST API', () => {
  it('has every operation once, with its permission and what a repetition does', () => {
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
    expect(new Set(all.map(({ method, path }) => `${method} ${path.replaceAll(/\{\w+\}/g, '{}')}`)).size).toBe(
      all.length,
    );
    for (const operation of all) {
      const object = objectOf(operation);
      expect(object).toMatchObject({
        operationId: operation.id,
        'x-slipway-permission': operation.permission,
        'x-slipway-idempotency': operation.idempotency,
      });
      expect([null, ...PERMISSIONS]).toContain(object['x-slipway-permission']);
    }
  });

  it('has an example for every request and every success, and each is one that its own schema takes', () =>
    expect(missing).toEqual([]));

  it('has every failure that an operation can answer, under its status, with a problem of each code', () => {
    for (const operation of all) {
      const responses = objectOf(operation)['responses'] as Record<string, Json>;
      expect(errorsOf(operation)).toEqual(expect.arrayContaining([...COMMON_ERRORS]));
      for (const code of errorsOf(operation)) {
        const content = resolve(responses[String(ERRORS[code].status)] ?? {})['content'] as Record<
          string,
          { examples: Record<string, { value: Json }> }
        >;
        expect(content['application/problem+json']?.examples[code]?.value).toMatchObject({
          code,
          status: ERRORS[code].status,
        });
      }
    }
  });

  it('names nothing that is not in it', () => {
    const components = document['components'] as Record<string, Json>;
    const named = [...JSON.stringify(document).matchAll(/"#\/components\/(\w+)\/([^"]+)"/g)];
    expect(named.length).toBeGreaterThan(100);
    for (const [, kind = '', name = ''] of named)
      expect([kind, name, components[kind]?.[name] === undefined]).toEqual([kind, name, false]);
  });

  it('asks for an example rather than make up a text of which nothing is known', () => {
    const schema = { type: 'object', properties: { zyzzyva: { type: 'string' } }, required: ['zyzzyva'] };
    expect(() => exampleOf(schema, {})).toThrow('no example for zyzzyva');
    expect(exampleOf({ ...schema, properties: { zyzzyva: { type: 'string', examples: ['a beetle'] } } }, {})).toEqual({
      zyzzyva: 'a beetle',
    });
    expect(
      exampleOf(
        {
          type: 'object',
          properties: { at: { type: 'string', format: 'date-time' }, n: { type: 'integer', minimum: 5 } },
        },
        {},
      ),
    ).toEqual({
      at: '2026-11-22T09:30:00.000Z',
      n: 5,
    });
  });
});
