import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { t } from '../../messages/testing.ts';
import { AUDIT_NOUNS, actionWords, nounWords } from './action-words.ts';

const ROOT = `${import.meta.dirname}/../../../../..`;

/** Every action that a service records by its name. */
function recorded(): string[] {
  const files = globSync(['apps/app-server/src/**/*.ts', 'apps/worker/src/**/*.ts'], { cwd: ROOT }).filter(
    (file) => !file.endsWith('.test.ts'),
  );
  const found = files.flatMap((file) =>
    [...readFileSync(`${ROOT}/${file}`, 'utf8').matchAll(/\baction: '([a-z-]+\.[a-z-]+)'/g)].map(
      ([, action = '']) => action,
    ),
  );
  return [...new Set(found)].sort();
}

describe('an action of the audit', () => {
  it('is said in words, whichever a service records', () => {
    const actions = recorded();
    expect(actions.length).toBeGreaterThan(60);
    expect(actions.filter((action) => actionWords(t, action) === action)).toEqual([]);
  });

  it('is found by the filter of its noun, which has words', () => {
    const nouns: ReadonlySet<string> = new Set(AUDIT_NOUNS);
    expect(recorded().filter((action) => !nouns.has(action.split('.')[0] ?? ''))).toEqual([]);
    expect(AUDIT_NOUNS.filter((noun) => nounWords(t, noun) === noun)).toEqual([]);
  });

  it('names its noun as the pages do', () => {
    expect(
      ['api-key.create', 'member.set-role', 'session.start', 'pull-request.merge'].map((action) =>
        actionWords(t, action),
      ),
    ).toEqual(['API key created', 'Member role changed', 'Signed in', 'Pull request merged']);
  });

  it('stays as it is where a newer service records one that nobody has words for', () => {
    expect(actionWords(t, 'robot.dance')).toBe('robot.dance');
  });
});
