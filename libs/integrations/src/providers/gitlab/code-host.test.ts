import { describe, expect, it } from '@jest/globals';
import type { CodeHost } from '../../calls/code-host.js';
import { type Dispatch, ProviderClient } from '../../calls/provider-client.js';
import { gitlab } from './index.js';

type Scripted = readonly [status: number, body: unknown, headers?: Record<string, string>];

/** GitLab, as its documentation says that it answers. */
function host(...answers: readonly Scripted[]): { readonly calls: CodeHost; readonly sent: unknown[] } {
  const sent: unknown[] = [];
  const left = [...answers];
  const dispatch: Dispatch = async (url, { method, body }) => {
    sent.push([
      method,
      url.replace('https://gitlab.test/api/v4', ''),
      ...(body === undefined ? [] : [JSON.parse(body)]),
    ]);
    const [status, answer, headers] = left.shift() ?? [500, {}];
    return new Response(status === 204 ? null : JSON.stringify(answer), {
      status,
      ...(headers === undefined ? {} : { headers }),
    });
  };
  const client = new ProviderClient({
    baseUrl: 'https://gitlab.test/api/v4',
    authorization: 'Bearer t',
    dispatch,
    now: () => new Date(0),
  });
  return { calls: gitlab.codeHost?.calls(client) as CodeHost, sent };
}

const SHOP = 'acme/web/shop';
const AT = '/projects/acme%2Fweb%2Fshop';
const place = { repository: SHOP, number: 13 };
const merge = (change: object = {}): object => ({
  ...{
    id: 600,
    iid: 13,
    project_id: 7,
    source_project_id: 7,
    target_project_id: 7,
    source_branch: 'slipway/cart',
    target_branch: 'main',
  },
  ...{
    sha: 'abc',
    title: 'Fill the cart',
    description: null,
    state: 'opened',
    draft: false,
    web_url: 'https://gitlab.test/m/13',
  },
  ...{ has_conflicts: false, merge_status: 'can_be_merged', detailed_merge_status: 'mergeable' },
  ...change,
});
const wanted = { head: 'slipway/cart', base: 'main', title: 'Fill the cart', body: 'Why', draft: true };

describe('GitLab as a git host', () => {
  it('opens a draft by its title, and finds the one that is open already, never a fork of the same branch', async () => {
    const { calls, sent } = host(
      [201, merge({ title: 'Draft: Fill the cart', draft: true })],
      [409, { message: ['Another open merge request already exists for this source branch: !13'] }],
      [200, [merge({ iid: 12, source_project_id: 9 }), merge()]],
      [200, []],
      [400, { message: ['Source branch "slipway/cart" does not exist'] }],
    );
    const made = await calls.createPullRequest(SHOP, wanted);
    expect(made).toMatchObject({
      number: 13,
      draft: true,
      state: 'open',
      fork: false,
      headSha: 'abc',
      body: '',
      mergeable: true,
    });
    expect(made.thread).toEqual({ key: '7!13', place: { project: '7', iid: 13, on: 'merge_requests' } });
    await expect(calls.createPullRequest(SHOP, wanted)).rejects.toMatchObject({ kind: 'conflict' });
    expect(await calls.findPullRequest(SHOP, wanted)).toMatchObject({ number: 13 });
    expect(await calls.findPullRequest(SHOP, wanted)).toBe(null);
    // Its own view of the branches lags a push.
    await expect(calls.createPullRequest(SHOP, wanted)).rejects.toMatchObject({
      kind: 'unavailable',
      outcomeUnknown: false,
    });
    const body = {
      source_branch: 'slipway/cart',
      target_branch: 'main',
      title: 'Draft: Fill the cart',
      description: 'Why',
      remove_source_branch: true,
    };
    expect(sent.slice(0, 3)).toEqual([
      ['POST', `${AT}/merge_requests`, body],
      ['POST', `${AT}/merge_requests`, body],
      ['GET', `${AT}/merge_requests?state=opened&source_branch=slipway%2Fcart&target_branch=main&per_page=50`],
    ]);
  });

  it('leaves a draft a draft when its title changes, and asks nothing more for its text alone', async () => {
    const { calls, sent } = host([200, merge({ draft: true })], [200, merge()], [200, merge()]);
    await calls.updatePullRequest(place, { title: 'New' });
    await calls.updatePullRequest(place, { body: 'More' });
    expect(sent).toEqual([
      ['GET', `${AT}/merge_requests/13`],
      ['PUT', `${AT}/merge_requests/13`, { title: 'Draft: New' }],
      ['PUT', `${AT}/merge_requests/13`, { description: 'More' }],
    ]);
  });

  it('reads state, fork and conflicts, and says nothing of conflicts still being checked', async () => {
    const rows: readonly [object, object][] = [
      [{ state: 'merged' }, { state: 'merged' }],
      [{ state: 'closed' }, { state: 'closed' }],
      [{ state: 'locked' }, { state: 'open' }],
      [{ source_project_id: null }, { fork: true }],
      [{ source_project_id: 8 }, { fork: true }],
      [{ draft: undefined, work_in_progress: true }, { draft: true }],
      [{ detailed_merge_status: 'checking' }, { mergeable: null }],
      [{ detailed_merge_status: 'conflict', merge_status: 'cannot_be_merged' }, { mergeable: false }],
      [{ has_conflicts: true, detailed_merge_status: 'broken_status' }, { mergeable: false }],
      [{ detailed_merge_status: 'not_approved' }, { mergeable: true }],
      [{ sha: null }, { headSha: '' }],
    ];
    const { calls } = host(...rows.map(([change]) => [200, merge(change)] as const));
    for (const [, expected] of rows) expect(await calls.pullRequest(place)).toMatchObject(expected);
  });

  it('merges at the given head alone, and waits while GitLab checks for conflicts', async () => {
    const { calls, sent } = host(
      [200, merge({ state: 'merged' })],
      [409, { message: 'SHA does not match HEAD of source branch: def' }],
      [405, { message: '405 Method Not Allowed' }],
      [200, merge({ draft: true, detailed_merge_status: 'draft_status' })],
      [405, { message: '405 Method Not Allowed' }],
      [200, merge({ detailed_merge_status: 'checking' })],
      [422, { message: 'Branch cannot be merged' }],
      [200, merge({ detailed_merge_status: 'conflict' })],
      [403, { message: '403 Forbidden' }],
    );
    await calls.merge(place, 'abc');
    for (const kind of ['conflict', 'conflict', 'unavailable', 'conflict', 'forbidden'])
      await expect(calls.merge(place, 'abc')).rejects.toMatchObject({ kind });
    expect(sent[0]).toEqual(['PUT', `${AT}/merge_requests/13/merge`, { sha: 'abc' }]);
  });

  it('lists projects by keyset, the branches in pages, and takes for private what does not say that it is public', async () => {
    const one = (id: number, visibility?: string): object => ({
      id,
      path_with_namespace: SHOP,
      default_branch: 'main',
      visibility,
    });
    const { calls, sent } = host(
      [200, Array.from({ length: 100 }, (_, index) => one(index + 1, 'public'))],
      [200, [one(200, 'internal'), one(201)]],
      [200, [{ name: 'main' }]],
      [200, one(1, 'private')],
    );
    const first = await calls.repositories(null);
    expect([first.items.length, first.items[0]?.private, first.next]).toEqual([100, false, '100']);
    const second = await calls.repositories(first.next, 'a b');
    expect([second.items.map((each) => each.private), second.next]).toEqual([[true, true], null]);
    expect(await calls.branches(SHOP, null)).toEqual({ items: ['main'], next: null });
    expect(await calls.repository(SHOP)).toEqual({ id: '1', fullName: SHOP, private: true, defaultBranch: 'main' });
    expect(sent).toEqual([
      [
        'GET',
        '/projects?membership=true&min_access_level=30&simple=true&pagination=keyset&order_by=id&sort=asc&per_page=100',
      ],
      [
        'GET',
        '/projects?membership=true&min_access_level=30&simple=true&pagination=keyset&order_by=id&sort=asc&per_page=100&id_after=100&search_namespaces=true&search=a%20b',
      ],
      ['GET', `${AT}/repository/branches?per_page=100&page=1`],
      ['GET', AT],
    ]);
  });

  it('reads the newest status of each name, and none that may fail as a failure', async () => {
    const status = (id: number, name: string, state: string, more: object = {}): object => ({
      id,
      name,
      status: state,
      description: null,
      ...more,
    });
    const { calls, sent } = host(
      [
        200,
        [
          ...[status(9, 'tests', 'success', { target_url: 'https://gitlab.test/j/9' }), status(3, 'tests', 'failed')],
          ...[
            status(4, 'lint', 'failed', { allow_failure: true }),
            status(5, 'deploy', 'manual'),
            status(6, 'build', 'waiting_for_resource'),
          ],
        ],
      ],
      [
        400,
        {
          message:
            'Cannot transition status via :enqueue from :pending (Reason(s): Status cannot transition via "enqueue")',
        },
      ],
      [400, { message: 'Cannot transition status via :drop from :success' }],
    );
    const checks = (await calls.checks(SHOP, 'abc')).map(({ id, name, state, url }) => [name, id, state, url]);
    expect(checks.sort()).toEqual([
      ['build', 'status-6', 'pending', null],
      ['deploy', 'status-5', 'neutral', null],
      ['lint', 'status-4', 'neutral', null],
      ['tests', 'status-9', 'success', 'https://gitlab.test/j/9'],
    ]);
    const said = { context: 'slipway', description: 'd'.repeat(300), url: 'https://slipway.example' };
    await calls.setStatus(SHOP, 'abc', { ...said, state: 'pending' });
    await expect(calls.setStatus(SHOP, 'abc', { ...said, state: 'failure' })).rejects.toMatchObject({
      kind: 'invalid',
    });
    expect(sent[1]).toEqual([
      'POST',
      `${AT}/statuses/abc`,
      { state: 'pending', name: 'slipway', description: 'd'.repeat(255), target_url: 'https://slipway.example' },
    ]);
  });

  it('reads a folder where it stands in a commit, page by page, and none by its hash alone', async () => {
    const next = {
      link: `<https://gitlab.test/api/v4/projects/7/repository/tree?page_token=t%2F1&per_page=100>; rel="next"`,
    };
    const { calls, sent } = host(
      [200, [{ id: 'a1', name: 'a', type: 'tree' }], next],
      [200, [{ id: 'b1', name: 'b', type: 'blob' }]],
      [404, { message: '404 invalid revision or path Not Found' }],
    );
    const tree = await calls.tree(SHOP, { hash: 'x', at: { commit: 'abc', path: '.gitlab/agents' } });
    expect([tree.whole, [...tree.entries]]).toEqual([
      true,
      [
        ['a', 'a1'],
        ['b', 'b1'],
      ],
    ]);
    expect([...tree.folders]).toEqual(['a']);
    for (const at of [{ commit: 'abc', path: '' }, null])
      await expect(calls.tree(SHOP, { hash: 'x', at })).rejects.toMatchObject({ kind: 'missing' });
    const path = `${AT}/repository/tree?ref=abc&path=.gitlab%2Fagents&per_page=100&pagination=keyset`;
    expect(sent.slice(0, 2)).toEqual([
      ['GET', path],
      ['GET', `${path}&page_token=t%2F1`],
    ]);
    expect(sent).toHaveLength(3);
  });

  it('adversary: takes for an ancestor only what GitLab finds as the merge base', async () => {
    const [old, other, head] = ['a', 'b', 'c'].map((letter) => letter.repeat(40)) as [string, string, string];
    const { calls, sent } = host(
      [200, { id: old }],
      [200, { id: old }],
      [404, { message: '404 Merge Base Not Found' }],
      [400, {}],
      [502, {}],
    );
    const isAncestor = (commit: string): Promise<boolean> => calls.isAncestor(SHOP, commit, head);
    expect([
      await isAncestor(head),
      await isAncestor(old),
      await isAncestor(other),
      await isAncestor(other),
      await isAncestor(other),
    ]).toEqual([true, true, false, false, false]);
    expect(sent[0]).toEqual(['GET', `${AT}/repository/merge_base?refs%5B%5D=${old}&refs%5B%5D=${head}`]);
    await expect(isAncestor(old)).rejects.toMatchObject({ kind: 'unavailable' });
  });

  it('answers in the discussion of a note and resolves it once, wherever it stands', async () => {
    const thread = (id: string, noteId: number, resolved: boolean): object => ({
      id,
      notes: [{ id: noteId, author: { id: 3 }, resolvable: true, resolved }],
    });
    const many = Array.from({ length: 100 }, (_, index) => thread(`d${index}`, index, true));
    const { calls, sent } = host(
      ...[[200, many] as const, [200, [thread('dd', 900, false)]] as const, [201, { id: 901 }] as const],
      ...[[200, [thread('dd', 900, false)]] as const, [200, {}] as const],
      ...[[200, [thread('dd', 900, true)]] as const, [200, []] as const],
    );
    expect(await calls.replyToReview(place, '900', 'Done')).toEqual({ id: '901', url: null });
    await calls.resolveReview(place, '900');
    await calls.resolveReview(place, '900');
    await expect(calls.resolveReview(place, '5000')).rejects.toMatchObject({ kind: 'missing' });
    const at = `${AT}/merge_requests/13/discussions`;
    expect(sent.filter((each) => (each as string[])[0] !== 'GET')).toEqual([
      ['POST', `${at}/dd/notes`, { body: 'Done' }],
      ['PUT', `${at}/dd?resolved=true`],
    ]);
  });

  it('takes approvals, wanted changes and open discussions for reviews, as far as the instance has them', async () => {
    const note = (id: number, author: number, more: object): object => ({
      id,
      author: { id: author },
      resolvable: true,
      resolved: false,
      ...more,
    });
    const threads = [
      { id: 'a', notes: [note(1, 3, {}), note(2, 4, {})] },
      { id: 'b', notes: [note(3, 5, { resolved: true })] },
      { id: 'c', notes: [note(4, 6, { resolvable: false })] },
    ];
    const { calls } = host(
      ...[[200, threads] as const, [200, { approved_by: [{ user: { id: 7 } }] }] as const],
      [
        200,
        [
          { user: { id: 8 }, state: 'requested_changes' },
          { user: { id: 9 }, state: 'unreviewed' },
        ],
      ],
      ...[[200, []] as const, [404, {}] as const, [403, {}] as const],
    );
    expect(await calls.reviews(SHOP, 13)).toEqual([
      { userId: '3', verdict: 'commented' },
      { userId: '7', verdict: 'approved' },
      { userId: '8', verdict: 'changes-requested' },
    ]);
    expect(await calls.reviews(SHOP, 13)).toEqual([]);
  });

  it('reads a merged merge request: moments, merge commits, commits, files, and what came to its files', async () => {
    const commit = (id: string, at: string, more: object = {}): object => ({
      id,
      message: `Of ${id}`,
      committed_date: at,
      author_email: 'ada@example.test',
      parent_ids: [],
      ...more,
    });
    const ended = { state: 'merged', created_at: '2026-11-01T10:00:00.000Z', merged_at: '2026-11-02T10:00:00.000Z' };
    const { calls, sent } = host(
      [200, merge({ ...ended, merge_commit_sha: 'm', squash_commit_sha: 's' })],
      [200, merge(ended)],
      [200, merge({ state: 'opened', merged_at: '2026-11-02T10:00:00.000Z', merge_commit_sha: 'trial' })],
      [
        200,
        [
          commit('three', '2026-11-01T12:00:00Z', { message: "Merge branch 'main'" }),
          commit('two', '2026-11-01T11:00:00Z', { author_email: 'project_7_bot_af31@noreply.gitlab.test' }),
          commit('one', '2026-11-01T10:00:00Z'),
        ],
      ],
      [
        200,
        [
          { old_path: 'old.ts', new_path: 'new.ts' },
          { old_path: 'a.ts', new_path: 'a.ts' },
        ],
      ],
      [200, [commit('late', '2026-11-03T00:00:00Z'), commit('early', '2026-11-01T00:00:00Z')]],
    );
    expect((await calls.pullRequest(place)).mergeCommits).toEqual(['m', 's']);
    // Merged by a fast-forward.
    expect((await calls.pullRequest(place)).mergeCommits).toEqual(['abc']);
    const open = await calls.pullRequest(place);
    expect([open.mergeCommits, open.moments.merged]).toEqual([[], null]);
    const { history } = calls;
    if (history === undefined) throw new Error('GitLab has a history');
    expect(
      (await history.pullRequestCommits(place)).items.map(({ sha, isMerge, byBot }) => [sha, isMerge, byBot]),
    ).toEqual([
      ['one', false, false],
      ['two', false, true],
      ['three', true, false],
    ]);
    expect(await history.pullRequestFiles(place)).toEqual({ items: ['new.ts', 'old.ts', 'a.ts'], whole: true });
    const span = {
      branch: 'main',
      path: 'a.ts',
      since: new Date('2026-11-02T10:00:00Z'),
      until: new Date('2026-11-16T10:00:00Z'),
    };
    expect((await history.commits(SHOP, span, 100)).items.map(({ sha }) => sha)).toEqual(['late']);
    expect((sent.at(-1) as string[])[1]).toBe(
      `${AT}/repository/commits?ref_name=main&path=a.ts&since=2026-11-02T10:00:00.000Z&until=2026-11-16T10:00:00.000Z&per_page=100&page=1`,
    );
  });

  it('adversary: never leaves the project, whatever name an attacker gives', async () => {
    const { calls, sent } = host();
    for (const name of [
      'acme',
      'acme/..',
      '../x',
      'acme/../shop',
      'acme//shop',
      'acme/shop?x',
      'acme/a b',
      'acme/%2e%2e',
      '',
      `${'a/'.repeat(30)}b`,
    ]) {
      await expect(calls.merge({ repository: name, number: 1 }, 'abc')).rejects.toThrow('not the name of a repository');
      await expect(calls.permissionOf(name, { id: '1', login: 'x' })).rejects.toThrow('not the name of a repository');
    }
    expect(sent).toEqual([]);
  });

  it('gives a user’s identity without a mailbox, and what a thread is about', () => {
    const { codeHost } = gitlab;
    expect(codeHost?.noreply({ id: '41', login: 'mia' }, 'gitlab.test:8443')).toBe('41-mia@users.noreply.gitlab.test');
    const about = (on: string) => codeHost?.subjectOf({ project: '7', iid: 3, on });
    expect([
      about('issues'),
      about('merge_requests'),
      about('x'),
      codeHost?.subjectOf({ repository: 'acme/shop', number: 3 }),
    ]).toEqual([{ number: 3, kind: 'issue' }, { number: 3, kind: 'pull-request' }, null, null]);
  });
});
