import { SlipwayError } from '@slipway/errors';
import type { Dialect } from './dialect.js';
import { listOf, objectOf, parseObject } from './json.js';
import { isSearch } from './offered-fields.js';
import type { RoutingFields, Span } from './routing-fields.js';
import { isForeign, mayHoldForeignSignatures } from './signatures.js';
import type { Traits } from './traits.js';

/** What is put into the place of a part of a body. */
interface Change {
  readonly at: Span;
  readonly to: Buffer;
}

export interface BodyNeeds {
  readonly dialect: Dialect;
  /** As the provider names it. */
  readonly model: string;
  /** A stream of chat is asked for its counts. */
  readonly askForUsage: boolean;
  /** Longest answer of each choice; `null`: as the caller said. Tokens. */
  readonly limit: number | null;
  /** Most searches of the provider's own tool; `null`: it is not offered. */
  readonly searches: number | null;
  readonly traits: Pick<Traits, 'chatLimit' | 'encryptedReasoning' | 'storesChat'>;
}

type Fields = Pick<RoutingFields, 'model' | 'modelAt' | 'streamOptions' | 'inside' | 'at' | 'members'>;

/**
 * The caller's body for a provider of the same dialect: the very same bytes but for the model's name, the limits of the
 * answer and of searches where they must be written, that nothing is stored, and, in a stream of chat, the request for
 * its counts. One copy at most, whatever is changed.
 */
export function bodyFor(body: Buffer, fields: Fields, needs: BodyNeeds): Buffer {
  const changes: Change[] = [];
  const { inside } = fields;
  const insert = (text: string): void =>
    void changes.push({ at: { start: inside, end: inside }, to: Buffer.from(`${text},`) });
  if (needs.model !== fields.model) changes.push({ at: fields.modelAt, to: Buffer.from(JSON.stringify(needs.model)) });
  if (needs.askForUsage) {
    const { streamOptions } = fields;
    if (streamOptions === null) changes.push({ at: { start: inside, end: inside }, to: ASK });
    else {
      const options = withUsage(body.toString('utf8', streamOptions.start, streamOptions.end));
      if (options !== null) changes.push({ at: streamOptions, to: options });
    }
  }
  if (needs.limit !== null) changes.push(...limitChanges(body, fields, { needs, limit: needs.limit, insert }));
  if (needs.searches !== null)
    changes.push(...searchChanges(body, fields, { dialect: needs.dialect, searches: needs.searches, insert }));
  changes.push(...storeChanges(body, fields, needs, insert));
  return edited(body, changes);
}

function edited(body: Buffer, changes: Change[]): Buffer {
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

/** Anthropic's smallest budget of reasoning. Tokens. */
const MIN_BUDGET = 1_024;
const LIMITS: Readonly<Record<Dialect, readonly string[]>> = {
  chat: ['max_tokens', 'max_completion_tokens'],
  messages: ['max_tokens'],
  responses: ['max_output_tokens'],
  embeddings: [],
};

interface LimitChange {
  readonly needs: BodyNeeds;
  readonly limit: number;
  readonly insert: (text: string) => void;
}

/**
 * No limit of the body is above this one, and there is one under a name that the server knows: servers of others than
 * OpenAI know chat's old name alone, and to them the new one is no limit. OpenAI's own servers take both names, or
 * refuse the old one.
 */
function limitChanges(
  body: Buffer,
  { at, members }: Fields,
  { needs: { dialect, traits }, limit, insert }: LimitChange,
): Change[] {
  const name = dialect === 'chat' ? traits.chatLimit : LIMITS[dialect][0];
  const given = LIMITS[dialect].flatMap((each) => {
    const place = at.get(each);
    const value = place === undefined ? null : valueAt(body, place);
    return place === undefined || value === null
      ? []
      : [{ name: each, place, most: typeof value === 'number' && value <= limit ? value : null }];
  });
  const changes: Change[] = given.flatMap(({ place, most }) =>
    most === null ? [{ at: place, to: Buffer.from(String(limit)) }] : [],
  );
  const isKnown = given.some((each) => each.name === name || name === 'max_completion_tokens');
  if (name !== undefined && !isKnown) {
    const most = Math.min(limit, ...given.flatMap((each) => each.most ?? []));
    const place = at.get(name);
    const other = given[0] === undefined ? undefined : members.find((member) => member.name === given[0]?.name);
    // A limit of `null` is none.
    if (place !== undefined) changes.push({ at: place, to: Buffer.from(String(most)) });
    // One name alone: some refuse fields that they do not know, and others both.
    else if (other !== undefined)
      return [{ at: other, to: Buffer.from(`"${name}":${most}`) }, ...thinkingChanges(body, at, limit)];
    else insert(`"${name}":${most}`);
  }
  return [...changes, ...thinkingChanges(body, at, limit)];
}

function thinkingChanges(body: Buffer, at: Fields['at'], limit: number): Change[] {
  const thinking = at.get('thinking');
  const given = thinking === undefined ? null : objectOf(valueAt(body, thinking));
  const budget = given?.['budget_tokens'];
  if (thinking === undefined || typeof budget !== 'number' || budget < limit) return [];
  const less = Math.max(MIN_BUDGET, Math.floor(limit / 2));
  return [
    {
      at: thinking,
      to: Buffer.from(JSON.stringify(less < limit ? { ...given, budget_tokens: less } : { type: 'disabled' })),
    },
  ];
}

interface SearchChange {
  readonly dialect: Dialect;
  readonly searches: number;
  readonly insert: (text: string) => void;
}

/**
 * The provider searches no more often than this: `admitRequest` has made sure that there is one tool for it, which no
 * other limit of the body allows more.
 */
function searchChanges(body: Buffer, { at }: Fields, { dialect, searches, insert }: SearchChange): Change[] {
  if (dialect === 'responses') {
    const place = at.get('max_tool_calls');
    if (place === undefined) insert(`"max_tool_calls":${searches}`);
    else return [{ at: place, to: Buffer.from(String(searches)) }];
    return [];
  }
  const place = at.get('tools');
  if (place === undefined) return [];
  const tools = listOf(valueAt(body, place)).map((tool) =>
    isSearch(dialect, objectOf(tool)?.['type']) ? { ...objectOf(tool), max_uses: searches } : tool,
  );
  return [{ at: place, to: Buffer.from(JSON.stringify(tools)) }];
}

/**
 * Nothing is kept at the provider, whose key all organizations share; the reasoning of OpenAI's models goes to the
 * caller encrypted instead.
 */
function storeChanges(
  body: Buffer,
  { at }: Fields,
  { dialect, traits }: BodyNeeds,
  insert: (text: string) => void,
): Change[] {
  if (dialect !== 'responses' && dialect !== 'chat') return [];
  const place = at.get('store');
  const given = place === undefined ? undefined : valueAt(body, place);
  if (given === false || (dialect === 'chat' && !traits.storesChat && given !== true)) return [];
  const changes: Change[] = [];
  if (place === undefined) insert('"store":false');
  else changes.push({ at: place, to: Buffer.from('false') });
  if (dialect === 'chat' || !traits.encryptedReasoning) return changes;
  const include = at.get('include');
  const wanted = include === undefined ? [] : listOf(valueAt(body, include));
  if (wanted.includes(ENCRYPTED)) return changes;
  const text = JSON.stringify([...wanted, ENCRYPTED]);
  if (include === undefined) insert(`"include":${text}`);
  else changes.push({ at: include, to: Buffer.from(text) });
  return changes;
}

const ENCRYPTED = 'reasoning.encrypted_content';

function valueAt(body: Buffer, { start, end }: Span): unknown {
  try {
    return JSON.parse(body.toString('utf8', start, end));
  } catch {
    throw new SlipwayError('request.not-json', 'The body is not a JSON object: a value cannot be read.');
  }
}

const ASK = Buffer.from('"stream_options":{"include_usage":true},');

/** The caller of a stream of chat wants its counts as a frame of their own. @throws as `bodyFor`. */
export function asksForUsage(body: Buffer, { streamOptions }: Pick<RoutingFields, 'streamOptions'>): boolean {
  return streamOptions !== null && withUsage(body.toString('utf8', streamOptions.start, streamOptions.end)) === null;
}

/** `null`: it asks already. */
function withUsage(options: string): Buffer | null {
  let given: unknown;
  try {
    given = JSON.parse(options);
  } catch {
    throw new SlipwayError(
      'request.not-json',
      'The body is not a JSON object: the value of stream_options cannot be read.',
    );
  }
  if (typeof given !== 'object' || Array.isArray(given))
    throw new SlipwayError('request.invalid', 'stream_options: an object');
  const object = objectOf(given);
  return object?.['include_usage'] === true ? null : Buffer.from(JSON.stringify({ ...object, include_usage: true }));
}

/**
 * The body without the reasoning that providers of other dialects signed, in a conversation that goes on with another
 * model: its provider would refuse it. All other bodies are handed back as they are, after one search for the mark.
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

/**
 * A body of chat without what was added to the answers of other models, for a provider that refuses fields which it
 * does not know.
 */
export function withoutAdditions(body: Buffer): Buffer {
  if (!body.includes('thinking_blocks"') && !body.includes('reasoning_content"')) return body;
  const request = parseObject(body.toString('utf8'));
  if (request === null) return body;
  const messages = listOf(request['messages']).map((value) => {
    const message = objectOf(value);
    return message === null
      ? value
      : Object.fromEntries(Object.entries(message).filter(([name]) => !ADDITIONS.has(name)));
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
  if (call !== null && isForeign(call['signature']))
    return Object.fromEntries(Object.entries(call).filter(([name]) => name !== 'signature'));
  const signature = objectOf(objectOf(call?.['extra_content'])?.['google'])?.['thought_signature'];
  return call !== null && isForeign(signature)
    ? Object.fromEntries(Object.entries(call).filter(([name]) => name !== 'extra_content'))
    : value;
}
