import { describe, expect, it } from '@jest/globals';
import { createIds, systemClock } from '@slipway/domain';
import fc from 'fast-check';
import { keyIdOf, makeKeyToken } from './virtual-key-token.js';

const ids = createIds(systemClock);

describe('a gateway key', () => {
  it('names its id, whatever its secret', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 20, maxLength: 20 }), (random) => {
        const id = ids.prefixed('key');
        expect(keyIdOf(makeKeyToken(id, random).token)).toBe(id);
      }),
    );
  });

  it('is refused by its checksum when any one character is another', () => {
    const { token } = makeKeyToken(ids.prefixed('key'));
    fc.assert(
      fc.property(
        fc.nat(token.length - 1),
        fc.constantFrom(...'0123456789abcdefghjkmnpqrstvwxyz_A- '),
        (at, character) => {
          fc.pre(token[at] !== character);
          expect(keyIdOf(token.slice(0, at) + character + token.slice(at + 1))).toBeNull();
        },
      ),
    );
  });

  it('is refused for any text that is none, however long', () => {
    fc.assert(fc.property(fc.string(), (text) => expect(keyIdOf(text)).toBeNull()));
    expect(keyIdOf(`slp_llm_${'0'.repeat(1_000_000)}`)).toBeNull();
  });
});
