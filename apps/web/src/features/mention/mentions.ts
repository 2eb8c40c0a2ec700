/** What a person chose from the list. */
export type Mentioned =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'conversation'; readonly id: string }
  | { readonly kind: 'name'; readonly name: string };

/** Where a text mentions something. */
export interface Mention {
  readonly start: number;
  readonly end: number;
  /** `name`: a member, or a file at the top without a dot in its name; who lists members and files knows which. */
  readonly mentioned: Mentioned;
}

/** More are words, not mentions: each is looked up. */
export const MAX_MENTIONS = 50;

const CONVERSATION = 'conversation:';
const BARE = /^[^\s\p{C}"@]+$/u;
const END_OF_SENTENCE = /[.,;:!?)\]}'*`>]+$/;

/**
 * How a choice is written in the text. A path that a reader could misread (blanks, marks at its end, letters that are
 * not seen) is in quotes with escapes, so that what is written is what is there.
 */
export function writtenMention(mentioned: Mentioned): string {
  if (mentioned.kind === 'conversation') return `@${CONVERSATION}${mentioned.id}`;
  if (mentioned.kind === 'name') return `@${mentioned.name}`;
  const { path } = mentioned;
  const bare = BARE.test(path) && /[./]/.test(path) && !END_OF_SENTENCE.test(path) && !path.startsWith(CONVERSATION);
  return bare ? `@${path}` : `@${quoted(path)}`;
}

/** What a text mentions, in its order; an e-mail address and an `@` inside a word are nothing. */
export function mentionsIn(text: string): readonly Mention[] {
  const found: Mention[] = [];
  const mark = /(?<=^|\s)[\u061C\u200E\u200F\u2066-\u2069]*@("(?:[^"\\\n]|\\.)*"|[^\s"@]\S*)/g;
  for (const match of text.matchAll(mark)) {
    if (found.length === MAX_MENTIONS) break;
    const word = match[1] ?? '';
    const written = word.startsWith('"') ? word : word.replace(END_OF_SENTENCE, '');
    const mentioned = readMention(written);
    const end = match.index + match[0].length - word.length + written.length;
    const start = end - written.length - 1;
    if (mentioned !== null) found.push({ start, end, mentioned });
  }
  return found;
}

function readMention(written: string): Mentioned | null {
  if (written.startsWith('"')) {
    const path = unquoted(written);
    return path === null || path === '' ? null : { kind: 'file', path };
  }
  if (!BARE.test(written)) return null;
  if (!written.startsWith(CONVERSATION))
    return /[./]/.test(written) ? { kind: 'file', path: written } : { kind: 'name', name: written };
  const id = written.slice(CONVERSATION.length);
  return /^[\w-]{1,100}$/.test(id) ? { kind: 'conversation', id } : null;
}

function quoted(path: string): string {
  return JSON.stringify(path).replaceAll(/\p{C}/gu, (letter) =>
    letter
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  );
}

function unquoted(written: string): string | null {
  try {
    return String(JSON.parse(written));
  } catch {
    return null;
  }
}
