import type { Dialect } from './dialect.js';
import type { Asked, Exchange, Target } from './exchange.js';
import { openExchange } from './open-exchange.js';
import { readRoutingFields } from './routing-fields.js';
import type { Spoken } from './translators.js';

export const SPOKEN: readonly Spoken[] = ['chat', 'responses', 'messages'];

export function testAsked(dialect: Dialect, request: object | Buffer, headers: Record<string, string> = {}): Asked {
  const body = Buffer.isBuffer(request) ? request : Buffer.from(JSON.stringify(request));
  const fields = readRoutingFields(body, dialect);
  return {
    dialect,
    body,
    fields,
    stream: fields.stream,
    headers,
    trace: { traceparent: '00-00000000000000000000000000000001-0000000000000001-01' },
  };
}

/** A target of one dialect, which is Claude's where that is messages. */
export function testTarget(spoken: Dialect, more: Partial<Target> = {}): Target {
  return {
    provider: spoken === 'messages' ? 'anthropic' : 'openai',
    baseUrl: 'https://provider.example/v1',
    apiKey: 'secret',
    model: spoken === 'messages' ? 'claude-sonnet-4-5-20250929' : 'gpt-5.2',
    speaks: [spoken],
    ...more,
  };
}

export function testExchange(caller: Dialect, request: object, spoken: Dialect, more: Partial<Target> = {}): Exchange {
  return openExchange(testAsked(caller, request), testTarget(spoken, more));
}

/** What the caller gets for a stream that comes in these pieces. */
export function said(answer: Exchange['answer'], bytes: Buffer, places: readonly number[] = []): string {
  const pieces = [...places, bytes.length].map((place, index) =>
    answer.push(bytes.subarray(places[index - 1] ?? 0, place)),
  );
  return Buffer.concat([...pieces, answer.end()].filter((piece): piece is Buffer => piece !== null)).toString('utf8');
}
