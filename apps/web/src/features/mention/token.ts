/** What is being typed: an `@`, and the letters from it to the caret. */
export interface Token {
  /** Where the `@` is. */
  readonly start: number;
  /** Behind the word that the caret is in: what a choice replaces ends here. */
  readonly end: number;
  /** From the `@` to the caret, without direction marks. */
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

/**
 * The word that a list is offered for, or none: its `@` is at the start of the text or after white space, and no white
 * space is between it and the caret. An e-mail address is none.
 */
export function tokenAt(text: string, caret: number): Token | null {
  const from = Math.max(0, caret - MAX_QUERY - 1);
  let start = caret;
  while (start > from && !/\s/.test(text.charAt(start - 1))) start -= 1;
  // Reached the bound inside a word.
  if (start > 0 && !/\s/.test(text.charAt(start - 1))) return null;
  while (start < caret && DIRECTION.test(text.charAt(start))) start += 1;
  if (start >= caret || text.charAt(start) !== '@') return null;
  const query = text.slice(start + 1, caret).replaceAll(DIRECTIONS, '');
  if (/[@"]/.test(query)) return null;
  const rest = REST_OF_PATH.exec(text.slice(caret, caret + MAX_QUERY))?.[0] ?? '';
  return { start, end: caret + rest.length, query };
}

/** A mention in the place of a token, and a blank behind it unless the text goes on with one or ends a sentence. */
export function takeMention(text: string, token: Token, mention: string): Edit {
  const blank = /^[\s.,;:!?)\]}]/.test(text.slice(token.end)) ? '' : ' ';
  const insert = `${mention}${blank}`;
  const caret = token.start + insert.length;
  return { start: token.start, end: token.end, insert, selectionStart: caret, selectionEnd: caret };
}

/** The text after an edit. */
export function applied(text: string, { start, end, insert }: Edit): string {
  return `${text.slice(0, start)}${insert}${text.slice(end)}`;
}
