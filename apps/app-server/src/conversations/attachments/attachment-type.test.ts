import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { attachmentType } from './attachment-type.js';

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

describe('the type of an attached file', () => {
  it('is what its content says', async () => {
    for (const [content, type] of [
      [PNG, 'image/png'],
      [Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 16, 0x4a, 0x46, 0x49, 0x46]), 'image/jpeg'],
      [Buffer.from('GIF89a\x01\x00\x01\x00\x80\x00\x00', 'latin1'), 'image/gif'],
      [Buffer.from('\x1b[31mred\x1b[0m line\n'), 'text/plain'],
      [Buffer.from('<!doctype html><script>alert(1)</script>'), 'text/plain'],
      [Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>1</script></svg>'), 'text/plain'],
      [Buffer.from([0, 1, 2, 3]), 'application/octet-stream'],
      [Buffer.from([0xff, 0xfe, 0x41, 0x00]), 'application/octet-stream'],
    ] as const)
      expect([content.toString('latin1').slice(0, 20), await attachmentType(content)]).toEqual([
        content.toString('latin1').slice(0, 20),
        type,
      ]);
  });

  it('is one that a browser runs for no content at all', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 300 }), async (bytes) => {
        const type = await attachmentType(Buffer.from(bytes));
        expect(type).not.toMatch(/html|svg|xml|javascript/);
      }),
    );
  });
});
