/**
 * Where a connection's pages are. @throws Error when its settings name another host than its own: a credential never
 * goes there.
 */
export function baseUrlOf({
  host,
  settings,
}: {
  readonly host: string;
  readonly settings: { readonly baseUrl?: string | null };
}): string {
  const { baseUrl } = settings;
  if (baseUrl === null || baseUrl === undefined) return `https://${host}`;
  if (!isAtHost(baseUrl, host)) throw new Error('the address of a connection is at another host');
  return baseUrl;
}

/** Where a provider delivers what happens for a connection. */
export function deliveriesUrl(
  publicUrl: string,
  { provider, id }: { readonly provider: string; readonly id: string },
): string {
  return new URL(`/api/integration/${provider}/events/${id}`, publicUrl).href;
}

/** Whether a URL is at `host`, which may have a port. */
export function isAtHost(url: string, host: string): boolean {
  const parsed = URL.parse(url);
  return parsed !== null && parsed.host === URL.parse(`${parsed.protocol}//${host}`)?.host;
}
