/** Longest line of a page. Characters, as `npm run check` asks. */
const COLUMNS = 100;

/** Text as Markdown source: one sentence a line, wrapped at 100 characters; inline code stays whole. */
export function prose(text: string, indent = ''): string {
  return text
    .trim()
    .split(/(?<=[^.][.!?][)"”*]*)\s+(?=["“(`*]*\p{Lu}|`)/u)
    .flatMap((sentence) => wrapped(sentence, COLUMNS - indent.length))
    .join(`\n${indent}`);
}

function wrapped(sentence: string, columns: number): string[] {
  const lines: string[] = [];
  for (const word of sentence.match(/(?:`[^`]*`|[^\s`])+/g) ?? []) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > columns) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}
