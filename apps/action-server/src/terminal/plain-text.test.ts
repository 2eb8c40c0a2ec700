import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { MarkerScanner } from './marker-scanner.js';
import { PlainText } from './plain-text.js';

const plain = (...chunks: (string | Buffer)[]): string => {
  const text = new PlainText();
  return chunks.map((chunk) => text.push(Buffer.from(chunk as string))).join('') + text.flush();
};

const PIECES = [
  'a',
  'bc\n',
  '\r',
  '\r\n',
  '\x1b[31m',
  '\x1b[K',
  '\x1b[2K',
  '\x1b[3D',
  '\x1b]0;title\x07',
  '\x1b]8;;x\x1b\\',
  '\x1b(B',
  '\b',
  '\t',
  'é😀',
  '\x07',
  '\x9b',
  '\x1b',
];

describe('plain text of a terminal', () => {
  it('shows a line that is drawn again once, in its last form', () => {
    expect(plain('10%\r50%\r100%\ndone\n')).toBe('100%\ndone\n');
    expect(plain('a long line\rshort\x1b[K\n')).toBe('short\n');
    expect(plain('abc\b\bX\n')).toBe('aXc\n');
  });

  it('keeps windows line ends as line ends', () => expect(plain('a\r\nb\r\r\n')).toBe('a\nb\n'));

  it('removes colours, titles, links and character sets', () =>
    expect(plain('\x1b]0;t\x07\x1b[1;31mred\x1b[0m \x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\\x1b(B\n')).toBe(
      'red link\n',
    ));

  it('does not swallow what follows a sequence that never ends', () => {
    expect(plain(`\x1b]0;${'x'.repeat(10_000)}`)).toContain('xxx');
    expect(plain('\x1b]0;seen')).toContain('seen');
  });

  it('gives U+FFFD for bytes that are not UTF-8', () =>
    expect(plain(Buffer.from([0x61, 0xff, 0xfe, 0x62, 0x0a]))).toBe('a\ufffd\ufffdb\n'));

  it('does not hold a line without an end', () => {
    const text = new PlainText();
    let given = 0;
    for (let i = 0; i < 100; i++) given += text.push(Buffer.alloc(10_000, 'x')).length;
    expect(given).toBeGreaterThan(900_000);
  });

  it('says the same wherever its input is cut', () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom(...PIECES), { maxLength: 30 }),
        fc.array(fc.nat(200), { maxLength: 8 }),
        (pieces, cuts) => {
          const bytes = Buffer.from(pieces.join(''));
          const at = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
          expect(plain(...at.slice(1).map((end, index) => bytes.subarray(at[index], end)))).toBe(plain(bytes));
        },
      ),
    );
  });
});

describe('marks between output', () => {
  const mark = '\x1b]7770;n0nce;end\x1f7\x1f3\x1f\x1f/a b\x1f/bin:/usr/bin;n0nce\x07';

  it('are found wherever the input is cut, and the output around them stays whole', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 40 }),
        fc.string({ maxLength: 40 }),
        fc.array(fc.nat(300), { maxLength: 6 }),
        (before, after, cuts) => {
          const bytes = Buffer.from(`${before}\x1b]7770;other;x${mark}${after}`);
          const scanner = new MarkerScanner('n0nce');
          const at = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
          const found = at.slice(1).flatMap((end, index) => scanner.push(bytes.subarray(at[index], end)));
          expect(found.filter((item) => item.kind === 'end')).toEqual([
            {
              kind: 'end',
              sequence: 7,
              exitCode: 3,
              backgroundPid: -1,
              workingDirectory: '/a b',
              searchPath: '/bin:/usr/bin',
            },
          ]);
          const output = Buffer.concat(found.flatMap((item) => (item.kind === 'output' ? [item.bytes] : [])));
          // What may still become a mark is held back.
          expect(Buffer.from(`${before}\x1b]7770;other;x${after}`).subarray(0, output.length)).toEqual(output);
          expect(bytes.length - Buffer.from(mark).length - output.length).toBeLessThan(16);
        },
      ),
    );
  });
});
