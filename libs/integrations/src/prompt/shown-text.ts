/** What a reader of the page would not have seen. */
export type Hidden =
  | 'comment'
  | 'invisible-characters'
  | 'image-text'
  | 'link-title'
  | 'attribute'
  | 'unused-reference'
  | 'unrendered-element';

export interface ShownText {
  readonly text: string;
  /** Kinds that were taken out, each once. Empty: nothing was hidden. */
  readonly hidden: readonly Hidden[];
}

/**
 * Format characters (zero width, bidi, tags), controls but tab and line ends, fillers that are drawn as nothing, and
 * the selectors that no emoji has.
 */
export const INVISIBLE =
  /\p{Cf}|\u034f|[\u115f\u1160\u2800\u3164\uffa0]|\u17b4|\u17b5|[\u180b-\u180d]|\u180f|[\ufe00-\ufe0d]|[\u{e0100}-\u{e01ef}]|(?![\t\n\r])\p{Cc}/gu;
/** The joiner of one emoji out of several is not hidden. */
const EMOJI_JOINER =
  /(?<=\p{Extended_Pictographic}(?:\ufe0f|[\u{1f3fb}-\u{1f3ff}])?)\u200d(?=\p{Extended_Pictographic})/gu;
const JOINER_PLACE = '\ue000';
const UNRENDERED =
  /<(script|style|template|noscript|title|textarea|iframe|object)(?=[\s/>])[^>]*>[\s\S]*?(?:<\/\1\s*>|$)/gi;
const COMMENT = /<!--[\s\S]*?(?:-->|$)|<\?[\s\S]*?(?:\?>|$)|<!\[CDATA\[[\s\S]*?(?:\]\]>|$)|<![a-z][^>]*(?:>|$)/gi;
const TAG = /<(\/?)([a-z][\w-]{0,40})((?:\s|\/)[^<>]{0,8000})?>/gi;
const IMAGE = /!\[[^[\]]{0,8000}\](?=[([])/g;
const LINK_TITLE =
  /(\]\(\s*(?:<[^<>\n]{0,4000}>|[^\s()<>"']{0,4000}))\s+(?:"[^"]{0,8000}"|'[^']{0,8000}'|\([^()]{0,8000}\))\s*\)/g;
const DEFINITION =
  /^ {0,3}\[([^[\]\n]{1,999})\]:[ \t]*\n?[ \t]*(<[^<>\n]{0,4000}>|[^\s<>]{1,4000})(?:[ \t]*\n?[ \t]*(?:"[^"]{0,8000}"|'[^']{0,8000}'|\([^()]{0,8000}\)))?[ \t]*$/gm;
/** The longest text that is worked on; GitLab's longest is longer, and is cut here. Characters. */
const MAX_TEXT = 262_144;

/**
 * A text as a reader of the page saw it: hidden text is where instructions to an agent are planted. What is taken out
 * leaves a visible word, so that nothing new comes together from what stood around it. Not a boundary: what remains is
 * still quoted as data.
 */
export function shownText(source: string): ShownText {
  const hidden = new Set<Hidden>();
  const cut = (text: string, pattern: RegExp, kind: Hidden, instead: (...match: string[]) => string): string =>
    text.replace(pattern, (...match: string[]) => {
      const replacement = instead(...match);
      if (replacement !== match[0]) hidden.add(kind);
      return replacement;
    });
  let text = source.slice(0, MAX_TEXT).toWellFormed().replaceAll(JOINER_PLACE, ' ').replace(EMOJI_JOINER, JOINER_PLACE);
  // First: they could be part of the next patterns.
  text = cut(text, INVISIBLE, 'invisible-characters', () => '').replaceAll(JOINER_PLACE, '\u200d');
  text = cut(text, COMMENT, 'comment', () => '[comment removed]');
  text = cut(text, UNRENDERED, 'unrendered-element', () => '[element removed]');
  text = cut(text, TAG, 'attribute', plainTag);
  text = cut(text, IMAGE, 'image-text', (all) => (all === '![]' || all === '![image]' ? all : '![image]'));
  text = cut(text, LINK_TITLE, 'link-title', (_all, link) => `${link})`);
  text = withoutUnusedReferences(text, cut);
  return { text, hidden: [...hidden].sort() };
}

/** A tag without what it does not show; a collapsed part says so. */
function plainTag(all: string, slash = '', name = '', attributes = ''): string {
  if (name.toLowerCase() === 'details') return slash === '' ? '[collapsed part begins]' : '[collapsed part ends]';
  const address = /\s(?:href|src)\s*=\s*(?:"(https?:[^"\s]*)"|'(https?:[^'\s]*)')/i.exec(attributes);
  const kept = address?.[1] ?? address?.[2];
  if (kept === undefined) return attributes.replace(/[\s/]/g, '') === '' ? all : `<${slash}${name}>`;
  return `<${slash}${name} ${/\shref/i.test(attributes) ? 'href' : 'src'}="${kept}">`;
}

/** A definition shows nothing by itself; one that a link uses keeps its address. */
function withoutUnusedReferences(
  text: string,
  cut: (text: string, pattern: RegExp, kind: Hidden, instead: (...match: string[]) => string) => string,
): string {
  const used = new Set(
    [...text.replace(DEFINITION, '').matchAll(/\[([^[\]]{1,999})\]/g)].map((match) =>
      (match[1] as string).trim().toLowerCase(),
    ),
  );
  return cut(text, DEFINITION, 'unused-reference', (_all, label = '', address = '') =>
    used.has(label.trim().toLowerCase()) ? `[${label}]: ${address}` : '[reference removed]',
  );
}
