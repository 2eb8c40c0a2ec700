/**
 * The part of a git patch that is about one file; empty when there is none. A header is only taken for one at the
 * beginning of a line, where in a patch no line of a file's content can begin with `diff --git `.
 */
export function patchOfFile(patch: string, file: string): string {
  const starts = [...patch.matchAll(/^diff --git /gm)].map(({ index }) => index);
  return starts
    .map((start, position) => patch.slice(start, starts[position + 1] ?? patch.length))
    .filter((part) => namesOf(part).has(file))
    .join('');
}

/**
 * Names that a part's header gives: before and after a move, or the file itself when it is binary, empty or has another
 * mode only.
 */
function namesOf(part: string): ReadonlySet<string> {
  const header = part.slice(0, /^@@ |^GIT binary patch|^Binary files /m.exec(part)?.index ?? part.length);
  const names = new Set<string>();
  for (const line of header.split('\n')) {
    const match =
      /^(?:--- a\/|\+\+\+ b\/|rename from |rename to |copy from |copy to )(.*)$/.exec(line) ??
      /^(?:--- "a\/|\+\+\+ "b\/|rename from "|rename to ")(.*)"\t?$/.exec(line);
    if (match !== null) names.add(unquote(match[1] as string));
  }
  // `diff --git a/NAME b/NAME`: both are the same when nothing else says the name.
  const first = header.slice('diff --git '.length, header.indexOf('\n'));
  const half = (first.length - 1) / 2;
  if (names.size === 0 && Number.isInteger(half))
    names.add(
      unquote(
        first
          .slice(0, half)
          .replace(/^"?a\//, '')
          .replace(/"$/, ''),
      ),
    );
  return names;
}

/** git writes bytes outside ASCII as octal escapes in quotes, and ends a name that has spaces with a tab. */
function unquote(name: string): string {
  const plain = name.replace(/\t$/, '');
  if (!plain.includes('\\')) return plain;
  const bytes: number[] = [];
  for (const match of plain.matchAll(/\\([0-7]{3})|\\(.)|([^\\]+)/gs)) {
    if (match[1] !== undefined) bytes.push(Number.parseInt(match[1], 8));
    else
      bytes.push(
        ...Buffer.from(match[2] === undefined ? (match[3] as string) : ({ n: '\n', t: '\t' }[match[2]] ?? match[2])),
      );
  }
  return Buffer.from(bytes).toString('utf8');
}
