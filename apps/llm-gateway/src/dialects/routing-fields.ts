import { SlipwayError } from '@slipway/errors';
import type { Dialect } from './exchange.js';

/** Where a value stands in a body. Bytes; `end` is the first after it. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** What the gateway must know of a request. The rest of the body is not looked at and goes to the provider byte for byte. */
export interface RoutingFields {
  readonly model: string;
  /** Where the model's name stands, with its quotes: a deployment may know the model by another. */
  readonly modelAt: Span;
  readonly stream: boolean;
  /** Longest answer that the caller asks for (`max_tokens`, `max_completion_tokens`, `max_output_tokens`). Tokens; `null` when it does not say. */
  readonly maxOutputTokens: number | null;
  /** Answers at once: `n` of chat. */
  readonly choices: number;
  /** Where the value of `stream_options` stands, if it is there. */
  readonly streamOptions: Span | null;
  /** It offers tools. */
  readonly tools: boolean;
  /** The first position inside of the object. */
  readonly inside: number;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** Strings are walked byte by byte up to here, and then from quote to quote by a native search. Bytes. */
const SHORT = 48;
/** More answers than anybody offers. */
const MAX_CHOICES = 128;

/** The field that holds what is asked, and whether it must be a list. */
const ASKED: Readonly<Record<Dialect, { readonly name: string; readonly list: boolean }>> = {
  chat: { name: 'messages', list: true },
  messages: { name: 'messages', list: true },
  responses: { name: 'input', list: false },
  embeddings: { name: 'input', list: false },
};
const WANTED: Readonly<Record<Dialect, ReadonlySet<string>>> = {
  chat: new Set(['model', 'stream', 'stream_options', 'messages', 'max_tokens', 'max_completion_tokens', 'n', 'tools']),
  messages: new Set(['model', 'stream', 'messages', 'max_tokens', 'tools']),
  responses: new Set(['model', 'stream', 'input', 'max_output_tokens', 'background', 'tools']),
  embeddings: new Set(['model', 'input']),
};

/**
 * Finds the routing fields of a JSON object in one pass over its bytes, without building it: depth costs no stack, size no memory.
 * Nested values are skipped by their brackets only; whether they are valid JSON is the provider's to say.
 *
 * @throws SlipwayError `request.not-json` when it is no object, `request.invalid` when a routing field is missing, wrong, or there twice.
 */
export function readRoutingFields(body: Buffer, dialect: Dialect): RoutingFields {
  const { found, inside } = findFields(body, WANTED[dialect]);
  const value = (name: string): unknown => {
    const place = found.get(name);
    if (place === undefined) return undefined;
    try {
      return JSON.parse(body.toString('utf8', place.start, place.end));
    } catch {
      throw notJson(`the value of ${name} cannot be read`);
    }
  };
  const model = value('model');
  const modelAt = found.get('model');
  if (modelAt === undefined || typeof model !== 'string' || model === '' || model.length > 200)
    throw new SlipwayError('request.invalid', 'model: name one of GET /v1/models');
  const stream = value('stream') ?? false;
  if (typeof stream !== 'boolean') throw new SlipwayError('request.invalid', 'stream: true or false');
  const asked = ASKED[dialect];
  const first = body[found.get(asked.name)?.start ?? body.length];
  if (first !== 0x5b && (asked.list || first !== QUOTE))
    throw new SlipwayError('request.invalid', `${asked.name}: ${asked.list ? 'a list' : 'a text or a list'} is required`);
  if ((value('background') ?? false) !== false)
    throw new SlipwayError('request.invalid', 'background: only answers that are waited for are offered here; leave it out');
  const tools = found.get('tools');
  return {
    model,
    modelAt,
    stream,
    maxOutputTokens: longest(value),
    choices: choicesOf(value('n')),
    streamOptions: found.get('stream_options') ?? null,
    tools: tools !== undefined && body[tools.start] === 0x5b && body[skipSpace(body, tools.start + 1)] !== 0x5d,
    inside,
  };
}

/** The larger one where a body names two limits: what a call can cost at most must not be told too small. */
function longest(value: (name: string) => unknown): number | null {
  let most: number | null = null;
  for (const name of ['max_tokens', 'max_completion_tokens', 'max_output_tokens']) {
    const given = value(name);
    if (given === undefined || given === null) continue;
    if (typeof given !== 'number' || !Number.isSafeInteger(given) || given < 0) throw new SlipwayError('request.invalid', `${name}: a whole number of tokens`);
    most = Math.max(most ?? 0, given);
  }
  return most;
}

function choicesOf(given: unknown): number {
  if (given === undefined || given === null) return 1;
  if (typeof given !== 'number' || !Number.isInteger(given) || given < 1 || given > MAX_CHOICES)
    throw new SlipwayError('request.invalid', `n: a whole number from 1 to ${MAX_CHOICES}`);
  return given;
}

function findFields(body: Buffer, wanted: ReadonlySet<string>): { readonly found: ReadonlyMap<string, Span>; readonly inside: number } {
  const found = new Map<string, Span>();
  let at = skipSpace(body, 0);
  if (body[at] !== 0x7b) throw notJson('it does not begin with {');
  const inside = at + 1;
  at = skipSpace(body, inside);
  if (body[at] === 0x7d) at += 1;
  else {
    for (;;) {
      if (body[at] !== QUOTE) throw notJson('a field name is missing');
      const nameEnd = endOfString(body, at);
      const name = nameOf(body, at, nameEnd);
      at = skipSpace(body, nameEnd);
      if (body[at] !== 0x3a) throw notJson('a colon is missing');
      const start = skipSpace(body, at + 1);
      const end = endOfValue(body, start);
      if (name !== null && wanted.has(name)) {
        // Two readers of one body could otherwise believe two different models.
        if (found.has(name)) throw new SlipwayError('request.invalid', `${name}: it is there twice`);
        found.set(name, { start, end });
      }
      at = skipSpace(body, end);
      if (body[at] === 0x2c) {
        at = skipSpace(body, at + 1);
        continue;
      }
      if (body[at] !== 0x7d) throw notJson('it ends too early');
      at += 1;
      break;
    }
  }
  if (skipSpace(body, at) !== body.length) throw notJson('there is more after its end');
  return { found, inside };
}

function skipSpace(body: Buffer, from: number): number {
  let at = from;
  for (let byte = body[at]; byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09; byte = body[at]) at += 1;
  return at;
}

/** Position after the closing quote of the string that begins at `start`. */
function endOfString(body: Buffer, start: number): number {
  const near = Math.min(start + SHORT, body.length);
  let at = start + 1;
  for (; at < near; at += 1) {
    const byte = body[at];
    if (byte === QUOTE) return at + 1;
    if (byte === BACKSLASH) at += 1;
  }
  for (let quote = body.indexOf(QUOTE, at); quote !== -1; quote = body.indexOf(QUOTE, quote + 1)) {
    let before = quote;
    while (before > at && body[before - 1] === BACKSLASH) before -= 1;
    if ((quote - before) % 2 === 0) return quote + 1;
  }
  throw notJson('a string does not end');
}

function endOfValue(body: Buffer, start: number): number {
  const first = body[start];
  if (first === QUOTE) return endOfString(body, start);
  if (first === 0x7b || first === 0x5b) {
    let depth = 0;
    for (let at = start; at < body.length; at += 1) {
      const byte = body[at];
      if (byte === QUOTE) at = endOfString(body, at) - 1;
      else if (byte === 0x7b || byte === 0x5b) depth += 1;
      else if (byte === 0x7d || byte === 0x5d) {
        depth -= 1;
        if (depth === 0) return at + 1;
      }
    }
    throw notJson('a bracket does not close');
  }
  let at = start;
  for (let byte = body[at]; byte !== undefined && byte !== 0x2c && byte !== 0x7d && byte > 0x20; byte = body[at]) at += 1;
  if (at === start) throw notJson('a value is missing');
  return at;
}

/** The field's name, or `null` for one too long to be of interest. */
function nameOf(body: Buffer, start: number, end: number): string | null {
  if (end - start > 100) return null;
  const text = body.toString('utf8', start, end);
  if (!text.includes('\\')) return text.slice(1, -1);
  try {
    return JSON.parse(text) as string;
  } catch {
    throw notJson('a field name cannot be read');
  }
}

function notJson(why: string): SlipwayError {
  return new SlipwayError('request.not-json', `The body is not a JSON object: ${why}.`);
}
