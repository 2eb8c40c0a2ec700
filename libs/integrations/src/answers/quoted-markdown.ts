import { shownText } from '../prompt/shown-text.js';

/** Most of an agent's text that is shown in a thread; the conversation has all of it. Characters. */
export const MAX_SAID = 6_000;

/**
 * Joins without a mark of its own: what it parts is read as before, and is no mention, tag, entity or reference any
 * more.
 */
const JOINER = '\u2060';

/** A text of the agent as a quotation in Markdown: what `harmlessMarkdown` makes of it. */
export function quotedMarkdown(source: string): string {
  return harmlessMarkdown(source, MAX_SAID, 'the conversation has all of it')
    .split('\n')
    .map((line) => `> ${line}`.trimEnd())
    .join('\n');
}

/**
 * A text of the agent in Markdown. It may say what a hostile page asks for, so no user is mentioned, nothing is
 * loaded, no issue is closed, no line begins with a command of the host or of another bot, and invisible text is
 * removed.
 * @param most characters. @param rest says where a longer text is.
 */
export function harmlessMarkdown(source: string, most: number, rest: string): string {
  const { text } = shownText(source.slice(0, most * 4));
  const cut = text.length > most ? `${text.slice(0, most).toWellFormed()}\n\n[cut; ${rest}]` : text;
  const plain = cut
    .replace(/\r\n?|[\u2028\u2029\u0085\v\f]/g, '\n')
    .trim()
    // An image is loaded from wherever it says, with what its address carries.
    .replaceAll('![', '[')
    .replace(/<(?=[a-z/!?])/gi, `<${JOINER}`)
    .replace(/&(?=#|[a-z])/gi, `&${JOINER}`)
    // Within code as well: other bots read the source.
    .replace(/@(?=[^\s@])/g, `@${JOINER}`)
    .replace(/#(?=\d)/g, `#${JOINER}`);
  return withoutCommands(plain);
}

/** GitLab carries out `/approve` and its like, as other bots do, with the rights of whose token says it. */
export function withoutCommands(text: string): string {
  return text.replace(/(^|[\n\r\u0085\u2028\u2029])(\s*)\/(?=[a-z])/gi, `$1$2${JOINER}/`);
}
