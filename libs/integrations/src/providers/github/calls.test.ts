import { describe, expect, it } from '@jest/globals';
import type { CodeHost, ForgeComments } from '../../calls/code-host.js';
import { type Dispatch, ProviderClient } from '../../calls/provider-client.js';
import { pull } from '../../testing/deliveries.js';
import { githubCalls } from './calls.js';

/** GitHub, as its documentation says that it answers. */
function host(...answers: readonly [status: number, body: unknown][]): {
  readonly calls: CodeHost & ForgeComments;
  readonly sent: unknown[];
} {
  const sent: unknown[] = [];
  const left = [...answers];
  const dispatch: Dispatch = async (url, { method, body }) => {
    sent.push([method, url.replace('https://api.github.com', ''), ...(body === undefined ? [] : [JSON.parse(body)])]);
    const [status, answer] = left.shift() ?? [500, {}];
    return new Response(status === 204 ? null : JSON.stringify(answer), { status });
  };
  return {
    calls: githubCalls(
      new ProviderClient({
        baseUrl: 'https://api.github.com',
        authorization: 'Bearer t',
        dispatch,
        now: () => new Date(0),
      }),
    ),
    sent,
  };
}

const place = { repository: 'acme/shop', number: 13 };
const written = { id: 900, html_url: 'https://github.com/c/900' };

describe('calls to GitHub', () => {
  it('go where its documentation says, with what it says', async () => {
    const { calls, sent } = host(
      [201, {}],
      [200, {}],
      [201, {}],
      [201, written],
      [200, written],
      [201, written],
      [201, {}],
      [200, { merged: true }],
      [200, pull()],
    );
    await calls.react(place, { kind: 'subject' });
    await calls.react(place, { kind: 'comment', id: '5' });
    await calls.react(place, { kind: 'review-comment', id: '6' });
    expect(await calls.comment(place, 'Hello')).toEqual({ id: '900', url: 'https://github.com/c/900' });
    await calls.updateComment('acme/shop', '900', 'Hello again');
    await calls.replyToReview(place, '6', 'Done');
    await calls.setStatus('acme/shop', 'abc', {
      state: 'success',
      context: 'slipway',
      description: 'd'.repeat(200),
      url: 'https://slipway.example',
    });
    await calls.merge(place, 'abc');
    await calls.updatePullRequest(place, { title: 'New' });
    expect(sent).toEqual([
      ['POST', '/repos/acme/shop/issues/13/reactions', { content: 'eyes' }],
      ['POST', '/repos/acme/shop/issues/comments/5/reactions', { content: 'eyes' }],
      ['POST', '/repos/acme/shop/pulls/comments/6/reactions', { content: 'eyes' }],
      ['POST', '/repos/acme/shop/issues/13/comments', { body: 'Hello' }],
      ['PATCH', '/repos/acme/shop/issues/comments/900', { body: 'Hello again' }],
      ['POST', '/repos/acme/shop/pulls/13/comments/6/replies', { body: 'Done' }],
      [
        'POST',
        '/repos/acme/shop/statuses/abc',
        { state: 'success', context: 'slipway', description: 'd'.repeat(140), target_url: 'https://slipway.example' },
      ],
      ['PUT', '/repos/acme/shop/pulls/13/merge', { sha: 'abc' }],
      ['PATCH', '/repos/acme/shop/pulls/13', { title: 'New' }],
    ]);
  });

  it('open a pull request, or say that there is one, which is then found', async () => {
    const draft = { head: 'slipway/cart', base: 'main', title: 'Fill the cart', body: 'b'.repeat(70_000), draft: true };
    const exists = {
      message: 'Validation Failed',
      errors: [{ message: 'A pull request already exists for acme:slipway/cart.' }],
    };
    const { calls, sent } = host(
      [201, pull({ draft: true })],
      [422, exists],
      [200, [pull()]],
      [200, []],
      [422, { message: 'Draft pull requests are not supported' }],
    );
    expect(await calls.createPullRequest('acme/shop', draft)).toMatchObject({
      number: 13,
      draft: true,
      state: 'open',
      fork: false,
      headSha: 'abc',
    });
    expect((sent[0] as [string, string, { body: string }])[2].body.length).toBe(65_536);
    await expect(calls.createPullRequest('acme/shop', draft)).rejects.toMatchObject({ kind: 'conflict', status: 422 });
    expect(await calls.findPullRequest('acme/shop', draft)).toMatchObject({ number: 13 });
    expect(sent[2]).toEqual(['GET', '/repos/acme/shop/pulls?state=open&head=acme%3Aslipway%2Fcart&base=main']);
    expect(await calls.findPullRequest('acme/shop', draft)).toBe(null);
    await expect(calls.createPullRequest('acme/shop', draft)).rejects.toMatchObject({ kind: 'invalid' });
  });

  it('read a user’s rights, with the id that the answer is about', async () => {
    const { calls } = host(
      ...['admin', 'write', 'read', 'none', 'superuser'].map((permission): [number, unknown] => [
        200,
        { permission, user: { id: 7 } },
      ]),
      [404, {}],
    );
    const access = async () => (await calls.permissionOf('acme/shop', { id: '1', login: 'ann' })).access;
    expect([await access(), await access(), await access(), await access(), await access()]).toEqual([
      'admin',
      'write',
      'read',
      'none',
      'none',
    ]);
    await expect(access()).rejects.toMatchObject({ kind: 'missing' });
  });

  it('find their own comment again by its marker, before any copy, on whichever page it is', async () => {
    const since = new Date('2026-11-24T03:00:00Z');
    const comments = [
      { ...written, id: 1, body: 'x <!-- slipway:c1 -->' },
      { ...written, id: 2, body: 'y <!-- slipway:c1 -->' },
      { ...written, id: 3, body: 'z' },
    ];
    const others = Array.from({ length: 100 }, (_, index) => ({ ...written, id: 1_000 + index, body: 'x' }));
    const { calls } = host([200, others], [200, comments], [200, []]);
    expect((await calls.findComment(place, '<!-- slipway:c1 -->', since))?.id).toBe('1');
    expect(await calls.findComment(place, '<!-- slipway:c1 -->', since)).toBe(null);
  });

  it('list repositories and branches a page at a time', async () => {
    const full = Array.from({ length: 100 }, (_, index) => ({ name: `b${index}` }));
    const shop = { id: 1, full_name: 'acme/shop', private: true, default_branch: 'main' };
    const listing = { id: '1', fullName: 'acme/shop', private: true, defaultBranch: 'main' };
    const { calls, sent } = host(
      [200, full],
      [200, full.slice(0, 1)],
      [403, { message: 'Resource not accessible by integration' }],
      [200, { repositories: [shop] }],
      [
        200,
        [
          { ...shop, permissions: { admin: false, push: true } },
          { ...shop, id: 2, permissions: { push: false } },
        ],
      ],
      [200, shop],
    );
    expect((await calls.branches('acme/shop', null)).next).toBe('2');
    expect(await calls.branches('acme/shop', '2')).toEqual({ items: ['b0'], next: null });
    expect(await calls.repositories(null)).toEqual({ items: [listing], next: null });
    expect(await calls.repositories('2')).toEqual({ items: [listing], next: null });
    expect(await calls.repository('acme/shop')).toEqual(listing);
    expect(sent.slice(2).map((each) => (each as string[])[1])).toEqual([
      '/user/repos?sort=full_name&per_page=100&page=1',
      '/installation/repositories?per_page=100&page=1',
      '/user/repos?sort=full_name&per_page=100&page=2',
      '/repos/acme/shop',
    ]);
  });

  it('find a reply of ours below a line by its marker, among the newest', async () => {
    const { calls, sent } = host([
      200,
      [
        { id: 8, body: 'Why?' },
        { id: 9, body: '<!-- slipway:m1 --> Done', html_url: 'https://x.test/9' },
      ],
    ]);
    expect(await calls.findReviewReply(place, 'slipway:m1')).toEqual({ id: '9', url: 'https://x.test/9' });
    expect(sent[0]).toEqual(['GET', '/repos/acme/shop/pulls/13/comments?sort=created&direction=desc&per_page=100']);
  });

  it('take what GraphQL refuses for a refusal, though its status is 200', async () => {
    const refused = (type: string): [number, unknown] => [
      200,
      { data: null, errors: [{ type, message: 'Resource not accessible' }] },
    ];
    for (const [type, kind] of [
      ['FORBIDDEN', 'forbidden'],
      ['NOT_FOUND', 'missing'],
      ['RATE_LIMITED', 'limited'],
      ['OTHER', 'invalid'],
    ] as const)
      await expect(host(refused(type)).calls.resolveReview(place, '900')).rejects.toMatchObject({ kind });
  });

  it('read check runs beside statuses, and resolve the thread of a review comment by GraphQL', async () => {
    const node = (id: string, isResolved: boolean, databaseId: number) => ({
      id,
      isResolved,
      comments: { nodes: [{ databaseId }] },
    });
    const threads = {
      data: {
        repository: { pullRequest: { reviewThreads: { nodes: [node('T1', false, 5), node('T2', false, 900)] } } },
      },
    };
    const { calls, sent } = host(
      [
        200,
        {
          check_runs: [
            {
              id: 4,
              name: 'tests',
              status: 'completed',
              conclusion: 'timed_out',
              html_url: null,
              output: { title: 'Too slow' },
            },
          ],
        },
      ],
      [200, { statuses: [{ id: 7, context: 'lint', state: 'pending', description: null, target_url: null }] }],
      [200, threads],
      [200, { data: {} }],
      [200, { data: { repository: { pullRequest: { reviewThreads: { nodes: [node('T2', true, 900)] } } } } }],
    );
    expect(await calls.checks('acme/shop', 'abc')).toEqual([
      { id: 'run-4', name: 'tests', state: 'failure', description: 'Too slow', url: null },
      { id: 'status-7', name: 'lint', state: 'pending', description: '', url: null },
    ]);
    await calls.resolveReview(place, '900');
    await calls.resolveReview(place, '900');
    expect(sent.slice(2).map((each) => (each as unknown[])[2])).toMatchObject([
      { variables: { owner: 'acme', name: 'shop', number: 13 } },
      { variables: { id: 'T2' } },
      { variables: { owner: 'acme' } },
    ]);
  });

  it('adversary: take for an ancestor only what GitHub finds as the merge base, and nothing that it does not answer', async () => {
    const [old, other, head] = ['a', 'b', 'c'].map((letter) => letter.repeat(40)) as [string, string, string];
    const { calls, sent } = host(
      [200, { status: 'behind', merge_base_commit: { sha: old }, commits: [] }],
      [200, { status: 'diverged', merge_base_commit: { sha: old } }],
      [404, { message: 'Not Found' }],
      [200, { status: 'behind' }],
      [502, {}],
    );
    const isAncestor = (commit: string): Promise<boolean> => calls.isAncestor('acme/shop', commit, head);
    expect([
      await isAncestor(head),
      await isAncestor(old),
      await isAncestor(other),
      await isAncestor(other),
      await isAncestor(other),
    ]).toEqual([true, true, false, false, false]);
    expect(sent[0]).toEqual(['GET', `/repos/acme/shop/compare/${head}...${old}?per_page=1`]);
    await expect(isAncestor(old)).rejects.toMatchObject({ kind: 'unavailable' });
  });

  it('never leave the repository, whatever name or id an attacker gives', async () => {
    const { calls, sent } = host([200, { permission: 'read', user: { id: 1 } }]);
    for (const repository of ['acme', 'acme/..', '../x', 'acme/shop/hooks', 'acme/shop?x', 'acme/a b', '']) {
      await expect(calls.merge({ repository, number: 1 }, 'abc')).rejects.toThrow('not the name of a repository');
    }
    await calls.permissionOf('acme/shop', { id: '1', login: '../../user?' });
    expect(sent).toEqual([['GET', '/repos/acme/shop/collaborators/..%2F..%2Fuser%3F/permission']]);
  });

  it('reads a merged pull request: moments, merge commit, commits, files, and what came to its files', async () => {
    const merged = {
      state: 'closed',
      merged: true,
      merged_at: '2026-11-02T10:00:00Z',
      closed_at: '2026-11-02T10:00:00Z',
      created_at: '2026-11-01T10:00:00Z',
    };
    const commit = (sha: string, at: string, more: object = {}): object => ({
      ...{
        sha,
        parents: [{ sha: 'p' }],
        author: { id: 1, login: 'ada', type: 'User' },
        commit: { message: `Of ${sha}`, committer: { date: at } },
      },
      ...more,
    });
    const full = Array.from({ length: 100 }, (_, index) => commit(`c${index}`, '2026-11-03T10:00:00Z'));
    const { calls, sent } = host(
      [200, pull({ merge_commit_sha: 'trial' })],
      [200, pull({ ...merged, merge_commit_sha: 'abc' })],
      [
        200,
        [
          commit('one', '2026-11-01T10:00:00Z'),
          commit('two', '2026-11-01T11:00:00Z', { author: { id: 2, login: 'x[bot]', type: 'Bot' }, parents: [{}, {}] }),
        ],
      ],
      [200, [{ filename: 'new.ts', previous_filename: 'old.ts' }, { filename: 'a.ts' }]],
      [200, full],
      [
        200,
        [
          commit('last', '2026-11-02T11:00:00Z'),
          commit('early', '2026-11-01T00:00:00Z'),
          { ...commit('ghost', '2026-11-02T12:00:00Z'), author: null },
        ],
      ],
      [200, full],
      ...[
        [200, full] as [number, unknown],
        [200, full] as [number, unknown],
        [200, full.slice(50)] as [number, unknown],
      ],
    );
    expect((await calls.pullRequest(place)).mergeCommits).toEqual([]);
    const { moments, mergeCommits } = await calls.pullRequest(place);
    expect([moments.opened?.toISOString(), moments.merged?.toISOString(), mergeCommits]).toEqual([
      '2026-11-01T10:00:00.000Z',
      '2026-11-02T10:00:00.000Z',
      ['abc'],
    ]);
    const { history } = calls;
    if (history === undefined) throw new Error('GitHub has a history');
    expect(
      (await history.pullRequestCommits(place)).items.map(({ sha, isMerge, byBot }) => [sha, isMerge, byBot]),
    ).toEqual([
      ['one', false, false],
      ['two', true, true],
    ]);
    expect(await history.pullRequestFiles(place)).toEqual({ items: ['new.ts', 'old.ts', 'a.ts'], whole: true });
    const span = {
      branch: 'main',
      path: 'a b.ts',
      since: new Date('2026-11-02T10:00:00Z'),
      until: new Date('2026-11-16T10:00:00Z'),
    };
    const found = await history.commits('acme/shop', span, 1_000);
    expect([found.whole, found.items.length, found.items.slice(-2).map(({ sha }) => sha)]).toEqual([
      true,
      102,
      ['last', 'ghost'],
    ]);
    // A bound that is reached is said.
    expect((await history.commits('acme/shop', span, 100)).whole).toBe(false);
    // GitHub ends its list at 250, and does not say that there are more.
    expect((await history.pullRequestCommits(place)).whole).toBe(false);
    expect((sent[4] as string[])[1]).toBe(
      '/repos/acme/shop/commits?sha=main&path=a%20b.ts&since=2026-11-02T10:00:00.000Z&until=2026-11-16T10:00:00.000Z&stat=false&verification=false&files=false&per_page=100&limit=100&page=1',
    );
  });
});
