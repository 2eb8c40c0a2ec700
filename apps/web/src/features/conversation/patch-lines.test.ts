import { describe, expect, it } from '@jest/globals';
import { patchLines } from './patch-lines.ts';

describe('a patch for a reader', () => {
  it('is its files with their lines', () => {
    const patch = patchLines(
      '*** Begin Patch\n*** Update File: a.ts\n*** Move to: b.ts\n@@ class A {\n x\n-y\n+z\n@@\n-w\n*** End of File\n\n*** Add File: c.ts\n+one\n*** Delete File: d.ts\n*** End Patch\n',
    );
    expect(patch.files.map(({ verb, path, movedTo }) => [verb, path, movedTo])).toEqual([
      ['moved', 'a.ts', 'b.ts'],
      ['added', 'c.ts', null],
      ['deleted', 'd.ts', null],
    ]);
    expect(patch.files[0]?.lines.map(({ sign, text }) => sign + text)).toEqual([
      '@class A {',
      ' x',
      '-y',
      '+z',
      '@',
      '-w',
    ]);
    expect([patch.added, patch.removed, patch.cut]).toEqual([2, 2, false]);
  });

  it('is something for any text', () => {
    for (const text of [
      '',
      'x',
      '*** Update File: ',
      '+x',
      '*** Begin Patch\n*** Update File: a\n+',
      `*** Add File: a\n+x\n[blob sha256:${'a'.repeat(64)} 7 bytes]`,
    ])
      expect(patchLines(text).files.length).toBeLessThanOrEqual(1);
  });
});
