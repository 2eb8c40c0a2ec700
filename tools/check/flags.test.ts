import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { overdueFlags } from './flags.ts';

describe('the check of flags', () => {
  const source = readFileSync(new URL('../../libs/contracts/src/operate/flags.ts', import.meta.url), 'utf8');
  it('names each flag of the catalogue a month after its end, and none before', () => {
    const ends = [...source.matchAll(/ends: '(\d[\d-]+)'/g)].map(([, day = '']) => day);
    expect(ends.length).toBeGreaterThan(0);
    expect(overdueFlags(source, new Date('2099-01-01')).length).toBe(ends.length);
    const [first = ''] = ends.sort();
    expect(overdueFlags(source, new Date(Date.parse(first) + 31 * 86_400_000))).toEqual([]);
    expect(overdueFlags(source, new Date(Date.parse(first) + 32 * 86_400_000)).length).toBeGreaterThan(0);
  });
});
