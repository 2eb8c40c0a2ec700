import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { createIds, systemClock } from '@slipway/domain';
import fc from 'fast-check';
import { hashApiKey, makeApiKey, parseApiKey } from './api-key-token.js';

const ids = createIds(systemClock);

describe('the token of an API key', () => {
  it('has one form, whatever the secret is: what scanners are given finds every one of them, and nothing of a sandbox', () => {
    const scanner = /\bslp_(?:live|dev)_[0-9a-hjkmnp-tv-z]{26}_[0-9A-Za-z]{49}\b/;
    for (const secret of [Buffer.alloc(32), Buffer.alloc(32, 255), Buffer.from('01'.padStart(64, '0'), 'hex')]) {
      const { token, prefix, last4 } = makeApiKey('live', ids.prefixed('key'), secret);
      expect(token).toMatch(new RegExp(`^${scanner.source}$`));
      expect(token.length).toBe(85);
      expect([token.startsWith(prefix), token.endsWith(last4), last4.length]).toEqual([true, true, 4]);
    }
    expect(parseApiKey('slp_sbx_eyJhbGciOiJIUzI1NiJ9.e30.x')).toBeNull();
  });

  it('names its key and the hash of its secret, which is all that is stored', () => {
    const id = ids.prefixed('key');
    const { token, hash } = makeApiKey('dev', id);
    expect(parseApiKey(token)).toEqual({ id, hash });
    const secret = token.slice(-49, -6);
    expect(hash).toEqual(createHash('sha256').update(secret).digest());
    expect(hashApiKey(secret)).toEqual(hash);
  });

  it('is refused offline when any one character is another, missing or too much', () => {
    const { token } = makeApiKey('live', ids.prefixed('key'));
    fc.assert(
      fc.property(fc.nat(token.length - 1), fc.constantFrom(...'09AZaz_-.é'), (at, character) => {
        fc.pre(token[at] !== character);
        expect(parseApiKey(`${token.slice(0, at)}${character}${token.slice(at + 1)}`)).toBeNull();
        expect(parseApiKey(`${token.slice(0, at)}${character}${token.slice(at)}`)).toBeNull();
        expect(parseApiKey(token.slice(0, at))).toBeNull();
      }),
    );
    for (const other of ['', ' ', token.toUpperCase(), ` ${token}`, `${token}\n`, token.replace('live', 'sbx')])
      expect(parseApiKey(other)).toBeNull();
  });
});
