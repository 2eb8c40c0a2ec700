import { shownText } from '../prompt/shown-text.js';

/** Most of an agent's text that is shown in a thread; the conversation has all of it. Characters. */
export const MAX_SAID = 6_000;

/** Joins without a mark of its own: what it parts is read as before, and is no mention, tag, entity or reference any more. */
const JOINER = '\u2060';

/**
 * A text of the agent as a quotation in Markdown. It may say what a hostile page has told it to, so nobody is called, nothing is loaded, no line begins with a
 * command of another bot, and what nobody would see is taken out.
 */
export function quotedMarkdown(source: string): string {
  const { text } = shownText(source.slice(0, MAX_SAID * 4));
  const cut = text.length > MAX_SAID ? `${text.slice(0, MAX_SAID).toWellFormed()}\n\n[cut; the conversation has all of it]` : text;
  return (
    cut
      .replace(/\r\n?|[\u2028\u2029\u0085\v\f]/g, '\n')
      .trim()
      // An image is loaded from wherever it says, with what its address carries.
      .replaceAll('![', '[')
      .replace(/<(?=[a-z/!?])/gi, `<${JOINER}`)
      .replace(/&(?=#|[a-z])/gi, `&${JOINER}`)
      // Within code as well: other bots read the source.
      .replace(/@(?=[^\s@])/g, `@${JOINER}`)
      .replace(/#(?=\d)/g, `#${JOINER}`)
      .split('\n')
      .map((line) => `> ${line}`.trimEnd())
      .join('\n')
  );
}
