import { normalPath } from './request-path.js';

/**
 * Whether a path in its normal form (`readRequestTarget`) is one of a pattern such as `/v1/**` or `/repos/acme/*`.
 * Segments are compared literally and by case. `*` is one segment, and none with `%2F` in it: a server may read that as
 * two. `**` at the end is any number of them, none included.
 */
export function matchesPath(pattern: string, path: string): boolean {
  const normal = normalPath(pattern);
  if (normal === null) return false;
  return matchesSegments(normal.split('/'), path.split('/'), (segment) => !segment.includes('%2F'));
}

/**
 * Whether some server may take the path for one of the pattern, as a refusal has to read it: case, escapes, parameters
 * (`;x`) and a slash at the end do not count, and `%2F` is a slash or none.
 */
export function mayMatchPath(pattern: string, path: string): boolean {
  if (matchesPath(pattern, path)) return true;
  const readings = (text: string): string[][] => [text, text.replaceAll(/%2F/gi, '/')].map(looseSegments);
  const given = readings(path);
  return readings(pattern).some((wanted) => given.some((segments) => matchesSegments(wanted, segments, () => true)));
}

function looseSegments(path: string): string[] {
  const segments = path.split('/').map((segment) => decoded(segment.replace(/(?:;|%3B).*$/i, '')).toLowerCase());
  while (segments.length > 2 && segments.at(-1) === '') segments.pop();
  return segments;
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}

/** @param isOne whether a segment may stand for `*`. */
function matchesSegments(
  pattern: readonly string[],
  given: readonly string[],
  isOne: (segment: string) => boolean,
): boolean {
  const wanted = [...pattern];
  const open = wanted.at(-1) === '**';
  if (open) wanted.pop();
  if (open ? given.length < wanted.length : given.length !== wanted.length) return false;
  return wanted.every((segment, index) => {
    const other = given[index] ?? '';
    return segment === '*' ? other !== '' && isOne(other) : segment === other;
  });
}
