import { describe, expect, it } from '@jest/globals';
import { changesThatBreak } from './api-changes.ts';

type Json = Record<string, unknown>;
interface Parts {
  readonly request?: Json;
  readonly answer?: Json;
  readonly operation?: Json;
}
const user = {
  type: 'object',
  properties: { id: { type: 'string' }, age: { type: 'integer', maximum: 150 }, mood: { enum: ['good', 'bad'] } },
  required: ['id'],
};
const documentOf = ({ request = user, answer = user, operation = {} }: Parts = {}) => ({
  paths: {
    '/people': {
      post: {
        operationId: 'people.create',
        'x-slipway-permission': 'org:read',
        'x-slipway-idempotency': 'keyed',
        parameters: [{ name: 'limit', in: 'query', required: false, schema: { type: 'integer', maximum: 200 } }],
        requestBody: {
          required: true,
          content: { 'application/json': { schema: { $ref: '#/components/schemas/Request' } } },
        },
        responses: {
          201: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Answer' } } } },
          400: {},
        },
        ...operation,
      },
    },
  },
  components: { schemas: { Request: request, Answer: answer } },
});
const withProperty = (name: string, schema: Json | null, required?: readonly string[]): Json => {
  const { [name]: _, ...rest } = user.properties as Record<string, Json>;
  return {
    ...user,
    properties: { ...rest, ...(schema === null ? {} : { [name]: schema }) },
    required: required ?? user.required,
  };
};

describe('changes of the REST document', () => {
  for (const [what, parts, sentence] of [
    ['an operation is gone', { operation: null }, 'is gone'],
    ['a field of an answer is gone', { answer: withProperty('age', null) }, 'answer.age is gone'],
    [
      'a field of an answer is another type',
      { answer: withProperty('age', { type: 'string' }) },
      'answer.age was integer and is string',
    ],
    [
      'a field of an answer may be null',
      { answer: withProperty('id', { anyOf: [{ type: 'string' }, { type: 'null' }] }) },
      'answer.id was string and is string or null',
    ],
    [
      'a field of an answer is not always there',
      { answer: { ...user, required: [] } },
      'answer.id is not always there any more',
    ],
    [
      'a new field of an answer does not say what its absence means',
      { answer: withProperty('note', { type: 'string' }, ['id', 'note']) },
      'answer.note is new and has no default: during an upgrade a page has answers of the released version, too',
    ],
    ['a field of a request is gone', { request: withProperty('age', null) }, 'body.age is gone'],
    [
      'a new field must be sent',
      { request: withProperty('note', { type: 'string' }, ['id', 'note']) },
      'body.note must be sent',
    ],
    [
      'a value is no longer taken',
      { request: withProperty('mood', { enum: ['good'] }) },
      'body.mood does not take "bad" any more',
    ],
    [
      'a limit is lower',
      { request: withProperty('age', { type: 'integer', maximum: 100 }) },
      'body.age has a lower maximum',
    ],
    ['a parameter is gone', { operation: { parameters: [] } }, 'parameter query limit is gone'],
    [
      'a parameter must be sent',
      { operation: { parameters: [{ name: 'limit', in: 'query', required: true, schema: { type: 'integer' } }] } },
      'parameter query limit must be sent',
    ],
    [
      'another permission is needed',
      { operation: { 'x-slipway-permission': 'org:write' } },
      'x-slipway-permission was org:read and is org:write',
    ],
    ['it cannot be repeated', { operation: { 'x-slipway-idempotency': 'none' } }, 'cannot be repeated any more'],
    ['the success is another', { operation: { responses: { 202: {} } } }, 'does not answer 201 any more'],
  ] as ReadonlyArray<readonly [string, Omit<Parts, 'operation'> & { operation?: Json | null }, string]>)
    it(`break when ${what}`, () => {
      const now = parts.operation === null ? { ...documentOf(), paths: {} } : documentOf(parts as Parts);
      expect(changesThatBreak(documentOf(), now)).toEqual([`POST /people: ${sentence}`]);
    });

  it('break nothing when something is added that need not be sent, or an answer says more', () => {
    const request = { ...withProperty('note', { type: 'string' }), required: [] };
    const answer = withProperty('mood', { enum: ['good', 'bad', 'odd'] });
    const operation = {
      parameters: [
        { name: 'limit', in: 'query', required: false, schema: { type: 'integer', maximum: 500 } },
        { name: 'sort', in: 'query', required: false, schema: {} },
      ],
    };
    expect(changesThatBreak(documentOf(), documentOf({ request, answer, operation }))).toEqual([]);
    const answered = withProperty('note', { type: 'string', default: 'none' }, ['id', 'note']);
    expect(changesThatBreak(documentOf(), documentOf({ answer: answered }))).toEqual([]);
    expect(changesThatBreak(documentOf(), documentOf())).toEqual([]);
  });
});
