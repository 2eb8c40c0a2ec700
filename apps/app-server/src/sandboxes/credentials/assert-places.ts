import type { CredentialUse } from '@slipway/contracts/credentials';
import { SlipwayError } from '@slipway/errors';
import { parse } from 'tldts';
import { isOfInternet } from '../egress/rule-pattern.js';

/**
 * Hosts by their names alone: where a name leads is looked at when it is connected to.
 * @throws SlipwayError `credential.place-refused` for a host that is not of the internet, and for a public suffix; also
 * for that of an authorization server.
 */
export function assertPlaces(use: CredentialUse): void {
  const fields = use.places.flatMap(({ host }, index) => {
    const message = refusal(host);
    return message === null ? [] : [{ path: `use.places.${index}.host`, message }];
  });
  for (const [path, url] of serversOf(use)) {
    const message = refusal(new URL(url).hostname);
    if (message !== null) fields.push({ path, message });
  }
  const [first] = fields;
  if (first !== undefined) throw new SlipwayError('credential.place-refused', first.message, { fields });
}

/** What issues its tokens. */
function serversOf(use: CredentialUse): ReadonlyArray<readonly [path: string, url: string]> {
  if (use.form === 'github-app') return [['use.apiUrl', use.apiUrl]];
  return 'tokenUrl' in use ? [['use.tokenUrl', use.tokenUrl]] : [];
}

function refusal(host: string): string | null {
  if (!isOfInternet(host)) return `${host} is not of the internet`;
  // Hosts such as s3.amazonaws.com, below which others have names, are one host all the same.
  if (parse(host, { allowPrivateDomains: false }).domain === null) return `${host} is a public suffix, not one host`;
  return null;
}
