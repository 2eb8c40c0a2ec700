import type { OrgDomain } from '@slipway/contracts/organizations';

/** The TXT record that verifies a claim. */
export function recordOf({
  domain,
  challenge,
}: {
  readonly domain: string;
  readonly challenge: string;
}): OrgDomain['record'] {
  return { type: 'TXT', name: `_slipway-challenge.${domain}`, value: `slipway-domain-verification=${challenge}` };
}
