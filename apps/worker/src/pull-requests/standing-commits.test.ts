import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { standingCommits } from './standing-commits.js';

/** Commits with their parents. */
type History = Readonly<Record<string, readonly string[]>>;

function ancestors(history: History, of: string): Set<string> {
  const all = new Set<string>();
  for (const queue = [of]; queue.length > 0; ) {
    const commit = queue.pop() as string;
    if (all.has(commit) || history[commit] === undefined) continue;
    all.add(commit);
    queue.push(...history[commit]);
  }
  return all;
}

/** What stands, for a bundle of the commits `own` on what the git host has. */
async function standing(
  host: History,
  own: History,
  heads: { head: string; base: string; branch?: string },
): Promise<(string | null)[]> {
  const isAncestor = async (commit: string, of: string): Promise<boolean> => ancestors(host, of).has(commit);
  const graph = { head: heads.head, parentsOf: (commit: string) => own[commit] };
  return Promise.all(
    standingCommits(graph, { base: heads.base, branch: heads.branch ?? null }, isAncestor).map((next) => next()),
  );
}

/** `main` is m1 to m3; `x` was never merged. */
const HOST: History = { m1: [], m2: ['m1'], m3: ['m2'], x: ['m1'], b: ['m1'] };

describe('commits that a branch stands on', () => {
  it('are the head of its base, where it leaves it, and itself at the host', async () => {
    expect(await standing(HOST, { w: ['m1'] }, { head: 'w', base: 'm3' })).toEqual(['m3', 'm1', null]);
    // What is not in the bundle's line: the branch was rewritten, on the same commit.
    expect(await standing(HOST, { w: ['m1'] }, { head: 'w', base: 'm3', branch: 'b' })).toEqual(['m3', 'm1', 'b']);
    expect(await standing(HOST, { w: ['b'], b: ['m1'] }, { head: 'w', base: 'm3', branch: 'b' })).toEqual([
      'm3',
      'm1',
      'b',
    ]);
    // A branch of another user, whose history the bundle does not show.
    expect(await standing(HOST, { w: ['x'] }, { head: 'w', base: 'm3', branch: 'x' })).toEqual(['m3', null, 'x']);
  });

  it('adversary: a commit that was never merged, or an unknown one, is none of them, though the sandbox names it as its base', async () => {
    expect(await standing(HOST, { w: ['x'] }, { head: 'w', base: 'm3' })).toEqual(['m3', null, null]);
    expect(await standing(HOST, { w: ['x'] }, { head: 'w', base: 'm3', branch: 'b' })).toEqual(['m3', null, null]);
    expect(await standing(HOST, { w: ['nobody'] }, { head: 'w', base: 'm3', branch: 'b' })).toEqual(['m3', null, null]);
  });

  it('adversary: an old commit of the base is none once the branch has a newer one, whose changes it could take back', async () => {
    // By a merge, by continuing it, and with the newer one in the bundle.
    expect(await standing(HOST, { w: ['v', 'm2'], v: ['m1'] }, { head: 'w', base: 'm3', branch: 'b' })).toEqual([
      'm3',
      'm2',
      null,
    ]);
    expect(await standing(HOST, { w: ['m2'], m2: ['m1'] }, { head: 'w', base: 'm3', branch: 'b' })).toEqual([
      'm3',
      'm2',
      null,
    ]);
    expect(
      await standing(HOST, { w: ['b', 'm2'], b: ['m1'], m2: ['m1'] }, { head: 'w', base: 'm3', branch: 'b' }),
    ).toEqual(['m3', 'm2', null]);
  });

  it('adversary: a branch with more commits than the host is asked about has none but the head of its base', async () => {
    const own = Object.fromEntries(
      Array.from({ length: 100 }, (_, index) => [`w${index}`, [index === 99 ? 'm1' : `w${index + 1}`]]),
    );
    expect(await standing(HOST, own, { head: 'w0', base: 'm3', branch: 'b' })).toEqual(['m3', null, null]);
  });

  it('whatever the history, one that is named as where the branch leaves its base is an ancestor of both, and no common commit is newer', async () => {
    const commits = fc.array(fc.tuple(fc.nat(), fc.nat(), fc.boolean(), fc.boolean()), { minLength: 2, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(commits, fc.nat(), async (picks, from) => {
        const all: Record<string, string[]> = { c0: [] };
        const host: Record<string, string[]> = { c0: [] };
        picks.forEach(([a, b, merge, pushed], index) => {
          const parents = [...new Set([`c${a % (index + 1)}`, ...(merge ? [`c${b % (index + 1)}`] : [])])];
          all[`c${index + 1}`] = parents;
          if (pushed && parents.every((each) => host[each] !== undefined)) host[`c${index + 1}`] = parents;
        });
        const known = Object.keys(host);
        const base = known[from % known.length] as string;
        const head = `c${picks.length}`;
        const own = Object.fromEntries(Object.entries(all).filter(([name]) => name !== 'c0'));
        const [, fork] = await standing(host, own, { head, base });
        if (fork === null || fork === undefined) return;
        const common = [...ancestors(all, head)].filter((each) => ancestors(host, base).has(each));
        expect(common).toContain(fork);
        expect(common.filter((each) => !ancestors(all, fork).has(each))).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });
});
