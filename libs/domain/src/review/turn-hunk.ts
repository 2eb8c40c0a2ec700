/** One hunk as the lines of both its sides, each with its end. */
interface Hunk {
  /** Where it begins in what the change made, from 0. */
  readonly at: number;
  readonly old: readonly string[];
  readonly new: readonly string[];
}

/** `revert`: to what was there before the change. `restore`: to what the change made. */
export type HunkDirection = 'revert' | 'restore';

/**
 * The text with one hunk of its patch taken back, or put back, where all other hunks are as they were. `null`: its
 * lines are not exactly where the hunk has them, or the text is no hunk. Nothing is searched for: what moved is
 * refused, never guessed.
 */
export function turnHunk(text: string, hunk: string, direction: HunkDirection): string | null {
  const parsed = parseHunk(hunk);
  if (parsed === null) return null;
  const [from, to] = direction === 'revert' ? [parsed.new, parsed.old] : [parsed.old, parsed.new];
  const lines = text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  // A side without a line is that of a file without any: git shows the neighbours of all else.
  if (Math.min(from.length, to.length) === 0 && lines.length !== from.length) return null;
  const { at } = parsed;
  if (from.some((line, index) => lines[at + index] !== line)) return null;
  const turned = [...lines.slice(0, at), ...to, ...lines.slice(at + from.length)];
  return turned.slice(0, -1).every((line) => line.endsWith('\n')) ? turned.join('') : null;
}

/** Reads one hunk, as `git diff` writes it, and nothing beside it. */
function parseHunk(hunk: string): Hunk | null {
  const [head = '', ...body] = hunk.replace(/\n$/, '').split('\n');
  const counts = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(head);
  if (counts === null) return null;
  const sides: Record<'-' | '+', string[]> = { '-': [], '+': [] };
  let last: ReadonlyArray<'-' | '+'> = [];
  for (const line of body) {
    const sign = line[0];
    if (sign === '\\') {
      for (const side of last) sides[side].push((sides[side].pop() ?? '').slice(0, -1));
      continue;
    }
    if (sign !== ' ' && sign !== '-' && sign !== '+') return null;
    last = sign === ' ' ? ['-', '+'] : [sign];
    for (const side of last) sides[side].push(`${line.slice(1)}\n`);
  }
  if (sides['-'].length !== Number(counts[2] ?? 1) || sides['+'].length !== Number(counts[4] ?? 1)) return null;
  return { at: Math.max(0, Number(counts[3]) - 1), old: sides['-'], new: sides['+'] };
}
