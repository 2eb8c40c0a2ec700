import { describe, expect, it } from '@jest/globals';
import { argsOf, readSource, wrongWords } from './messages.ts';

const CATALOGUE = {
  common: { save: 'Save' },
  keys: { made: '{count, plural, one {once} other {# keys}} by <b>{name}</b>', one: 'One' },
};
const wrong = (sources: Readonly<Record<string, string>>): string[] =>
  wrongWords(new Map(Object.entries(sources).map(([file, text]) => [file, readSource(file, text)])), CATALOGUE, [
    'common',
  ]);

/** Uses each message, so that only what a test is about is wrong. */
const USED = "t('common.save'); t.rich('keys.made', { count, name, b }); const KEY = 'keys.one';";

describe('argsOf', () => {
  it('finds arguments and tags, and not the words of a plural', () => {
    expect([...argsOf(CATALOGUE.keys.made)].sort()).toEqual(['b', 'count', 'name']);
    expect([...argsOf("Write '{'NAME'}' or {it}.")]).toEqual(['it']);
    expect([...argsOf('{kind, select, yes {a} other {for {who}}}')].sort()).toEqual(['kind', 'who']);
  });
});

describe('the words of screens', () => {
  it('are in the catalogue, all of it used', () => {
    expect(wrong({ 'features/keys/keys.ts': USED })).toEqual([]);
  });

  it('are refused in JSX and in attributes that are read', () => {
    const found = wrong({
      'features/keys/keys.tsx': `${USED} const a = <p title="Hello you" className="a b">Some words {x}</p>;`,
    });
    expect(found).toHaveLength(2);
    expect(found.join()).toMatch(/title="Hello you".*Some words/s);
  });

  it('name a call whose arguments are not those of its message', () => {
    expect(wrong({ 'features/keys/keys.ts': USED.replace('count, name, b', 'count, b, more') }).join()).toMatch(
      /keys\.made and its message differ in name, more/,
    );
  });

  it('name a message that nobody uses', () => {
    expect(wrong({ 'features/keys/keys.ts': USED.replace("'keys.one'", "''") }).join()).toMatch(
      /nobody uses keys\.one/,
    );
  });

  it('name a page that misses messages of what it shows', () => {
    const page = "import { Keys } from '../features/keys/keys.ts';";
    const feature = { 'features/keys/keys.ts': USED };
    expect(wrong({ ...feature, 'app/page.tsx': page }).join()).toMatch(/app\/page\.tsx: give it the messages of keys/);
    expect(
      wrong({ ...feature, 'app/page.tsx': `${page} const a = <WithMessages of={['keys']}><Keys /></WithMessages>;` }),
    ).toEqual([]);
  });
});
