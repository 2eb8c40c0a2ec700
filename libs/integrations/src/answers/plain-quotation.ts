import { shownText } from '../prompt/shown-text.js';
import { MAX_SAID } from './quoted-markdown.js';

/** A text of the agent as lines without markup, for those who do not write Markdown. They mention no user. */
export function plainLines(source: string): string[] {
  const { text } = shownText(source.slice(0, MAX_SAID * 4));
  const cut =
    text.length > MAX_SAID ? `${text.slice(0, MAX_SAID).toWellFormed()}\n[cut; the conversation has all of it]` : text;
  return cut
    .replace(/\r\n?|[\u2028\u2029\u0085\v\f]/g, '\n')
    .trim()
    .replaceAll('![', '[')
    .replace(/([@~])(?=[^\s@~])/g, '$1\u2060')
    .split('\n')
    .map((line) => line.trimEnd());
}
