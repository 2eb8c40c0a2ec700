/** What is being typed: the mark, and the letters from it to the caret. */
export interface Token {
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
const PROMPT_NAME = /^[a-z0-9-]*$/i;
/** The rest of a word behind the caret; a sentence's own marks at its end stay. */
const REST_OF_PATH = /^[\p{L}\p{M}\p{N}_\-+./:]*[\p{L}\p{M}\p{N}_\-+/]/u;
const REST_OF_NAME = /^[a-z0-9-]+/i;

/**
 * The word that a list is offered for, or none: its mark is at the start of the text or after white space, and no white
 * space is between it and the caret. A path (`/etc/hosts`) and an e-mail address are none.
 */
export function tokenAt(text: string, caret: number): Token | null {
  const from = Math.max(0, caret - MAX_QUERY - 1);
  let start = caret;
  while (start > from && !/\s/.test(text.charAt(start - 1))) start -= 1;
  // Reached the bound inside a word.
  if (start > 0 && !/\s/.test(text.charAt(start - 1))) return null;
  while (start < caret && DIRECTION.test(text.charAt(start))) start += 1;
  const mark = text.charAt(start);
  if (start >= caret || (mark !== '@' && mark !== '/')) return null;
  const query = text.slice(start + 1, caret).replaceAll(DIRECTIONS, '');
  if (mark === '/' ? !PROMPT_NAME.test(query) : /[@"]/.test(query)) return null;
  const rest = (mark === '/' ? REST_OF_NAME : REST_OF_PATH).exec(text.slice(caret, caret + MAX_QUERY))?.[0] ?? '';
  return { mark, start, end: caret + rest.length, query };
}

/** A mention in the place of a token, and a blank behind it unless the text goes on with one or ends a sentence. */
export function takeMention(text: string, token: Token, mention: string): Edit {
  const blank = /^[\s.,;:!?)\]}]/.test(text.slice(token.end)) ? '' : ' ';
  const insert = `${mention}${blank}`;
  const caret = token.start + insert.length;
  return { start: token.start, end: token.end, insert, selectionStart: caret, selectionEnd: caret };
}

/** The text of a prompt in the place of a token; its first field is selected, for typing over it. */
export function takePrompt(token: Token, prompt: string): Edit {
  const field = fieldAfter(prompt, 0);
  return {
    start: token.start,
    end: token.end,
    insert: prompt,
    selectionStart: token.start + (field?.start ?? prompt.length),
    selectionEnd: token.start + (field?.end ?? prompt.length),
  };
}

/** The next `{{name}}` that a person still has to fill in. */
export function fieldAfter(text: string, from: number): { readonly start: number; readonly end: number } | null {
  const field = /\{\{[^{}\n]{1,100}\}\}/g;
  field.lastIndex = from;
  const found = field.exec(text);
  return found === null ? null : { start: found.index, end: found.index + found[0].length };
}

/** The text after an edit. */
export function applied(text: string, { start, end, insert }: Edit): string {
  return `${text.slice(0, start)}${insert}${text.slice(end)}`;
}
