/**
 * Before the connection's id. Each has an address of its own: a code that one provider gave is never taken to another
 * one, whatever that one's pages have made of a link (RFC 9700, 4.4).
 */
const CALLBACK_PATH = '/oauth/integrations/callback';

/** Where the provider of a connection sends browsers back to. */
export function callbackUrl(publicUrl: string, connectionId: string): string {
  return new URL(`${CALLBACK_PATH}/${encodeURIComponent(connectionId)}`, publicUrl).href;
}
