import { describe, expect, it } from '@jest/globals';
import { type Dispatch, ProviderClient } from '../../calls/provider-client.js';
import { githubOwnWork } from './own-work.js';

function host(...answers: readonly unknown[]): {
  readonly client: ProviderClient;
  readonly sent: { query: string; variables: Record<string, string> }[];
} {
  const sent: { query: string; variables: Record<string, string> }[] = [];
  const left = [...answers];
  const dispatch: Dispatch = async (_url, { body }) => {
    sent.push(JSON.parse(body ?? '{}'));
    return new Response(JSON.stringify(left.shift() ?? {}));
  };
  return {
    client: new ProviderClient({
      baseUrl: 'https://api.github.com',
      authorization: 'Bearer t',
      dispatch,
      now: () => new Date(0),
    }),
    sent,
  };
}

describe('pending work of a user at GitHub', () => {
  const pull = (number: number, change: object = {}) => ({
    number,
    title: 'T',
    url: 'https://github.com/x',
    headRefName: 'b',
    isCrossRepository: false,
    mergeable: 'MERGEABLE',
    repository: { nameWithOwner: 'acme/shop' },
    commits: { nodes: [{ commit: { statusCheckRollup: null } }] },
    reviewThreads: { nodes: [{ isResolved: true }] },
    ...change,
  });

  it('is found by two queries: what is not known yet is no conflict, a comment that is resolved is none, a fork is not ours', async () => {
    const nodes = [
      pull(1, { mergeable: 'UNKNOWN' }),
      pull(2, {
        mergeable: 'CONFLICTING',
        commits: { nodes: [{ commit: { statusCheckRollup: { state: 'FAILURE' } } }] },
      }),
      pull(3, { reviewThreads: { nodes: [{ isResolved: true }, { isResolved: false }] } }),
      pull(4, { mergeable: 'CONFLICTING', isCrossRepository: true }),
    ];
    const issues = {
      issueCount: 40,
      nodes: [{ number: 9, title: 'I', url: null, body: 'text', repository: { nameWithOwner: 'acme/api' } }],
    };
    const branches = {
      r0: {
        nameWithOwner: 'acme/shop',
        url: 'https://github.com/acme/shop',
        defaultBranchRef: { name: 'main', target: { statusCheckRollup: { state: 'ERROR' } } },
      },
      r1: null,
    };
    const { client, sent } = host({ data: { pulls: { issueCount: 4, nodes }, issues } }, { data: branches });
    const { items, more } = await githubOwnWork(client, { login: 'octo-cat' }, []);
    expect(items.map(({ kind, repository, number }) => `${kind} ${repository} ${number}`)).toEqual([
      'red-default-branch acme/shop null',
      'conflicts acme/shop 2',
      'failing-checks acme/shop 2',
      'unresolved-comments acme/shop 3',
      'issue acme/api 9',
    ]);
    expect(more).toBe(true);
    expect(sent[0]?.variables).toEqual({
      pulls: 'is:pr is:open archived:false author:octo-cat',
      issues: 'is:issue is:open archived:false assignee:octo-cat',
    });
    expect(sent).toHaveLength(2);
  });

  it('adversary: is not asked for by a login that would be another search', async () => {
    const { client, sent } = host();
    expect([await githubOwnWork(client, { login: 'a is:closed' }, []), sent]).toEqual([{ items: [], more: false }, []]);
  });
});
