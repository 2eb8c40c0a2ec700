/**
 * What stands where text was cut before its secrets were masked: whoever cuts such text says so by one of these, so
 * that the mask hides the part of a secret that a cut has left (`CUT_MARK`).
 */

/** In the output of a command. @param where ends the sentence: which file has the rest. */
export const cutFromOutput = (characters: number, where: string): string =>
  `[... ${characters} characters cut here${where} ...]\n`;

/** In the output that is shown while a command runs. */
export const notShown = (characters: number): string => `\n[... ${characters} characters are not shown here ...]\n`;

/** Before the last part of the output of a command that was stopped, or of a very long stream. */
export const ONLY_THE_END = '[The end of the output until then.]\n';

/** In the text of a file. */
export const clippedFrom = (what: string): string => `\n<response clipped: ${what}>`;

/** In a text of which both ends stay. */
export const cutFromMiddle = (characters: number): string => ` [… ${characters} characters …] `;

/** The first `length` UTF-16 code units; a longer text ends with an ellipsis. */
export function beginningOf(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length)}…`.toWellFormed() : text;
}

/** The last `length` UTF-16 code units; a longer text begins with an ellipsis. It may be cut again as more comes. */
export function endOf(text: string, length: number): string {
  return text.length > length ? `…${text.slice(text.length - length)}`.toWellFormed() : text;
}

/** Any of the above. An ellipsis alone also stands in text that nobody has cut. In ASCII: see `tools/bundle.mjs`. */
export const CUT_MARK =
  /[ \n]?\[(?:\.\.\.|\u2026) \d+ characters[^\]\n]{0,500}(?:\.\.\.|\u2026)\][ \n]?|\n?\[The end of the output until then\.\]\n|\n?<response clipped: [^>\n]{0,200}>\n?|\u2026/g;
