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
    hunks: [1, 7],
  });
});
