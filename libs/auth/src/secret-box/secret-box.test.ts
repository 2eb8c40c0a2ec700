import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { SecretBox } from './secret-box.js';

const KEY = 'an encryption key of thirty-two characters';

describe('SecretBox', () => {
  const box = new SecretBox(KEY);

  it('gives back what was sealed, whatever the text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string(), (text, context) =>
        expect(new SecretBox(KEY).decrypt(box.encrypt(text, context), context)).toBe(text),
      ),
    );
  });

  it('opens nothing that was changed by one bit, cut, moved to another place, or sealed with another key', () => {
    const sealed = box.encrypt('a secret', 'session:1');
    fc.assert(
      fc.property(fc.nat(sealed.length * 8 - 1), (bit) => {
        const changed = Buffer.from(sealed);
        changed[bit >> 3] = (changed[bit >> 3] as number) ^ (1 << (bit & 7));
        expect(() => box.decrypt(changed, 'session:1')).toThrow();
      }),
    );
    for (let length = 0; length < sealed.length; length += 1)
      expect(() => box.decrypt(sealed.subarray(0, length), 'session:1')).toThrow();
    expect(() => box.decrypt(sealed, 'session:2')).toThrow();
    expect(() => new SecretBox(`${KEY}!`).decrypt(sealed, 'session:1')).toThrow();
  });

  it('seals the same text differently each time', () => {
    expect(box.encrypt('x', 'y').equals(box.encrypt('x', 'y'))).toBe(false);
  });

  it('refuses a key that is too short', () => {
    expect(() => new SecretBox('short')).toThrow('fewer than 32');
  });
});
