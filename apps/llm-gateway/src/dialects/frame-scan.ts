import type { Dialect } from './exchange.js';

/** What a look at the bytes of one frame shows, without reading it as JSON. */
export interface FrameScan {
  /** UTF-16 code units of text, reasoning and arguments in it. */
  readonly characters: number;
  /** It belongs to an answer. */
  readonly answers: boolean;
  /** It may hold counts, an end or an error: only then is it worth reading. */
  readonly tells: boolean;
}

/**
 * The frame's bytes as Latin-1, so that a position is a byte. A quote inside of a string of JSON has a backslash before it, so that what is looked for with
 * the quote behind it is never found in the middle of a text. Names are looked for without the quote before them: a search that begins with what is everywhere is slow.
 */
export function scanFrame(dialect: Dialect, frame: string): FrameScan {
  switch (dialect) {
    case 'chat':
      return scanChat(frame);
    case 'messages': {
      const delta = frame.includes('content_block_delta"');
      return {
        characters: delta ? lengthsOf(frame, 'text":') + lengthsOf(frame, 'thinking":') + lengthsOf(frame, 'partial_json":') : 0,
        answers: delta || frame.includes('message_start"'),
        tells: !delta && (frame.includes('"message_') || isError(frame)),
      };
    }
    case 'responses': {
      const delta = frame.includes('.delta"');
      return {
        characters: delta ? lengthsOf(frame, 'delta":') : 0,
        answers: delta || frame.includes('"response.'),
        tells:
          !delta &&
          (frame.includes('"response.completed"') || frame.includes('"response.incomplete"') || frame.includes('"response.failed"') || isError(frame)),
      };
    }
    case 'embeddings':
      return { characters: 0, answers: false, tells: false };
  }
}

/** What was said stands behind `delta`; the frames that have none are few. */
function scanChat(frame: string): FrameScan {
  const delta = frame.indexOf('delta":');
  const said = delta === -1 ? '' : frame.slice(delta);
  const answers = delta !== -1 || frame.includes('choices":');
  return {
    characters:
      lengthsOf(said, 'content":') +
      (lengthsOf(said, 'reasoning_content":') || lengthsOf(said, 'reasoning":')) +
      lengthsOf(said, 'refusal":') +
      lengthsOf(said, 'arguments":'),
    answers,
    // What is no part of an answer may be an error in one of the forms that servers have for it.
    tells: opens(frame, 'usage":', OPEN_BRACE) || opens(frame, 'finish_reason":', QUOTE) || opens(frame, 'error":', OPEN_BRACE) || !answers,
  };
}

const QUOTE = 0x22;
const OPEN_BRACE = 0x7b;
const BACKSLASH = 0x5c;

/** Where the value of a field begins. */
function valueAt(frame: string, from: number): number {
  let at = from;
  while (frame.charCodeAt(at) === 0x20) at += 1;
  return at;
}

/** Some field of this name has a value that begins so. */
function opens(frame: string, name: string, first: number): boolean {
  for (let at = frame.indexOf(name); at !== -1; at = frame.indexOf(name, at + name.length))
    if (frame.charCodeAt(valueAt(frame, at + name.length)) === first) return true;
  return false;
}

/** The frame's own type stands first or last in it; what it holds may be far larger, and have types of its own. */
function isError(frame: string): boolean {
  return isErrorAt(frame, frame.indexOf('type":')) || isErrorAt(frame, frame.lastIndexOf('type":')) || opens(frame, 'error":', OPEN_BRACE);
}

function isErrorAt(frame: string, type: number): boolean {
  return type !== -1 && frame.startsWith('"error"', valueAt(frame, type + 'type":'.length));
}

/** UTF-16 code units of all strings that are values of fields of this name. */
function lengthsOf(frame: string, name: string): number {
  let length = 0;
  for (let at = frame.indexOf(name); at !== -1; at = frame.indexOf(name, at + name.length)) {
    if (frame.charCodeAt(at - 1) !== QUOTE) continue;
    const start = valueAt(frame, at + name.length);
    if (frame.charCodeAt(start) === QUOTE) length += lengthOf(frame, start + 1);
  }
  return length;
}

/** Of the string of JSON that begins here, whose bytes of UTF-8 are the characters of `frame`. */
function lengthOf(frame: string, start: number): number {
  let length = 0;
  for (let at = start; at < frame.length; at += 1) {
    const byte = frame.charCodeAt(at);
    if (byte === QUOTE) break;
    if (byte === BACKSLASH) at += frame.charCodeAt(at + 1) === 0x75 ? 5 : 1;
    else if (byte >= 0x80 && byte < 0xc0) continue;
    // Four bytes of UTF-8 are two code units.
    else if (byte >= 0xf0) length += 1;
    length += 1;
  }
  return length;
}
