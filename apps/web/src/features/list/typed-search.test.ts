import { describe, expect, it } from '@jest/globals';
import { type TypedSearch, wantedOf, withAddress } from './typed-search.ts';

const empty: TypedSearch = { typed: '', seen: '', asked: [] };

describe('a search field whose value is held in the address', () => {
  it('keeps what is typed while the address follows an earlier search', () => {
    const searched = { ...empty, typed: 'conversation', asked: ['conversation'] };
    expect(withAddress(searched, '')).toBe(searched);
    const typedOn = { ...searched, typed: 'secret' };
    expect(withAddress(typedOn, 'conversation')).toEqual({ typed: 'secret', seen: 'conversation', asked: [] });
  });

  it('keeps it when two searches are on their way, whether or not the first is seen', () => {
    const twice = { typed: 'secret', seen: '', asked: ['conversation', 'secret'] };
    expect(wantedOf(twice)).toBe('secret');
    expect(withAddress(twice, 'conversation')).toEqual({ typed: 'secret', seen: 'conversation', asked: ['secret'] });
    expect(withAddress(twice, 'secret')).toEqual({ typed: 'secret', seen: 'secret', asked: [] });
  });

  it('takes what the address has by other means', () => {
    expect(withAddress({ typed: 'secret', seen: 'secret', asked: [] }, '')).toEqual(empty);
    expect(withAddress({ typed: 'secret', seen: '', asked: ['conversation'] }, 'key')).toEqual({
      typed: 'key',
      seen: 'key',
      asked: [],
    });
  });
});
