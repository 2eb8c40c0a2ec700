/** Lines of an excerpt as a field can hold them, and what ends each of them beside the line feed. */
export interface EditableLines {
  readonly text: string;
  readonly ending: '' | '\r';
}

/** A field knows no carriage returns: where every line has one, they are taken off and put back. */
export function editableLines(excerpt: string): EditableLines {
  const lines = excerpt.split('\n');
  return lines.every((line) => line.endsWith('\r'))
    ? { text: lines.map((line) => line.slice(0, -1)).join('\n'), ending: '\r' }
    : { text: excerpt, ending: '' };
}

/** What a field holds, as lines of the file. */
export function fileLines(text: string, { ending }: EditableLines): string {
  return ending === '' || text === '' ? text : `${text.split('\n').join(`${ending}\n`)}${ending}`;
}

export interface SuggestedLine {
  readonly sign: ' ' | '-' | '+';
  readonly text: string;
}

/** A suggestion as a small diff: what begins and ends alike stays, the lines between are taken out and put in. */
export function suggestedLines(excerpt: string, suggestion: string): readonly SuggestedLine[] {
  const before = excerpt.split('\n');
  const after = suggestion === '' ? [] : suggestion.split('\n');
  let head = 0;
  while (head < before.length && head < after.length && before[head] === after[head]) head += 1;
  let tail = 0;
  const most = Math.min(before.length, after.length) - head;
  while (tail < most && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1;
  const signed = (sign: SuggestedLine['sign']) => (text: string) => ({ sign, text });
  return [
    ...before.slice(0, head).map(signed(' ')),
    ...before.slice(head, before.length - tail).map(signed('-')),
    ...after.slice(head, after.length - tail).map(signed('+')),
    ...before.slice(before.length - tail).map(signed(' ')),
  ];
}
