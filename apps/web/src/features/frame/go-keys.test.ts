import { describe, expect, it } from '@jest/globals';
import { placeOfKey } from './go-keys.ts';

describe('keys that lead somewhere', () => {
  it('are c alone, and others after g', () => {
    expect([placeOfKey('c', false), placeOfKey('c', true), placeOfKey('a', true), placeOfKey('n', true)]).toEqual([
      '',
      '/conversations',
      '/admin',
      '',
    ]);
    expect([placeOfKey('a', false), placeOfKey('g', false), placeOfKey('x', true), placeOfKey('Enter', false)]).toEqual(
      [null, null, null, null],
    );
  });
});
