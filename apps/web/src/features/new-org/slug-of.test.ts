import { describe, expect, it } from '@jest/globals';
import { OrgSlug } from '@slipway/contracts/organizations';
import { slugOf } from './slug-of.ts';

describe('an address made of a name', () => {
  it('is one that the contract takes, or nothing', () => {
    for (const name of ['Acme, Inc.', 'Größe & Söhne', '  a -- b  ', `${'x'.repeat(39)} y`, '42'])
      expect(OrgSlug.safeParse(slugOf(name)).success).toBe(true);
    expect(slugOf('日本')).toBe('');
  });

  it('keeps what can be read of the name', () => {
    expect(slugOf('Größe & Söhne')).toBe('gro-e-sohne');
    expect(slugOf('Acme, Inc.')).toBe('acme-inc');
  });
});
