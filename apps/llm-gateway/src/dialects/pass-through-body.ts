import { SlipwayError } from '@slipway/errors';
import type { Dialect } from './exchange.js';
import { listOf, objectOf, parseObject } from './json.js';
import type { RoutingFields, Span } from './routing-fields.js';
import { isForeign, mayHoldForeignSignatures } from './signatures.js';

/**
 * The caller's body for a provider of the same dialect: the very same bytes but for the model's name and, in a stream of chat, the wish for its counts.
 * One copy at most, whatever is changed.
 */
export function bodyFor(
  body: Buffer,
  fields: Pick<RoutingFields, 'model' | 'modelAt' | 'streamOptions' | 'inside'>,
  model: string,
  askForUsage: boolean,
): Buffer {
  const changes: { readonly at: Span; readonly to: Buffer }[] = [];
  if (model !== fields.model) changes.push({ at: fields.modelAt, to: Buffer.from(JSON.stringify(model)) });
  if (askForUsage) {
    const { streamOptions, inside } = fields;
    if (streamOptions === null) changes.push({ at: { start: inside, end: inside }, to: ASK });
    else {
      const options = withUsage(body.toString('utf8', streamOptions.start, streamOptions.end));
      if (options !== null) changes.push({ at: streamOptions, to: options });
    }
  }
  if (changes.length === 0) return body;
  changes.sort((a, b) => a.at.start - b.at.start);
  const pieces: Buffer[] = [];
  let from = 0;
  for (const { at, to } of changes) {
    pieces.push(body.subarray(from, at.start), to);
    from = at.end;
  }
  pieces.push(body.subarray(from));
  return Buffer.concat(pieces);
}

const ASK = Buffer.from('"stream_options":{"include_usage":true},');

/** `null`: it asks already. */
function withUsage(options: string): Buffer | null {
  let given: unknown;
  try {
    given = JSON.parse(options);
  } catch {
    throw new SlipwayError('request.not-json', 'The body is not a JSON object: the value of stream_options cannot be read.');
  }
  if (typeof given !== 'object' || Array.isArray(given)) throw new SlipwayError('request.invalid', 'stream_options: an object');
  const object = objectOf(given);
  return object?.['include_usage'] === true ? null : Buffer.from(JSON.stringify({ ...object, include_usage: true }));
}

/**
 * The body without the reasoning that providers of other dialects signed, in a conversation that goes on with another model: its provider would refuse it. All
 * other bodies are handed back as they are, after one look for the mark.
 */
export function withoutForeignReasoning(body: Buffer, dialect: Dialect): Buffer {
  if (!mayHoldForeignSignatures(body)) return body;
  const request = parseObject(body.toString('utf8'));
  if (request === null) return body;
  if (dialect === 'responses') {
    const input = listOf(request['input']).filter((item) => !isForeign(objectOf(item)?.['encrypted_content']));
    return Buffer.from(JSON.stringify(Array.isArray(request['input']) ? { ...request, input } : request));
  }
  const messages = listOf(request['messages']).map((value) => {
    const message = objectOf(value);
    if (message === null) return value;
    const { content, thinking_blocks: blocks, tool_calls: calls } = message;
    return {
      ...message,
      ...(Array.isArray(content) ? { content: content.filter(isOwn).map(withoutSignature) } : {}),
      ...(Array.isArray(blocks) ? { thinking_blocks: blocks.filter(isOwn) } : {}),
      ...(Array.isArray(calls) ? { tool_calls: calls.map(withoutSignature) } : {}),
    };
  });
  return Buffer.from(JSON.stringify({ ...request, messages }));
}

/** LiteLLM's additions to what the model said in chat. */
const ADDITIONS: ReadonlySet<string> = new Set(['thinking_blocks', 'reasoning_content']);

/** A body of chat without what was added to the answers of other models, for a provider that refuses fields which it does not know. */
export function withoutAdditions(body: Buffer): Buffer {
  if (!body.includes('thinking_blocks"') && !body.includes('reasoning_content"')) return body;
  const request = parseObject(body.toString('utf8'));
  if (request === null) return body;
  const messages = listOf(request['messages']).map((value) => {
    const message = objectOf(value);
    return message === null ? value : Object.fromEntries(Object.entries(message).filter(([name]) => !ADDITIONS.has(name)));
  });
  return Buffer.from(JSON.stringify({ ...request, messages }));
}

function isOwn(value: unknown): boolean {
  const block = objectOf(value);
  if (block?.['type'] === 'thinking') return !isForeign(block['signature']);
  return block?.['type'] !== 'redacted_thinking' || !isForeign(block['data']);
}

/** A call keeps all but what signs it. */
function withoutSignature(value: unknown): unknown {
  const call = objectOf(value);
  if (call !== null && isForeign(call['signature'])) return Object.fromEntries(Object.entries(call).filter(([name]) => name !== 'signature'));
  const signature = objectOf(objectOf(call?.['extra_content'])?.['google'])?.['thought_signature'];
  return call !== null && isForeign(signature) ? Object.fromEntries(Object.entries(call).filter(([name]) => name !== 'extra_content')) : value;
}
