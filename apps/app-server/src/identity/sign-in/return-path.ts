/**
 * Where a browser goes after signing in: the given path on our own origin, else the start page. Answers an absolute
 * URL, because a path that begins with two slashes after normalization would be read as another host.
 */
export function returnUrl(path: unknown, publicUrl: string): string {
  const home = new URL('/', publicUrl);
  if (typeof path !== 'string' || !path.startsWith('/') || path.length > 2_000 || !URL.canParse(path, publicUrl))
    return home.href;
  const url = new URL(path, publicUrl);
  return url.origin === home.origin ? url.href : home.href;
}
