import type { Chosen } from '../judge/credential.js';
import { decoded } from '../judge/foreign.js';
import { misplaced } from '../judge/refusal.js';
import type { Header, RequestHead } from '../judge/request-head.js';

const REFERENCE = /[A-Za-z0-9_-]*slp_ref_[A-Za-z0-9_-]*/gi;
const HINT = /slp_ref_/i;
/** Words of a header that may be base64. */
const ENCODED = /[A-Za-z0-9+/_-]{16,}={0,2}/g;

/** All references that stand in a text as they are. */
const referencesIn = (text: string): string[] => (HINT.test(text) ? (text.match(REFERENCE) ?? []) : []);

/**
 * References of a request, each of which has to be one of this conversation at one of its places.
 * @param found what is at this place.
 * @throws SlipwayError `credential.misplaced` for any other, wherever it stands: in headers, in Basic, in the path, in
 * the query, encoded.
 */
export function readReferences({ headers, target }: RequestHead, found: readonly Chosen[]): ReadonlySet<string> {
  const ours = new Set(found.flatMap(({ credential: { reference } }) => (reference === null ? [] : [reference])));
  const brought = new Set<string>();
  const take = (texts: readonly string[]): void => {
    for (const text of texts) {
      if (!ours.has(text)) throw foreignReference();
      brought.add(text);
    }
  };
  for (const [name, value] of headers) {
    take(referencesIn(name));
    take(referencesIn(value));
    if (basicOf(value) !== null) take(referencesIn(basicOf(value) ?? ''));
    else if (isHidden(value)) throw foreignReference();
  }
  if (HINT.test(target.path) || HINT.test(decoded(target.path) ?? '')) throw foreignReference();
  take(referencesIn(target.query ?? ''));
  // Found only after decoding, it would not be replaced.
  if (!HINT.test(target.query ?? '') && HINT.test(decoded(target.query ?? '') ?? '')) throw foreignReference();
  return brought;
}

/** The request with values where references were. */
export function withValues(head: RequestHead, found: readonly Chosen[]): RequestHead {
  const values = new Map<string, Buffer>();
  for (const { credential } of found)
    if (credential.reference !== null && !values.has(credential.reference))
      values.set(credential.reference, credential.value);
  const put = (text: string, encode: (value: Buffer) => string): string =>
    HINT.test(text)
      ? text.replace(REFERENCE, (reference) => {
          const value = values.get(reference);
          return value === undefined ? reference : encode(value);
        })
      : text;
  const headers = head.headers.map(([name, value]: Header): Header => {
    const basic = basicOf(value);
    if (basic === null || !HINT.test(basic)) return [name, put(value, (each) => each.toString('latin1'))];
    const plain = Buffer.from(
      put(Buffer.from(basic).toString('latin1'), (each) => each.toString('latin1')),
      'latin1',
    );
    return [name, `Basic ${plain.toString('base64')}`];
  });
  const { query } = head.target;
  return {
    ...head,
    headers,
    target: {
      ...head.target,
      query: query === null ? null : put(query, (each) => encodeURIComponent(each.toString())),
    },
  };
}

function basicOf(value: string): string | null {
  const [, encoded] = /^Basic +([A-Za-z0-9+/_=-]+)$/i.exec(value.trim()) ?? [];
  return encoded === undefined ? null : Buffer.from(encoded, 'base64').toString();
}

/** Whether a value has a reference in base64 or percent escapes. */
function isHidden(value: string): boolean {
  if (value.includes('%') && !HINT.test(value) && HINT.test(decoded(value) ?? '')) return true;
  return (value.match(ENCODED) ?? []).some((word) => HINT.test(Buffer.from(word, 'base64').toString('latin1')));
}

const foreignReference = () =>
  misplaced(
    'The request has a reference to a credential that is not this conversation’s, is changed, or may not be used here.',
    'reference',
  );
