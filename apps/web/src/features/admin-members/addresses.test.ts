import { describe, expect, it } from '@jest/globals';
import { addressesOf } from './addresses.ts';

describe('pasted addresses', () => {
  it('are found between commas, semicolons, spaces and lines', () => {
    expect(addressesOf('a@x.org, b@x.org;c@x.org d@x.org\n\ne@x.org\t')).toEqual([
      'a@x.org',
      'b@x.org',
      'c@x.org',
      'd@x.org',
      'e@x.org',
    ]);
  });

  it('are taken out of angle brackets, without the name before them', () => {
    expect(addressesOf('Ada Lovelace <ada@x.org>, "Hopper, Grace" <grace@x.org>')).toEqual([
      'ada@x.org',
      'grace@x.org',
    ]);
    expect(addressesOf('Ada <ada@x.org> Grace <grace@x.org>')).toEqual(['ada@x.org', 'grace@x.org']);
  });

  it('are there once each, whatever their case', () => {
    expect(addressesOf('Ada@x.org ada@X.org')).toEqual(['Ada@x.org']);
  });

  it('keeps what is no address, for the answer to call it wrong', () => {
    expect(addressesOf('ada@x.org, nobody')).toEqual(['ada@x.org', 'nobody']);
  });
});
