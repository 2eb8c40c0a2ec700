const TARGET = /^(\/[!-~]*?)(?:\?([!-~]*))?$/;
const ESCAPE = /%([0-9A-Fa-f]{2})?/g;
const UNRESERVED = /[A-Za-z0-9._~-]/;
/** Decoded twice they would be a dot, a slash or a backslash. */
const TWICE = /%25(?:25)*(?:2e|2f|5c)/i;

/** The target of a request, as it is judged. */
export interface RequestTarget {
  /** In normal form; what is compared with patterns. */
  readonly path: string;
  /** As it was written. */
  readonly rawPath: string;
  /** As it was written, without `?`; `null`: there is none. */
  readonly query: string | null;
}

/**
 * Reads a request target (`/path?query`). In the path's normal form unreserved characters stand for themselves, other
 * escapes have capitals, and nothing else is changed: `%2F` stays what it is.
 *
 * @returns `null` for what servers read in different ways: dot segments in any spelling (`..`, `%2e%2e`, `..;x`,
 * `..%2f`), empty segments, backslashes, control characters, escapes of escapes, anything that is not ASCII, and
 * absolute addresses.
 */
export function readRequestTarget(target: string): RequestTarget | null {
  const [, rawPath, query = null] = TARGET.exec(target) ?? [];
  if (rawPath === undefined || rawPath.includes('\\') || rawPath.includes('#') || TWICE.test(rawPath)) return null;
  const path = normalPath(rawPath);
  if (path === null || path.includes('//')) return null;
  const segments = path.split(/\/|%2F/);
  return segments.every((segment) => !/^\.{1,2}(?:;|%3B|$)/.test(segment)) ? { path, rawPath, query } : null;
}

/** The normal form of a path's escapes. @returns `null` at one that is broken, or of a control or a backslash. */
export function normalPath(path: string): string | null {
  let broken = false;
  const normal = path.replace(ESCAPE, (_escape, hex: string | undefined) => {
    const code = Number.parseInt(hex ?? '0', 16);
    if (code < 0x20 || code === 0x7f || code === 0x5c) broken = true;
    const character = String.fromCharCode(code);
    return code < 0x80 && UNRESERVED.test(character) ? character : `%${(hex ?? '').toUpperCase()}`;
  });
  return broken ? null : normal;
}
