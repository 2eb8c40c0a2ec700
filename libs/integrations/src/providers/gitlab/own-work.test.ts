import { describe, expect, it } from '@jest/globals';
import { type Dispatch, ProviderClient } from '../../calls/provider-client.js';
import { gitlabOwnWork } from './own-work.js';

/** GitLab, by path; what is not there is 404. */
function host(answers: Readonly<Record<string, unknown>>): {
  readonly client: ProviderClient;
  readonly sent: string[];
} {
  const sent: string[] = [];
  const dispatch: Dispatch = async (url) => {
    const path = url.replace('https://gitlab.test/api/v4', '');
    sent.push(path);
    const answer = answers[path.split('?', 1)[0] as string];
    return new Response(JSON.stringify(answer ?? { message: '404 Not found' }), {
      status: answer === undefined ? 404 : 200,
    });
  };
  return {
    client: new ProviderClient({
      baseUrl: 'https://gitlab.test/api/v4',
      authorization: 'Bearer t',
      dispatch,
      now: () => new Date(0),
    }),
    sent,
  };
}
const merge = (iid: number, change: object = {}): object => ({
  ...{
    iid,
    title: 'T',
    web_url: 'https://gitlab.test/m',
    source_branch: 'b',
    source_project_id: 7,
    target_project_id: 7,
    references: { full: `acme/web/shop!${iid}` },
  },
  ...change,
});
const issue = (iid: number, change: object = {}): object => ({
  iid,
  title: 'I',
  web_url: null,
  description: 'text',
  references: { full: `acme/api#${iid}` },
  ...change,
});
const note = (change: object): object => ({ notes: [{ resolvable: true, resolved: false, system: false, ...change }] });
const AT = '/projects/acme%2Fweb%2Fshop/merge_requests';

describe('pending work of a user at GitLab', () => {
  it('is what is theirs: conflicts, failed pipelines, open discussions and issues, of no fork and nothing confidential', async () => {
    const { client, sent } = host({
      '/merge_requests': [
        merge(1),
        merge(2),
        merge(3),
        merge(4, { source_project_id: 8 }),
        merge(5, { references: { full: 'odd' } }),
        merge(6),
      ],
      '/issues': [issue(7), issue(8, { confidential: true })],
      [`${AT}/1`]: { has_conflicts: true, head_pipeline: { status: 'failed' } },
      [`${AT}/1/discussions`]: [note({ resolved: true })],
      [`${AT}/2`]: { has_conflicts: false, head_pipeline: { status: 'running' } },
      [`${AT}/2/discussions`]: [note({ resolvable: false }), note({})],
      [`${AT}/3`]: { has_conflicts: false, head_pipeline: null },
      [`${AT}/3/discussions`]: [],
      '/projects/acme%2Fweb%2Fshop/pipelines': [{ status: 'failed', web_url: 'https://gitlab.test/p/1' }],
      '/projects/acme%2Fapi/pipelines': [{ status: 'success', web_url: null }],
    });
    const repository = (fullName: string, defaultBranch: string | null = 'main') => ({
      id: '7',
      fullName,
      private: true,
      defaultBranch,
    });
    const { items, more } = await gitlabOwnWork(client, { id: '42' }, [
      repository('acme/web/shop'),
      repository('acme/api'),
      repository('acme/empty', null),
      repository('acme/no-ci'),
    ]);
    expect(items.map(({ kind, repository: of, number }) => `${kind} ${of} ${number}`)).toEqual([
      'red-default-branch acme/web/shop null',
      'conflicts acme/web/shop 1',
      'failing-checks acme/web/shop 1',
      'unresolved-comments acme/web/shop 2',
      'issue acme/api 7',
    ]);
    expect([more, items[0]?.url, items.at(-1)?.text]).toEqual([false, 'https://gitlab.test/p/1', 'text']);
    expect(sent.filter((path) => path.startsWith('/merge_requests'))).toEqual([
      '/merge_requests?scope=all&state=opened&order_by=updated_at&per_page=30&author_id=42&with_merge_status_recheck=true',
    ]);
  });

  it('says that there is more, and reads a few', async () => {
    const { client, sent } = host({
      '/merge_requests': Array.from({ length: 30 }, (_, index) => merge(index + 1)),
      '/issues': [],
    });
    expect(await gitlabOwnWork(client, { id: '42' }, [])).toEqual({ items: [], more: true });
    expect(sent).toHaveLength(2 + 8 * 2);
  });

  it('adversary: is not asked for by an id that would be another search', async () => {
    const { client, sent } = host({});
    expect([await gitlabOwnWork(client, { id: '1&state=closed' }, []), sent]).toEqual([{ items: [], more: false }, []]);
  });
});
