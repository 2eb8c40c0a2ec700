import { normalPath } from './request-path.js';

/**
 * Whether a path in its normal form (`readRequestTarget`) is one of a pattern such as `/v1/**` or `/repos/acme/*`.
 * Segments are compared literally and by case. `*` is one segment, and none with `%2F` in it: a server may read that as
 * two. `**` at the end is any number of them, none included.
 */
export function matchesPath(pattern: string, path: string): boolean {
  const normal = normalPath(pattern);
  if (normal === null) return false;
  const wanted = normal.split('/');
  const given = path.split('/');
  const open = wanted.at(-1) === '**';
  if (open) wanted.pop();
  if (open ? given.length < wanted.length : given.length !== wanted.length) return false;
  return wanted.every((segment, index) => {
    const other = given[index] ?? '';
    return segment === '*' ? other !== '' && !other.includes('%2F') : segment === other;
  });
}
