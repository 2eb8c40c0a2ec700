import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { HeldCredential } from '../judge/credential.js';
import { Masking, maskText } from './masking.js';
import { needlesOf } from './needles.js';

const held = (value: string): HeldCredential => ({
  id: 'crd_1',
  name: 'TOKEN',
  use: { form: 'bearer', places: [] },
  value: Buffer.from(value),
  reference: null,
  endsAt: Number.POSITIVE_INFINITY,
  identity: null,
});

describe('Masking', () => {
  const value = 's3cret+va/lue&"1"';
  const needles = needlesOf([held(value)]);
  const forms = [
    value,
    Buffer.from(value).toString('base64'),
    Buffer.from(`x-access-token:${value}`).toString('base64'),
    Buffer.from(`ab:${value}@host`).toString('base64'),
    Buffer.from(`a:${value}`).toString('base64url'),
    encodeURIComponent(value),
    JSON.stringify({ value }),
  ];

  it.each(forms)('finds the value in %s', (form) => {
    let found = 0;
    const masked = maskText(`x ${form} y`, needles, () => {
      found += 1;
    });
    expect(found).toBe(1);
    expect(masked).toContain('<secret:TOKEN>');
  });

  it('masks what a search of the whole text finds, however it is cut, and nothing else', async () => {
    const secret = 'abcabcabd-abcabc';
    const search = needlesOf([held(secret)]).filter(({ bytes }) => bytes.toString() === secret);
    const piece = fc.constantFrom(secret, 'abc', 'a', 'b', 'abcabcabd', '-', '\n', 'x', secret.slice(0, 15));
    await fc.assert(
      fc.asyncProperty(
        fc.array(piece, { maxLength: 12 }),
        fc.infiniteStream(fc.integer({ min: 1, max: 9 })),
        async (pieces, sizes) => {
          const text = pieces.join('');
          const chunks: Buffer[] = [];
          for (let at = 0; at < text.length; ) {
            const size = sizes.next().value as number;
            chunks.push(Buffer.from(text.slice(at, at + size)));
            at += size;
          }
          const masking = Readable.from(chunks, { objectMode: false }).pipe(new Masking(search, () => {}));
          expect((await buffer(masking)).toString()).toBe(text.split(secret).join('<secret:TOKEN>'));
        },
      ),
      { numRuns: 300 },
    );
  });

  it('holds nothing back that cannot be the beginning of a value', () => {
    const masking = new Masking(needles, () => {});
    masking.write('data: 1\n\n');
    expect(String(masking.read())).toBe('data: 1\n\n');
  });
});
