import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { oldWords, oldWordsIn } from './words.ts';

describe('the check of words', () => {
  it('finds none in what is done of this repository', () => {
    expect(oldWords(path.resolve(import.meta.dirname, '../..'))).toEqual([]);
  });

  it('names file, line and the word to use', () => {
    expect(oldWordsIn('docs/a.md', 'Good.\nIt is told later.\n')).toEqual([
      'docs/a.md:2 says "told": use send, apply, notify',
    ]);
  });

  for (const text of [
    'const orgBrake = 1;',
    'old_wish',
    'BRAKE_VERSION',
    "log.info('the agent was told');",
    'a stand-in',
    'it comes to rest',
    'setAgentTerms()',
  ])
    it(`flags: ${text}`, () => expect(oldWordsIn('apps/a/src/a.ts', text)).toHaveLength(1));

  for (const text of [
    'the rest of it',
    'terms of service',
    'termsVersion',
    'sealed at rest',
    'untolded',
    'outdoors',
    'REST rests on HTTP',
    'tells apart',
  ])
    it(`lets pass: ${text}`, () => expect(oldWordsIn('apps/a/src/a.ts', text)).toEqual([]));

  it('reads prose of a page and not the identifiers in it', () => {
    expect(oldWordsIn('docs/a.md', 'The code `pull-request.needs-person` and `brake`.')).toEqual([]);
    expect(oldWordsIn('docs/a.md', 'It needs a person.')).toHaveLength(1);
  });
});
