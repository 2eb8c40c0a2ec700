import type { ObservedHost } from '@slipway/contracts/sandboxes';

/** As a rule names it: without a port it is for 80 and 443. No two of the list are the same. */
export function patternOf({ host, port }: Pick<ObservedHost, 'host' | 'port'>): string {
  const named = host.includes(':') ? `[${host}]` : host;
  return port === 443 ? named : `${named}:${port}`;
}
