import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { globMatcher } from './glob-matcher.js';

const matches = (glob: string, file: string): boolean | undefined => globMatcher(glob)?.(file);

describe('a glob', () => {
  for (const [glob, yes, no] of [
    ['*.ts', ['a.ts', 'deep/er/a.ts', '.ts'], ['a.tsx', 'a.ts/b']],
    ['src/*.ts', ['src/a.ts'], ['a.ts', 'src/b/a.ts', 'x/src/a.ts']],
    ['/a.ts', ['a.ts'], ['b/a.ts']],
    ['./a.ts', ['a.ts'], ['b/a.ts']],
    ['src/**/*.ts', ['src/a.ts', 'src/b/c/a.ts'], ['a.ts']],
    ['**/test/**', ['test/a', 'x/test/y/a'], ['tests/a']],
    ['*.{js,ts{,x}}', ['a.js', 'a.ts', 'b/a.tsx'], ['a.jsx', 'a.{js']],
    ['{src,lib}/**/a?.[ch]', ['src/ab.c', 'lib/x/ab.h'], ['src/a.c', 'src/ab.o']],
    ['[!a-c]*', ['d', 'é'], ['a', 'cd']],
    ['a{b', ['a{b'], ['ab']],
    ['{a}', ['{a}'], ['a']],
    ['\\*', ['*'], ['a']],
    ['[', ['['], ['a']],
    ['?', ['😀'], ['ab']],
  ] as const)
    it(`${glob} matches ${yes.join(' and ')}, not ${no.join(' or ')}`, () => {
      for (const file of yes) expect([file, matches(glob, file)]).toEqual([file, true]);
      for (const file of no) expect([file, matches(glob, file)]).toEqual([file, false]);
    });

  it('matches a whole path as Node’s own matcher does', () => {
    const part = fc
      .array(fc.constantFrom('a', 'b', 'ab', '*', '?', '[ab]', '{a,b}', 'x*'), { minLength: 1, maxLength: 3 })
      .map((parts) => parts.join(''));
    const glob = fc
      .array(fc.oneof(part, fc.constant('**')), { minLength: 2, maxLength: 4 })
      .map((parts) => parts.join('/'));
    const file = fc
      .array(
        fc.array(fc.constantFrom('a', 'b', 'x'), { minLength: 1, maxLength: 4 }).map((names) => names.join('')),
        { minLength: 1, maxLength: 4 },
      )
      .map((names) => names.join('/'));
    fc.assert(
      fc.property(glob, file, (pattern, name) => {
        // There `**` at the end asks for a name, here for none.
        fc.pre(!pattern.endsWith('**') && !pattern.includes('***'));
        expect(matches(pattern, name)).toBe(path.matchesGlob(name, pattern));
      }),
      { numRuns: 500 },
    );
  });

  it('is never slow, and refuses braces that stand for too many', () => {
    const name = 'a'.repeat(250);
    const hostile = [
      `${'*a'.repeat(400)}b`,
      `${'**/'.repeat(300)}b`,
      `${'?*'.repeat(300)}b`,
      '{'.repeat(900),
      '['.repeat(900),
    ];
    for (const glob of hostile) expect(matches(glob, Array(15).fill(name).join('/'))).toBe(false);
    expect(globMatcher('{a,b}'.repeat(20))).toBeUndefined();
    expect(globMatcher(`{${'a,'.repeat(450)}b}`)).toBeUndefined();
  });
});
