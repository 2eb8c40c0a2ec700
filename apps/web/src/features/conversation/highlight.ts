import type { LanguageDescription } from '@codemirror/language';

/** A stretch of code in one look; `look` holds classes `tok-…`, or nothing. */
export interface CodeSpan {
  readonly text: string;
  readonly look: string;
}

/** Longer code stays plain: it would hold up the page. UTF-16 code units. */
const MAX_CODE = 60_000;

/**
 * Code line by line, coloured by the grammars of the editor, which are loaded when they are first needed, each by
 * itself; `null` for a language that nobody knows and for code that is too long. @param name of the language, or a file
 * name that says it.
 */
export async function highlightLines(code: string, name: string): Promise<ReadonlyArray<readonly CodeSpan[]> | null> {
  if (code.length > MAX_CODE || code.trim() === '') return null;
  const [{ languages }, { LanguageDescription: descriptions }, { classHighlighter, highlightCode }] = await Promise.all(
    [import('@codemirror/language-data'), import('@codemirror/language'), import('@lezer/highlight')],
  );
  const description: LanguageDescription | null =
    descriptions.matchFilename(languages, name) ?? descriptions.matchLanguageName(languages, name, false);
  if (description === null) return null;
  const { language } = await description.load();
  const lines: CodeSpan[][] = [[]];
  const put = (text: string, look: string): void => {
    lines.at(-1)?.push({ text, look });
  };
  highlightCode(code, language.parser.parse(code), classHighlighter, put, () => lines.push([]));
  return lines;
}
