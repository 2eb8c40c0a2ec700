import { expect, it } from '@jest/globals';
import { patchSides } from './patch-sides.ts';

it('gives the lines of both sides by number, and none between hunks', () => {
  const patch = [
    'diff --git a/a.ts b/a.ts',
    '--- a/a.ts',
    '+++ b/a.ts',
    '@@ -1,2 +1,3 @@ head',
    ' one',
    '-two',
    '+zwei',
    '+--- three',
    '@@ -6 +7 @@',
    '--- six',
    '+sechs',
    '\\ No newline at end of file',
    '',
  ].join('\n');
  expect(patchSides(patch)).toEqual({
    old: ['one', 'two', undefined, undefined, undefined, '-- six'],
    new: ['one', 'zwei', '--- three', undefined, undefined, undefined, 'sechs'],
    hunks: [
      {
        at: { side: 'new', line: 2, endLine: 3 },
        text: '@@ -1,2 +1,3 @@ head\n one\n-two\n+zwei\n+--- three',
      },
      {
        at: { side: 'new', line: 7, endLine: 7 },
        text: '@@ -6 +7 @@\n--- six\n+sechs\n\\ No newline at end of file',
      },
    ],
  });
});

it('places a hunk that only took lines away on the lines that are gone', () => {
  const patch = ['@@ -4,4 +4,2 @@', ' four', '-five', '-six', ' seven', ''].join('\n');
  expect(patchSides(patch).hunks.map(({ at }) => at)).toEqual([{ side: 'old', line: 5, endLine: 6 }]);
});
