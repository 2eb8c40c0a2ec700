import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { freeName, isLongText, LONG_TEXT, readFiles, writeFiles } from './attached-file.ts';

describe('files of the next message', () => {
  it('are made of pasted text that is long, in characters or in lines', () => {
    expect(isLongText('x'.repeat(LONG_TEXT.length))).toBe(false);
    expect(isLongText('x'.repeat(LONG_TEXT.length + 1))).toBe(true);
    expect(isLongText('\n'.repeat(LONG_TEXT.lines - 1))).toBe(false);
    expect(isLongText('\n'.repeat(LONG_TEXT.lines))).toBe(true);
  });

  it('have names of their own', () => {
    expect(freeName('a.txt', ['a.txt', 'a-2.txt'])).toBe('a-3.txt');
    expect(freeName('Makefile', ['Makefile'])).toBe('Makefile-2');
    expect(freeName('.env', [])).toBe('.env');
  });

  it('are kept over a reload once they are on the server', () => {
    const file = { key: 'k', id: 'i', name: 'a.txt', sizeBytes: 3, mediaType: 'text/plain', progress: 1 };
    const { id: _, ...onItsWay } = file;
    expect(readFiles(writeFiles([file, onItsWay]))).toEqual([{ ...file, key: 'i' }]);
    expect([writeFiles([]), writeFiles([onItsWay]), readFiles('')]).toEqual(['', '', []]);
  });

  it('are none where the storage holds something else', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (stored) => expect(Array.isArray(readFiles(stored))).toBe(true)),
    );
  });
});
