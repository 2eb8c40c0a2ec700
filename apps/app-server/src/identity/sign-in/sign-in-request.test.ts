import { describe, expect, it } from '@jest/globals';
import { signInRequestOf } from './sign-in-request.js';

describe('signInRequestOf', () => {
  it('heeds what it knows', () => {
    expect(signInRequestOf({ redirect: '/a', switch: '1', login_hint: 'ada@example.test', verify: '1' })).toEqual({
      redirect: '/a',
      options: { loginHint: 'ada@example.test', action: 'VERIFY_EMAIL' },
      switching: true,
    });
    expect(signInRequestOf({ again: 'sign-in' }).options).toEqual({ prompt: 'login' });
    expect(signInRequestOf({ again: 'second-factor' }).options).toEqual({ prompt: 'login', secondFactor: true });
    expect(signInRequestOf({ redirect: '/a', invitation: 'inv_AbC-123_~.x' }).redirect).toBe('/invite/inv_AbC-123_~.x');
  });

  it('takes what is not well formed as absent', () => {
    for (const invitation of [
      '',
      'short',
      '../../../x',
      'a/b/c/d/e/f',
      '//evil.example',
      'https://evil.example',
      `${'a'.repeat(301)}`,
      ['abcdefghij'],
      '%2f%2fevil',
      'abcdefgh?x=1',
      'abcdefgh#x',
    ])
      expect([invitation, signInRequestOf({ redirect: '/a', invitation })]).toEqual([
        invitation,
        { redirect: '/a', options: {}, switching: false },
      ]);
    for (const query of [
      undefined,
      null,
      {},
      { again: 'yes' },
      { again: ['sign-in'] },
      { switch: 'yes', login_hint: '', verify: 'true' },
      { switch: ['1'], login_hint: ['a'], verify: 1 },
      { login_hint: 'a'.repeat(255) },
    ])
      expect(signInRequestOf(query)).toEqual({ redirect: undefined, options: {}, switching: false });
  });
});
