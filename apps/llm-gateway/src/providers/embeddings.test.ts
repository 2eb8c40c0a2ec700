import { describe, expect, it } from '@jest/globals';
import type { Exchange, Target } from '../wire/exchange.js';
import { openExchange } from '../wire/open-exchange.js';
import { readRoutingFields } from '../wire/routing-fields.js';
import { golden } from './test-golden.js';

const TARGETS = {
  gemini: {
    provider: 'gemini',
    baseUrl: 'https://g.example/v1beta',
    apiKey: 'a-key',
    model: 'gemini-embedding-001',
    speaks: [],
  },
  titan: {
    provider: 'bedrock',
    baseUrl: 'https://b.example',
    apiKey: 'a-key',
    model: 'amazon.titan-embed-text-v2:0',
    speaks: [],
    region: 'eu-central-1',
  },
  cohere: {
    provider: 'bedrock',
    baseUrl: 'https://b.example',
    apiKey: 'a-key',
    model: 'eu.cohere.embed-v4:0',
    speaks: [],
    region: 'eu-central-1',
  },
  claude: {
    provider: 'bedrock',
    baseUrl: 'https://b.example',
    apiKey: 'a-key',
    model: 'anthropic.claude',
    speaks: [],
    region: 'eu-central-1',
  },
} as const satisfies Record<string, Target>;

function open(target: Target, asked: object): Exchange {
  const body = Buffer.from(JSON.stringify({ model: 'vectors', ...asked }));
  return openExchange(
    {
      dialect: 'embeddings',
      body,
      fields: readRoutingFields(body, 'embeddings'),
      stream: false,
      headers: {},
      trace: { traceparent: '00-x' },
    },
    target,
  );
}
const sent = ({ path, body }: Exchange): unknown => ({ path, body: JSON.parse(body.toString('utf8')) });
const said = (
  exchange: Exchange,
  name: string,
): { data: Array<{ index: number; embedding: unknown }>; usage: unknown; model: string } =>
  JSON.parse(exchange.answer.whole(golden(name)).toString('utf8'));

describe('embeddings of Gemini', () => {
  it('are asked for in one batch, in so many dimensions, and answered as OpenAI does', () => {
    const exchange = open(TARGETS.gemini, { input: ['one', 'Grüße 🎈'], dimensions: 3 });
    const request = (text: string) => ({
      model: 'models/gemini-embedding-001',
      content: { parts: [{ text }] },
      outputDimensionality: 3,
    });
    expect(sent(exchange)).toEqual({
      path: '/v1beta/models/gemini-embedding-001:batchEmbedContents',
      body: { requests: [request('one'), request('Grüße 🎈')] },
    });
    expect(exchange.headers['x-goog-api-key']).toBe('a-key');
    expect(said(exchange, 'gemini/embeds.json')).toEqual({
      object: 'list',
      model: 'vectors',
      data: [
        { object: 'embedding', index: 0, embedding: [0.013168523, -0.008711934, 0.046826612] },
        { object: 'embedding', index: 1, embedding: [-0.020386742, 0.012475892, 0.5] },
      ],
      usage: { prompt_tokens: 7, total_tokens: 7 },
    });
    expect(exchange.answer.usage).toMatchObject({ promptTokens: 7, completionTokens: 0 });
  });

  it('are given as the bytes of floats to who asks for base64, as OpenAI’s clients do', () => {
    const [first] = said(
      open(TARGETS.gemini, { input: ['one', 'two'], encoding_format: 'base64' }),
      'gemini/embeds.json',
    ).data;
    const bytes = Buffer.from(first?.embedding as string, 'base64');
    expect([bytes.length, bytes.readFloatLE(0)]).toEqual([12, Math.fround(0.013168523)]);
  });
});

describe('embeddings of Bedrock', () => {
  it('of Titan are one text at a time, counted by it', () => {
    const exchange = open(TARGETS.titan, { input: 'one', dimensions: 256 });
    expect(sent(exchange)).toEqual({
      path: '/model/amazon.titan-embed-text-v2%3A0/invoke',
      body: { inputText: 'one', dimensions: 256 },
    });
    expect(said(exchange, 'bedrock/embeds-titan.json')).toMatchObject({
      data: [{ index: 0, embedding: [-0.095, 0.0321, 0.0118] }],
      usage: { prompt_tokens: 3 },
    });
    expect(() => open(TARGETS.titan, { input: ['one', 'two'] })).toThrow('one text at a time');
  });

  it('of Cohere are a batch with what it is for, in both of its forms, and their tokens are estimated', () => {
    const exchange = open(TARGETS.cohere, { input: ['one', 'two'], dimensions: 3, input_type: 'search_query' });
    expect(sent(exchange)).toEqual({
      path: '/model/eu.cohere.embed-v4%3A0/invoke',
      body: { texts: ['one', 'two'], input_type: 'search_query', embedding_types: ['float'], output_dimension: 3 },
    });
    for (const form of ['bedrock/embeds-cohere.json', 'bedrock/embeds-cohere-v3.json'])
      expect(
        said(open(TARGETS.cohere, { input: ['one', 'two'] }), form).data.map(({ embedding }) => embedding),
      ).toEqual([
        [0.0162, -0.0334, 0.0211],
        [-0.0051, 0.0408, 0.25],
      ]);
    expect(exchange.answer.usage).toBeNull();
    expect(() => open(TARGETS.cohere, { input: Array.from({ length: 97 }, () => 'x') })).toThrow('96 texts');
  });
});

describe('embeddings that cannot be', () => {
  it('are refused by the name of the field, and of a model that gives none', () => {
    for (const input of [[], '', [1, 2, 3], [[1, 2]], ['a', ''], 5])
      expect(() => open(TARGETS.gemini, { input })).toThrow(/input: /);
    for (const dimensions of [0, 1.5, 'many'])
      expect(() => open(TARGETS.gemini, { input: 'x', dimensions })).toThrow(/dimensions: /);
    expect(() => open(TARGETS.claude, { input: 'x' })).toThrow('gives no embeddings');
  });

  it('are no answer when a vector is missing, empty or none', () => {
    for (const answer of [
      '{}',
      '[]',
      'no',
      '{"embeddings":[{"values":[1]}]}',
      '{"embeddings":[{"values":[1]},{"values":["x"]}]}',
      '{"embeddings":[{"values":[]},{"values":[1]}]}',
    ])
      expect(() => open(TARGETS.gemini, { input: ['one', 'two'] }).answer.whole(Buffer.from(answer))).toThrow(
        'does not hold a vector for each text',
      );
  });
});
