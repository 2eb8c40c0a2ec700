import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { json, mark, repository, server, setUpRepository, since, write } from '../testing/repository-setup.js';
import { MAX_LOOKS } from './turn-marks.js';

type Step = { readonly kind: 'look'; readonly who: string } | { readonly kind: 'write'; name: string; text: string };

const NAMES = ['a.txt', 'b/c.txt', 'new.txt', 'b/ö d.txt'];
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('look' as const), who: fc.constantFrom('look-ana', 'look-ben') }),
  fc.record({
    kind: fc.constant('write' as const),
    name: fc.constantFrom(...NAMES),
    text: fc.constantFrom('', 'x\n', 'one\ntwo\nthree\n', 'x\n'.repeat(49), 'no end'),
  }),
);
/** Every file of a folder but those of git, by name. */
const treeOf = (folder: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((each) => each.isFile())
      .map((each) => path.relative(folder, path.join(each.parentPath, each.name)))
      .filter((name) => !name.startsWith('.git/'))
      .sort()
      .map((name) => [name, readFileSync(path.join(folder, name), 'utf8')]),
  );

describe('what a person has looked at', () => {
  setUpRepository();

  it('and the changes since are together what there is now, for each of two persons', async () => {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'slipway-looks-'));
    let run = 0;
    try {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
          run += 1;
          const seen = new Map<string, string>();
          const look = async (who: string): Promise<void> => {
            await mark(who);
            const copy = path.join(folder, `${run}-${seen.size}-${who}`);
            rmSync(copy, { recursive: true, force: true });
            cpSync(repository, copy, { recursive: true, filter: (from) => path.basename(from) !== '.git' });
            seen.set(who, copy);
          };
          for (const who of ['look-ana', 'look-ben']) await look(who);
          for (const each of steps)
            if (each.kind === 'look') await look(each.who);
            else write(each.name, each.text);
          for (const [who, copy] of seen) {
            const patch = await (await server.send('GET', `/git/patch?path=repository&turn=${who}`)).text();
            if (patch !== '') execFileSync('git', ['apply', '--whitespace=nowarn'], { cwd: copy, input: patch });
            expect(treeOf(copy)).toEqual(treeOf(repository));
          }
        }),
        { numRuns: 6 },
      );
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('is remembered of the persons who looked last', async () => {
    for (let each = 0; each <= MAX_LOOKS; each += 1) await mark(`look-${each}`);
    write('new.txt', 'x');
    expect(await since(`look-${MAX_LOOKS}`)).toEqual(['ADDED new.txt']);
    expect(await json('/git/changes?path=repository&turn=look-0')).toMatchObject({ code: 'changes.turn-unknown' });
  });
});
