/**
 * Name and place of a cookie for the routes below `/oauth`. Over https its name has the prefix that makes browsers take
 * it from this host only: a page of a neighbouring host cannot plant one.
 * @param name of letters, digits, `_` and `-`.
 */
export function hostCookie(name: string, publicUrl: string): { readonly name: string; readonly attributes: string } {
  return isHttps(publicUrl) ? { name: `__Host-${name}`, attributes: 'Path=/' } : { name, attributes: 'Path=/oauth' };
}

/**
 * What every such cookie has: no script reads it, and it comes with navigation from other sites, since the way back is
 * one.
 */
export function hostCookieRules(publicUrl: string): string {
  return `HttpOnly; SameSite=Lax${isHttps(publicUrl) ? '; Secure' : ''}`;
}

function isHttps(publicUrl: string): boolean {
  return new URL(publicUrl).protocol === 'https:';
}
