import { describe, expect, it } from '@jest/globals';
import { addressOfFile, fileOfAddress } from './file-address.ts';

describe('a file in the address', () => {
  it('is short in the repository, begins with a slash outside of it, and leads back to the same file', () => {
    const repository = 'https://git.example/o/app.git';
    expect(['app/src/a.ts', 'notes.txt', 'application/x'].map((path) => addressOfFile(path, repository))).toEqual([
      'src/a.ts',
      '/notes.txt',
      '/application/x',
    ]);
    for (const path of ['app/src/a.ts', 'notes.txt', 'application/x', 'app/'])
      expect(fileOfAddress(addressOfFile(path, repository), repository)).toBe(path);
    expect(fileOfAddress('a.ts', null)).toBe('project/a.ts');
  });
});
