/** What is being typed: a mark, and the letters from it to the caret. */
export interface Token {
  /** `@` mentions something, `/` takes a saved prompt. */
  readonly mark: '@' | '/';
  /** Where the mark is. */
  readonly start: number;
  /** Behind the word that the caret is in: what a choice replaces ends here. */
  readonly end: number;
  /** From the mark to the caret, without direction marks. */
  readonly query: string;
}

/** A change of a text: one range becomes another text, and then the selection is where typing goes on. */
export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly insert: string;
  readonly selectionStart: number;
  readonly selectionEnd: number;
}

/** A longer word is pasted, not typed. */
const MAX_QUERY = 200;
/** Marks of direction, which are not seen: what is before them decides. */
const DIRECTION = /[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/;
const DIRECTIONS = new RegExp(DIRECTION, 'g');
/** The rest of a word behind the caret; a sentence's own marks at its end stay. */
const REST_OF_PATH = /^[\p{L}\p{M}\p{N}_\-+./:]*[\p{L}\p{M}\p{N}_\-+/]/u;

/** The name of a prompt, as far as it is typed; of a longer word, such as a path, this is never the whole. */
const PROMPT_NAME = /^[\p{L}\p{N}-]{0,64}$/u;
const REST_OF_NAME = /^[\p{L}\p{N}-]*/u;

/**
 * The word that a list is offered for, or none. No white space is between its mark and the caret. An `@` is at the
 * start of the text or after white space: an e-mail address is none. A `/` is at the start of a line, and all of its
 * word may be the name of a prompt: a path is none.
 */
export function tokenAt(text: string, caret: number): Token | null {
  const from = Math.max(0, caret - MAX_QUERY - 1);
  let start = caret;
  while (start > from && !/\s/.test(text.charAt(start - 1))) start -= 1;
  // Reached the bound inside a word.
  if (start > 0 && !/\s/.test(text.charAt(start - 1))) return null;
  const line = start === 0 || text.charAt(start - 1) === '\n';
  while (start < caret && DIRECTION.test(text.charAt(start))) start += 1;
  if (start >= caret) return null;
  const mark = text.charAt(start);
  const query = text.slice(start + 1, caret).replaceAll(DIRECTIONS, '');
  const behind = text.slice(caret, caret + MAX_QUERY);
  if (mark === '/' && line) {
    const rest = REST_OF_NAME.exec(behind)?.[0] ?? '';
    const isName = PROMPT_NAME.test(query) && !/^\S/.test(behind.slice(rest.length));
    return isName ? { mark, start, end: caret + rest.length, query } : null;
  }
  if (mark !== '@' || /[@"]/.test(query)) return null;
  const rest = REST_OF_PATH.exec(behind)?.[0] ?? '';
  return { mark, start, end: caret + rest.length, query };
}

/** A mention in the place of a token, and a blank behind it unless the text goes on with one or ends a sentence. */
export function takeMention(text: string, token: Token, mention: string): Edit {
  const blank = /^[\s.,;:!?)\]}]/.test(text.slice(token.end)) ? '' : ' ';
  const insert = `${mention}${blank}`;
  const caret = token.start + insert.length;
  return { start: token.start, end: token.end, insert, selectionStart: caret, selectionEnd: caret };
}

/** The text of a prompt in the place of a token; its first field is selected, so that the next letter replaces it. */
export function takePrompt(token: Token, prompt: string): Edit {
  const insert = prompt.replaceAll(/\r\n?/g, '\n');
  const field = nextField(insert, 0, insert.length) ?? { start: insert.length, end: insert.length };
  return {
    start: token.start,
    end: token.end,
    insert,
    selectionStart: token.start + field.start,
    selectionEnd: token.start + field.end,
  };
}

/** `{{what to fill in}}`. */
const FIELD = /\{\{[^{}\n]{1,100}\}\}/;

/** The first field that lies in the text from `from` to `until`. */
export function nextField(text: string, from: number, until: number): { start: number; end: number } | null {
  const found = FIELD.exec(text.slice(from, Math.max(from, until)));
  return found === null ? null : { start: from + found.index, end: from + found.index + found[0].length };
}

/** The text after an edit. */
export function applied(text: string, { start, end, insert }: Edit): string {
  return `${text.slice(0, start)}${insert}${text.slice(end)}`;
}
