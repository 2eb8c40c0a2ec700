import type { Dialect } from './dialect.js';

/** Of text, reasoning and arguments. */
interface Said {
  /** UTF-16 code units. */
  characters: number;
  /** Of UTF-8, or more where it is written with escapes: no tokenizer makes more tokens of it. */
  bytes: number;
}

/** Findings of a scan of one frame's bytes, without reading it as JSON. */
export interface FrameScan extends Readonly<Said> {
  /** It belongs to an answer. */
  readonly answers: boolean;
  /** It may hold counts, an end or an error: only then is it worth reading. */
  readonly tells: boolean;
}

/**
 * The frame's bytes as Latin-1, so that a position is a byte. A quote inside of a string of JSON has a backslash before
 * it, so that a search with the quote behind it never matches in the middle of a text. Names are searched without the
 * quote before them: a search that begins with a frequent byte is slow.
 */
export function scanFrame(dialect: Dialect, frame: string): FrameScan {
  const said: Said = { characters: 0, bytes: 0 };
  switch (dialect) {
    case 'chat':
      return scanChat(frame, said);
    case 'messages': {
      const delta = frame.includes('content_block_delta"');
      if (delta) for (const name of MESSAGES_SAY) measure(frame, name, said);
      return {
        ...said,
        answers: delta || frame.includes('message_start"'),
        tells: !delta && (frame.includes('"message_') || isError(frame)),
      };
    }
    case 'responses': {
      const delta = frame.includes('.delta"');
      if (delta) measure(frame, 'delta":', said);
      return {
        ...said,
        answers: delta || frame.includes('"response.'),
        tells:
          !delta &&
          (frame.includes('"response.completed"') ||
            frame.includes('"response.incomplete"') ||
            frame.includes('"response.failed"') ||
            isError(frame)),
      };
    }
    case 'embeddings':
      return { ...said, answers: false, tells: false };
  }
}

/** What was said stands behind `delta`; the frames that have none are few. */
function scanChat(frame: string, said: Said): FrameScan {
  const delta = frame.indexOf('delta":');
  if (delta !== -1) {
    const text = frame.slice(delta);
    measure(text, 'content":', said);
    if (!measure(text, 'reasoning_content":', said)) measure(text, 'reasoning":', said);
    measure(text, 'refusal":', said);
    measure(text, 'arguments":', said);
  }
  const answers = delta !== -1 || frame.includes('choices":');
  return {
    ...said,
    answers,
    // What is no part of an answer may be an error in one of the forms that servers have for it.
    tells:
      opens(frame, 'usage":', OPEN_BRACE) ||
      opens(frame, 'finish_reason":', QUOTE) ||
      opens(frame, 'error":', OPEN_BRACE) ||
      !answers,
  };
}

const MESSAGES_SAY = ['text":', 'thinking":', 'partial_json":'] as const;
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
  return (
    isErrorAt(frame, frame.indexOf('type":')) ||
    isErrorAt(frame, frame.lastIndexOf('type":')) ||
    opens(frame, 'error":', OPEN_BRACE)
  );
}

function isErrorAt(frame: string, type: number): boolean {
  return type !== -1 && frame.startsWith('"error"', valueAt(frame, type + 'type":'.length));
}

/** Adds all strings that are values of fields of this name. Answers whether there is a text in one. */
function measure(frame: string, name: string, said: Said): boolean {
  const before = said.characters;
  for (let at = frame.indexOf(name); at !== -1; at = frame.indexOf(name, at + name.length)) {
    if (frame.charCodeAt(at - 1) !== QUOTE) continue;
    const start = valueAt(frame, at + name.length);
    if (frame.charCodeAt(start) === QUOTE) addString(frame, start + 1, said);
  }
  return said.characters > before;
}

/** What a code unit has at most in UTF-8. */
const MOST_BYTES = 3;

/** Of the string of JSON that begins here, whose bytes of UTF-8 are the characters of `frame`. */
function addString(frame: string, start: number, said: Said): void {
  let characters = 0;
  let bytes = 0;
  for (let at = start; at < frame.length; at += 1) {
    const byte = frame.charCodeAt(at);
    if (byte === QUOTE) break;
    bytes += 1;
    if (byte === BACKSLASH) {
      const unit = frame.charCodeAt(at + 1) === 0x75;
      if (unit) bytes += MOST_BYTES - 1;
      at += unit ? 5 : 1;
    } else if (byte >= 0x80 && byte < 0xc0) continue;
    // Four bytes of UTF-8 are two code units.
    else if (byte >= 0xf0) characters += 1;
    characters += 1;
  }
  said.characters += characters;
  said.bytes += bytes;
}
