/**
 * What ends the lines of a text for the editor: where all end alike so, else a line feed, and every other sign stays
 * where it is.
 */
export function lineSeparatorOf(text: string): '\r\n' | '\n' {
  return text.includes('\r\n') && !/(^|[^\r])\n/.test(text) && !/\r(?!\n)/.test(text) ? '\r\n' : '\n';
}

/**
 * The one change that makes `after` of `before`, as short as its two ends allow; offsets as the editor counts, each
 * line end as one. `null`: there is none.
 */
export function changeBetween(before: string, after: string): { from: number; to: number; insert: string } | null {
  if (before === after) return null;
  let from = 0;
  const shortest = Math.min(before.length, after.length);
  while (from < shortest && before.charCodeAt(from) === after.charCodeAt(from)) from += 1;
  // Not between the two halves of a sign or of a line end.
  if (from > 0 && /[\ud800-\udbff\r]/.test(before.charAt(from - 1))) from -= 1;
  let end = 0;
  while (
    end < shortest - from &&
    before.charCodeAt(before.length - 1 - end) === after.charCodeAt(after.length - 1 - end)
  )
    end += 1;
  if (end > 0 && /[\udc00-\udfff\n]/.test(before.charAt(before.length - end))) end -= 1;
  const units =
    lineSeparatorOf(before) === '\r\n'
      ? (text: string) => text.length - text.split('\r\n').length + 1
      : (text: string) => text.length;
  const start = units(before.slice(0, from));
  return {
    from: start,
    to: start + units(before.slice(from, before.length - end)),
    insert: after.slice(from, after.length - end),
  };
}
