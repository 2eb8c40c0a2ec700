import { SlipwayError } from '@slipway/errors';
import { OpenNames } from './open-names.js';

/** Where a value stands in a body. Bytes; `end` is the first after it. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A member of the outermost object, from its name to the end of its value. */
export interface Member extends Span {
  /** `null`: too long to be of interest. */
  readonly name: string | null;
  readonly value: Span;
}

/**
 * Hears of each `"type": "…"` below a value. @param depth 1: in the value itself. @param at the type, without its
 * quotes.
 */
export type TypeVisitor = (depth: number, at: Span) => void;

export interface Scan {
  readonly members: readonly Member[];
  /** The first position inside of the object. */
  readonly inside: number;
  /** A short text has an ASCII character written as `\u00…`: a byte search may miss it. */
  readonly escaped: boolean;
  /** A value that is reported has a member whose name ends with `_url`. */
  readonly addressed: boolean;
}

/** What a pass has come across. */
interface Seen {
  escaped: boolean;
  addressed: boolean;
  readonly names: OpenNames;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
/** Strings are walked byte by byte up to here, and then from quote to quote by a native search. Bytes. */
const SHORT = 48;
/** Longest string that could be a name of ours, with every character escaped. Bytes. */
const ESCAPED_NAME = 256;

/**
 * One pass over the bytes of a JSON object, without building it: depth costs no stack, size no memory. Nested values
 * are skipped by their brackets only; whether they are valid JSON is checked by the provider.
 * @param visitorOf receives the types in a member's value; `null`: none.
 * @throws SlipwayError `request.not-json`; `request.invalid` for a name that an object at any depth has twice.
 */
export function scanObject(body: Buffer, visitorOf: (name: string | null) => TypeVisitor | null): Scan {
  const members: Member[] = [];
  const seen: Seen = { escaped: false, addressed: false, names: new OpenNames(body) };
  seen.names.open();
  let at = skipSpace(body, 0);
  if (body[at] !== 0x7b) throw notJson('it does not begin with {');
  const inside = at + 1;
  at = skipSpace(body, inside);
  if (body[at] === 0x7d) at += 1;
  else {
    for (;;) {
      if (body[at] !== QUOTE) throw notJson('a field name is missing');
      const begin = at;
      const nameEnd = endOfString(body, at);
      const name = nameOf(body, at, nameEnd);
      at = skipSpace(body, nameEnd);
      if (body[at] !== COLON) throw notJson('a colon is missing');
      seen.names.add(begin, nameEnd);
      const start = skipSpace(body, at + 1);
      const end = endOfValue(body, start, visitorOf(name), seen);
      members.push({ name, start: begin, end, value: { start, end } });
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
  return { members, inside, escaped: seen.escaped, addressed: seen.addressed };
}

export function skipSpace(body: Buffer, from: number): number {
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

function endOfValue(body: Buffer, start: number, visitor: TypeVisitor | null, seen: Seen): number {
  const first = body[start];
  if (first === QUOTE) return endOfString(body, start);
  if (first === 0x7b || first === 0x5b) return endOfBrackets(body, start, visitor, seen);
  let at = start;
  for (let byte = body[at]; byte !== undefined && byte !== 0x2c && byte !== 0x7d && byte > 0x20; byte = body[at])
    at += 1;
  if (at === start) throw notJson('a value is missing');
  return at;
}

function endOfBrackets(body: Buffer, start: number, visitor: TypeVisitor | null, seen: Seen): number {
  let depth = 0;
  for (let at = start; at < body.length; at += 1) {
    const byte = body[at];
    if (byte === QUOTE) {
      const end = endOfString(body, at);
      // Only a name has a colon behind it.
      if (body[skipSpace(body, end)] === COLON) {
        seen.names.add(at, end);
        seen.addressed ||= visitor !== null && isAddress(body, end);
      }
      const type = visitor !== null && isType(body, at, end) ? typeAfter(body, end) : null;
      if (type !== null) visitor?.(depth, type);
      seen.escaped ||= visitor !== null && end - at < ESCAPED_NAME && hasEscapedLetter(body, at, type?.end ?? end);
      at = type === null ? end - 1 : type.end;
    } else if (byte === 0x7b || byte === 0x5b) {
      depth += 1;
      if (byte === 0x7b) seen.names.open();
    } else if (byte === 0x7d || byte === 0x5d) {
      depth -= 1;
      if (byte === 0x7d) seen.names.close();
      if (depth === 0) return at + 1;
    }
  }
  throw notJson('a bracket does not close');
}

/** `"type"` with every letter escaped, quotes included. Bytes. */
const ESCAPED_TYPE = 26;

/** `"type"`, quotes included, also with escaped letters: every reader of JSON takes them for the same name. */
function isType(body: Buffer, start: number, end: number): boolean {
  const length = end - start;
  if (length === 6)
    return body[start + 1] === 0x74 && body[start + 2] === 0x79 && body[start + 3] === 0x70 && body[start + 4] === 0x65;
  return (
    length > 6 && length <= ESCAPED_TYPE && hasEscapedLetter(body, start, end) && nameOf(body, start, end) === 'type'
  );
}

/** `…_url"` ends here. */
function isAddress(body: Buffer, end: number): boolean {
  return body[end - 2] === 0x6c && body[end - 3] === 0x72 && body[end - 4] === 0x75 && body[end - 5] === 0x5f;
}

/**
 * The text that a name stands before, without its quotes; `null`: what was read is no name, or its value is no text.
 */
function typeAfter(body: Buffer, nameEnd: number): Span | null {
  const colon = skipSpace(body, nameEnd);
  if (body[colon] !== COLON) return null;
  const start = skipSpace(body, colon + 1);
  return body[start] === QUOTE ? { start: start + 1, end: endOfString(body, start) - 1 } : null;
}

function hasEscapedLetter(body: Buffer, start: number, end: number): boolean {
  for (let at = start; at + 5 < end; at += 1) {
    if (body[at] !== BACKSLASH) continue;
    const digit = body[at + 4] ?? 0;
    if (body[at + 1] === 0x75 && body[at + 2] === 0x30 && body[at + 3] === 0x30 && digit >= 0x32 && digit <= 0x37)
      return true;
    at += 1;
  }
  return false;
}

function nameOf(body: Buffer, start: number, end: number): string | null {
  if (end - start > ESCAPED_NAME) return null;
  const text = body.toString('utf8', start, end);
  if (!text.includes('\\')) return text.slice(1, -1);
  try {
    return JSON.parse(text) as string;
  } catch {
    throw notJson('a field name cannot be read');
  }
}

export function notJson(why: string): SlipwayError {
  return new SlipwayError('request.not-json', `The body is not a JSON object: ${why}.`);
}
