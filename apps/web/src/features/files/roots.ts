/** Most repositories that are opened unasked. */
const MAX_ROOTS = 8;

/**
 * The repositories of a workspace that the tree shows open at first: not those inside another one, which are its parts.
 * @param paths from the workspace on; `.` is the workspace itself.
 */
export function rootsOf(paths: readonly string[]): readonly string[] {
  const below = paths.filter((path) => path !== '.' && path !== '');
  return [...new Set(below.filter((path) => !below.some((other) => path.startsWith(`${other}/`))))].slice(0, MAX_ROOTS);
}
