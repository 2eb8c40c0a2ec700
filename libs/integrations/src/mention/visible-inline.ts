/** Elements whose content is code, quoted or not shown. */
const HIDING = /^<(\/?)(code|pre|blockquote|kbd|samp|tt|q|script|style|textarea|template|noscript)(?=[\s/>]|$)/i;
/** Comments, tags, autolinks: what stands between angle brackets. */
const ANGLE = /<!--[\s\S]*?(?:-->|$)|<\/?[a-z][^<>]{0,2000}>|<[a-z][a-z0-9+.-]{1,31}:[^\s<>]*>/gi;
const URL = /(?:[a-z][a-z0-9+.-]{1,31}:\/\/|www\.|mailto:|xmpp:)\S*/gi;
const MAIL = /<[^\s<>@]{1,320}@[^\s<>]{1,320}>/g;
/** Where a link or image leads, with its title; or a reference's. */
const DESTINATION =
  /\]\([^()]*(?:\([^()]*\)[^()]*)*\)|\]\[[^[\]]{0,999}\]|^ {0,3}\[[^[\]\n]{1,999}\]:[^\n]*(?:\n[ \t]+["'(][^\n]*)?/gm;
/** Alternative text of an image, invisible to most readers. */
const IMAGE = /!\[[^[\]]{0,2000}\]/g;

const blank = (text: string): string => text.replace(/[^\n]/g, ' ');

/**
 * What is left of a document's stretches: the same text with all that is no prose blanked out. The element that hides
 * goes on over stretches.
 */
export function visibleProse(
  stretches: readonly { readonly kind: 'text' | 'html'; readonly text: string }[],
): string[] {
  let hidden: string | null = null;
  return stretches.map(({ kind, text }) => {
    // Of a line alone and of the paragraph: spans pair differently in a table's cells and beside an address, and a
    // mention must be visible each way.
    const withoutCode =
      kind === 'html'
        ? text
        : [text.split('\n').map(blankCode).join('\n'), blankCode(text.replace(URL, blank))].reduce(
            both,
            blankCode(text),
          );
    const parts = withoutAngles(withoutCode, hidden);
    hidden = parts.hidden;
    if (kind === 'html') return blank(text);
    // Each is searched in the whole text, addresses in the source too: what one hides may be a part of another.
    return [IMAGE, DESTINATION, URL]
      .map((pattern) => parts.text.replace(pattern, blank))
      .reduce(both, both(text.replace(MAIL, blank), text.replace(URL, blank)));
  });
}

function withoutAngles(text: string, before: string | null): { readonly text: string; readonly hidden: string | null } {
  let hidden = before;
  let out = '';
  let at = 0;
  for (const match of text.matchAll(ANGLE)) {
    const between = text.slice(at, match.index);
    out += hidden === null ? between : blank(between);
    out += blank(match[0]);
    at = match.index + match[0].length;
    const tag = HIDING.exec(match[0]);
    if (tag === null || match[0].endsWith('/>')) continue;
    const name = (tag[2] as string).toLowerCase();
    if (tag[1] === '' && hidden === null) hidden = name;
    else if (tag[1] === '/' && hidden === name) hidden = null;
  }
  const rest = text.slice(at);
  return { text: out + (hidden === null ? rest : blank(rest)), hidden };
}

/** Code spans of a paragraph: a run of backticks up to the next run of the same length. */
function blankCode(text: string): string {
  const runs = [...text.matchAll(/`+/g)].map((match) => ({ at: match.index, length: match[0].length }));
  const places = new Map<number, { readonly indexes: number[]; at: number }>();
  for (const [index, { length }] of runs.entries()) {
    const place = places.get(length);
    if (place === undefined) places.set(length, { indexes: [index], at: 0 });
    else place.indexes.push(index);
  }
  let out = '';
  let done = 0;
  for (let index = 0; index < runs.length; index++) {
    const run = runs[index] as { at: number; length: number };
    if (run.at < done) continue;
    const escaped = isEscaped(text, run.at);
    const length = escaped ? run.length - 1 : run.length;
    const closer = length === 0 ? undefined : nextAfter(places.get(length), index);
    if (closer === undefined) continue;
    const end = runs[closer] as { at: number; length: number };
    out += text.slice(done, run.at) + blank(text.slice(run.at, end.at + end.length));
    done = end.at + end.length;
    index = closer;
  }
  return out + text.slice(done);
}

/** The first of ascending indexes beyond `index`; never visits one twice. */
function nextAfter(
  place: { readonly indexes: readonly number[]; at: number } | undefined,
  index: number,
): number | undefined {
  if (place === undefined) return undefined;
  while (place.at < place.indexes.length && (place.indexes[place.at] as number) <= index) place.at++;
  return place.indexes[place.at];
}

function isEscaped(text: string, at: number): boolean {
  let slashes = 0;
  while (text[at - 1 - slashes] === '\\') slashes++;
  return slashes % 2 === 1;
}

/** What both show. */
function both(one: string, other: string): string {
  let out = '';
  for (let at = 0; at < one.length; at++) out += one[at] === other[at] ? (one[at] as string) : ' ';
  return out;
}
