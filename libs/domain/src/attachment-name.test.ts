import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { attachmentName } from './attachment-name.js';

describe('the name of an attached file', () => {
  it('stays as it is where it is clean, and loses what would mislead', () => {
    for (const [given, name] of [
      ['screen shot.png', 'screen shot.png'],
      ['Größe 1.2 (Entwurf).pdf', 'Größe 1.2 (Entwurf).pdf'],
      ['../../etc/passwd', 'passwd'],
      ['C:\\Users\\ada\\log.txt', 'log.txt'],
      // Shown from right to left, it would end in `.txt`.
      ['report\u202etxt.exe', 'reporttxt.exe'],
      ['a\u0000b\nc.txt', 'abc.txt'],
      ['zero\u200bwidth\u2066.md', 'zerowidth.md'],
      ['.bashrc', 'bashrc'],
      ['-rf', 'rf'],
      ['$(reboot);`x`.sh', '(reboot)--x-.sh'],
      ['..', 'file'],
      ['', 'file'],
      ['/', 'file'],
    ])
      expect([given, attachmentName(given as string)]).toEqual([given, name]);
  });

  it('is cut between characters, with its ending kept', () => {
    const name = attachmentName(`${'😀'.repeat(300)}.jpeg`);
    expect(name).toMatch(/^(😀)+\.jpeg$/u);
    expect(Buffer.byteLength(name)).toBeLessThanOrEqual(180);
  });

  it('is one safe segment of a path whatever is given, and cleaning it again changes nothing', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (given) => {
        const name = attachmentName(given);
        expect(name).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}/\\]/u);
        expect(name).not.toMatch(/^[.-]|^\s|[\s.]$/);
        expect(name.length).toBeGreaterThan(0);
        expect(Buffer.byteLength(name)).toBeLessThanOrEqual(180);
        expect(attachmentName(name)).toBe(name);
      }),
      { numRuns: 2_000 },
    );
  });
});
