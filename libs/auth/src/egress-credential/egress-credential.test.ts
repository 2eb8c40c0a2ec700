import { describe, expect, it } from '@jest/globals';
import type { EgressClaims } from '@slipway/contracts/sandboxes';
import fc from 'fast-check';
import { EgressCredentials } from './egress-credential.js';

const NOW = new Date('2026-03-01T12:00:00Z');
const CLAIMS: EgressClaims = {
  claim: 'clm_01',
  org: 'org_01',
  template: 'standard',
  egress: 'packages',
  address: '10.244.1.7',
  exp: NOW.getTime() / 1000 + 60,
};
const credentials = new EgressCredentials('a-secret-of-at-least-32-characters');

describe('the credential of a sandbox at egress-proxy', () => {
  it('identifies the sandbox to the proxy, and is the same for the same claims in whatever order', () => {
    const signed = credentials.sign(CLAIMS);
    expect(credentials.verify(signed, NOW)).toEqual(CLAIMS);
    const { exp, ...others } = CLAIMS;
    expect(credentials.sign({ exp, ...others })).toBe(signed);
    // As the password of a URL, without any escape.
    expect(new URL(`http://sandbox:${signed}@proxy:3128`).password).toBe(signed);
  });

  it('is refused when it is over, to the second', () => {
    const signed = credentials.sign(CLAIMS);
    expect(credentials.verify(signed, new Date(CLAIMS.exp * 1000 - 1))).toEqual(CLAIMS);
    expect(credentials.verify(signed, new Date(CLAIMS.exp * 1000))).toBeNull();
  });

  it('is refused under another secret, and with any character changed, added or left out', () => {
    const signed = credentials.sign(CLAIMS);
    expect(new EgressCredentials('another-secret-of-at-least-32-chars').verify(signed, NOW)).toBeNull();
    fc.assert(
      fc.property(fc.nat({ max: signed.length - 1 }), fc.constantFrom('', 'A', '.', '-', '%', '\0', 'ü'), (at, put) => {
        const changed = signed.slice(0, at) + put + signed.slice(at + 1);
        // The last character of a MAC has two bits that mean nothing.
        fc.pre(
          changed !== signed &&
            !(
              at === signed.length - 1 &&
              put !== '' &&
              Buffer.from(changed.slice(-43), 'base64url').equals(Buffer.from(signed.slice(-43), 'base64url'))
            ),
        );
        expect(credentials.verify(changed, NOW)).toBeNull();
      }),
    );
    fc.assert(fc.property(fc.string(), (text) => expect(credentials.verify(text, NOW)).toBeNull()));
    expect(credentials.verify(`slp_egr_${'A'.repeat(2_000)}.${'A'.repeat(43)}`, NOW)).toBeNull();
  });

  it('cannot claim a class that has no proxy, although it is signed', () => {
    for (const egress of ['none', 'open', ''])
      expect(credentials.verify(credentials.sign({ ...CLAIMS, egress } as unknown as EgressClaims), NOW)).toBeNull();
  });
});
