import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { returnUrl } from './return-path.js';

const PUBLIC = 'https://slipway.example';

describe('returnUrl', () => {
  it('answers an address of our own origin, whatever it is given', () => {
    const piece = fc.constantFrom(
      '/',
      '\\',
      '//',
      '.',
      '..',
      '@',
      ':',
      '?',
      '#',
      '%2f',
      '%5c',
      '\t',
      '\n',
      'evil.example',
      'https:',
      'javascript:',
      ' ',
      'a',
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.array(piece, { maxLength: 8 }).map((parts) => parts.join('')),
          fc.array(piece, { maxLength: 6 }).map((parts) => `/${parts.join('')}`),
        ),
        (path) => {
          expect(new URL(returnUrl(path, PUBLIC)).origin).toBe(PUBLIC);
        },
      ),
    );
  });

  it('keeps path, query and fragment of a path of ours', () => {
    expect(returnUrl('/orgs/a/conversations/b?tab=diff#L4', PUBLIC)).toBe(
      `${PUBLIC}/orgs/a/conversations/b?tab=diff#L4`,
    );
  });

  it('takes what is not one path as the start page', () => {
    for (const value of [
      undefined,
      ['/a', '/b'],
      '',
      'a',
      `/${'a'.repeat(2_000)}`,
      '//evil.example',
      '/\\evil.example',
      'https://slipway.example/a',
    ])
      expect(returnUrl(value, PUBLIC)).toBe(`${PUBLIC}/`);
  });
});
