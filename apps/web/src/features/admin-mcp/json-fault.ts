/** A mark, a string, or another value, with the space before it. */
const PART =
  /\s*(?:([{}[\],:])|("(?:[^"\\\p{Cc}]|\\.)*")|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?![\w.]))/uy;

/**
 * Line of the first character at which a text can be no JSON any more, from 1. Engines say it in no way that could be
 * relied on.
 */
export function lineOfFault(text: string): number {
  const open: Array<'{' | '['> = [];
  let wanted: 'value' | 'key' | 'colon' | 'next' = 'value';
  /** Right behind an opening bracket it may be closed. */
  let fresh = false;
  let at = 0;
  for (;;) {
    PART.lastIndex = at;
    const found = PART.exec(text);
    const [whole = '', mark, string] = found ?? [];
    const isClose =
      mark !== undefined &&
      mark === (open.at(-1) === '{' ? '}' : ']') &&
      open.length > 0 &&
      (wanted === 'next' || fresh);
    const isOpen = wanted === 'value' && (mark === '{' || mark === '[');
    const isValue = wanted === 'value' && found !== null && mark === undefined;
    const isKey = wanted === 'key' && string !== undefined;
    const isBetween = (wanted === 'colon' && mark === ':') || (wanted === 'next' && mark === ',' && open.length > 0);
    if (found === null || !(isClose || isOpen || isValue || isKey || isBetween)) break;
    at += whole.length;
    if (isOpen) open.push(mark as '{' | '[');
    if (isClose) open.pop();
    fresh = isOpen;
    if (isOpen) wanted = mark === '{' ? 'key' : 'value';
    else if (isKey) wanted = 'colon';
    else if (isBetween) wanted = mark === ',' && open.at(-1) === '{' ? 'key' : 'value';
    else wanted = 'next';
  }
  const space = /^\s*/.exec(text.slice(at))?.[0].length ?? 0;
  return text.slice(0, at + space).split('\n').length;
}
