/** Most patterns that braces may stand for. */
const MAX_ALTERNATIVES = 100;
/** Most code units of all of them. */
const MAX_EXPANDED = 20_000;

type Token =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'any' }
  | { readonly kind: 'star' }
  | ClassToken;
interface ClassToken {
  readonly kind: 'class';
  readonly negated: boolean;
  readonly ranges: ReadonlyArray<readonly [string, string]>;
}
/** `null` stands for `**`: any number of folders. */
type Pattern = ReadonlyArray<readonly Token[] | null>;

/**
 * Whether a path matches a glob: `*`, `?`, `[a-z]`, `{a,b}`, `**` for any number of folders, a backslash before what is
 * meant as itself. A pattern without a slash is matched against the last name of the path, one with a slash against all
 * of it. `undefined` for a pattern whose braces stand for too many. No pattern is slow: the work for one path is
 * bounded by the lengths multiplied.
 */
export function globMatcher(glob: string): ((path: string) => boolean) | undefined {
  const expanded = withoutBraces(glob.replace(/^\.?\//, '/'));
  if (expanded === undefined) return undefined;
  const patterns = expanded.map((alternative) => ({
    whole: alternative.includes('/'),
    segments: alternative
      .replace(/^\//, '')
      .split('/')
      .map((segment) => (segment === '**' ? null : tokensOf(segment))),
  }));
  return (path) => {
    const names = path.split('/');
    return patterns.some(({ whole, segments }) => matchesPath(segments, whole ? names : names.slice(-1)));
  };
}

/** `a{b,c}` as `ab` and `ac`. A brace without its partner, or with nothing to choose from, is itself. */
function withoutBraces(glob: string): string[] | undefined {
  let done: string[] = [];
  let open = [glob];
  for (let length = 0; open.length > 0; ) {
    if (open.length + done.length > MAX_ALTERNATIVES) return undefined;
    const next: string[] = [];
    for (const pattern of open) {
      const choice = firstChoice(pattern);
      length += pattern.length;
      if (length > MAX_EXPANDED) return undefined;
      if (choice === undefined) done = [...done, pattern];
      else next.push(...choice);
    }
    open = next;
  }
  return done;
}

function firstChoice(pattern: string): string[] | undefined {
  const opened: Array<{ at: number; commas: number[] }> = [];
  let inClass = false;
  for (let at = 0; at < pattern.length; at++) {
    const character = pattern[at];
    if (character === '\\') at++;
    else if (inClass) inClass = character !== ']';
    else if (character === '[') inClass = pattern.indexOf(']', at + 1) > 0;
    else if (character === '{') opened.push({ at, commas: [] });
    else if (character === ',') opened.at(-1)?.commas.push(at);
    else if (character === '}') {
      const brace = opened.pop();
      if (brace === undefined || brace.commas.length === 0) continue;
      const ends = [...brace.commas, at];
      return ends.map(
        (end, index) =>
          pattern.slice(0, brace.at) +
          pattern.slice((index === 0 ? brace.at : (ends[index - 1] as number)) + 1, end) +
          pattern.slice(at + 1),
      );
    }
  }
  return undefined;
}

function tokensOf(segment: string): Token[] {
  const tokens: Token[] = [];
  const characters = [...segment];
  for (let at = 0; at < characters.length; at++) {
    const character = characters[at] as string;
    if (character === '*') {
      if (tokens.at(-1)?.kind !== 'star') tokens.push({ kind: 'star' });
    } else if (character === '?') tokens.push({ kind: 'any' });
    else if (character === '[') {
      const found = classAt(characters, at);
      tokens.push(found?.token ?? { kind: 'text', text: '[' });
      at = found?.end ?? at;
    } else if (character === '\\' && at + 1 < characters.length)
      tokens.push({ kind: 'text', text: characters[++at] as string });
    else tokens.push({ kind: 'text', text: character });
  }
  return tokens;
}

function classAt(characters: readonly string[], open: number): { token: ClassToken; end: number } | undefined {
  const negated = characters[open + 1] === '!' || characters[open + 1] === '^';
  const ranges: Array<readonly [string, string]> = [];
  const first = open + (negated ? 2 : 1);
  for (let at = first; at < characters.length; at++) {
    const character = characters[at] as string;
    if (character === ']' && at > first) return { token: { kind: 'class', negated, ranges }, end: at };
    const last =
      characters[at + 1] === '-' && characters[at + 2] !== undefined && characters[at + 2] !== ']'
        ? (characters[at + 2] as string)
        : character;
    ranges.push([character, last]);
    if (last !== character || characters[at + 1] === '-') at += last === character ? 0 : 2;
  }
  return undefined;
}

/** Both levels go back only to the last star: what comes after it is tried one place further. */
function matchesPath(pattern: Pattern, names: readonly string[]): boolean {
  return greedy(
    pattern,
    names,
    (segment) => segment === null,
    (segment, name) => matchesName(segment as readonly Token[], [...name]),
  );
}

function matchesName(tokens: readonly Token[], characters: readonly string[]): boolean {
  return greedy(
    tokens,
    characters,
    (token) => token.kind === 'star',
    (token, character) =>
      token.kind === 'text' ? token.text === character : token.kind !== 'class' || inClass(token, character),
  );
}

function greedy<P, T>(
  pattern: readonly P[],
  text: readonly T[],
  isStar: (part: P) => boolean,
  matches: (part: P, item: T) => boolean,
): boolean {
  let part = 0;
  let star = -1;
  let from = 0;
  for (let at = 0; at < text.length; ) {
    const wanted = pattern[part];
    if (part < pattern.length && isStar(wanted as P)) {
      star = part++;
      from = at;
    } else if (part < pattern.length && matches(wanted as P, text[at] as T)) {
      part++;
      at++;
    } else if (star >= 0) {
      part = star + 1;
      at = ++from;
    } else return false;
  }
  while (part < pattern.length && isStar(pattern[part] as P)) part++;
  return part === pattern.length;
}

function inClass({ ranges, negated }: ClassToken, character: string): boolean {
  return ranges.some(([first, last]) => first <= character && character <= last) !== negated;
}
