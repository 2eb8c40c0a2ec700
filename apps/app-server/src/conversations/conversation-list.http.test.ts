import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ConversationSummary, pageOf } from '@slipway/contracts/conversations';
import { ConversationApp, type User } from '../testing/conversation-app.js';

const Page = pageOf(ConversationSummary);

describe('the list of conversations', () => {
  let app: ConversationApp;
  let ada: User;
  beforeAll(async () => {
    app = await ConversationApp.start();
    ada = await app.user('Ada');
    const other = await app.user('Eve');
    for (const orgId of [ada.orgId, other.orgId])
      await app.owner.query(
        // Costs and times that many share, so that the order ends in the id.
        `INSERT INTO app.conversation (id, org_id, created_by, created_by_label, title, model, repository, status, cost_usd, created_at, updated_at)
         SELECT gen_random_uuid(), $1, 'usr_' || (i % 3), 'P', CASE WHEN i % 7 = 0 THEN '100% _done_ \\ Überall' ELSE 'Task ' || i END, 'm' || (i % 2),
           CASE WHEN i % 4 = 0 THEN NULL ELSE 'https://git.test/r' || (i % 4) END, (ARRAY['working', 'finished', 'failed'])[1 + (i % 3)], (i % 5) * 0.0000004,
           '2026-11-01T00:00:00Z'::timestamptz + (i / 3) * interval '1 minute', '2026-11-01T00:00:00Z'::timestamptz + (i % 10) * interval '1 hour'
         FROM generate_series(1, 60) i`,
        [orgId],
      );
  });
  afterAll(() => app?.close());

  const get = async (query: string): Promise<{ data: ConversationSummary[]; page: { nextCursor: string | null } }> => {
    const { status, body } = await app.http(ada, 'GET', `${app.path(ada)}?${query}`);
    if (status !== 200) throw new Error(`${query}: ${status}`);
    return Page.parse(body);
  };
  const all = async (query: string, limit = 7): Promise<ConversationSummary[]> => {
    const found: ConversationSummary[] = [];
    for (let cursor: string | null = ''; cursor !== null; ) {
      const { data, page } = await get(`limit=${limit}&${query}${cursor === '' ? '' : `&cursor=${cursor}`}`);
      found.push(...data);
      cursor = page.nextCursor;
    }
    return found;
  };

  it('comes page by page in each order, every one once, and of this organization alone', async () => {
    const keyOf = {
      created: (each: ConversationSummary) => each.createdAt,
      updated: (each: ConversationSummary) => each.updatedAt,
      cost: (each: ConversationSummary) => Number(each.costUsd),
    };
    for (const sort of ['created', 'updated', 'cost'] as const) {
      const found = await all(`sort=${sort}`);
      expect(new Set(found.map(({ id }) => id)).size).toBe(60);
      expect(found.every(({ orgId }) => orgId === ada.orgId)).toBe(true);
      if (sort === 'cost') continue;
      const keys = found.map((each) => `${keyOf[sort](each)} ${each.id}`);
      expect(keys).toEqual([...keys].sort().reverse());
    }
    const costs = (await all('sort=cost')).map(keyOf.cost);
    // Millionths of a dollar count, not less.
    expect(costs.map((cost) => Math.round(cost * 1e6))).toEqual(
      costs.map((cost) => Math.round(cost * 1e6)).sort((a, b) => b - a),
    );
  });

  it('says what people have written as they wrote it, in each order: quotes, backslashes, control characters and all', async () => {
    const text = (name: string): string => `${name} "q" '\\' \n\t\u0001\u2028 {"a":1}, é 😀 </script>`;
    const written = {
      title: text('title'),
      repository: text('repository'),
      branch: text('branch'),
      model: text('model'),
    };
    const grace = await app.user('Grace');
    await app.owner.query(
      `INSERT INTO app.conversation (id, org_id, created_by, created_by_label, title, model, repository, branch) VALUES (gen_random_uuid(), $1, $2, $3, $4, $5, $6, $7)`,
      [grace.orgId, text('id'), text('label'), written.title, written.model, written.repository, written.branch],
    );
    for (const query of ['', 'sort=updated']) {
      const { body } = await app.http(grace, 'GET', `${app.path(grace)}?${query}`);
      expect(Page.parse(body).data).toEqual([
        expect.objectContaining({ ...written, createdBy: { id: text('id'), label: text('label') } }),
      ]);
    }
  });

  it('holds every filter that is given, alone and together with the others and each order', async () => {
    const every = await all('', 200);
    const tests: ReadonlyArray<readonly [string, (each: ConversationSummary) => boolean]> = [
      ['status=failed', ({ status }) => status === 'failed'],
      ['owner=usr_1', ({ createdBy }) => createdBy.id === 'usr_1'],
      ['repository=https%3A%2F%2Fgit.test%2Fr1', ({ repository }) => repository === 'https://git.test/r1'],
      ['repository=', ({ repository }) => repository === null],
      ['model=m1', ({ model }) => model === 'm1'],
      ['createdAfter=2026-11-01T00:10:00Z', ({ createdAt }) => createdAt >= '2026-11-01T00:10:00.000Z'],
      ['createdBefore=2026-11-01T00:10:00Z', ({ createdAt }) => createdAt < '2026-11-01T00:10:00.000Z'],
      ['search=TASK%201', ({ title }) => title.toLowerCase().includes('task 1')],
      ['search=100%25%20_done_%20%5C', ({ title }) => title.includes('100%')],
      ['search=%25_', () => false],
    ];
    const ids = (found: ConversationSummary[]): string[] => found.map(({ id }) => id).sort();
    for (const sort of ['created', 'updated', 'cost'])
      for (const [index, [query, holds]] of tests.entries()) {
        const [moreQuery, moreHolds] = tests[(index + 4) % tests.length] as (typeof tests)[number];
        expect([sort, query, ids(await all(`sort=${sort}&${query}`, 9))]).toEqual([
          sort,
          query,
          ids(every.filter(holds)),
        ]);
        // The same filter twice is another request.
        if (query.split('=')[0] === moreQuery.split('=')[0]) continue;
        expect([sort, query, moreQuery, ids(await all(`sort=${sort}&${query}&${moreQuery}`, 9))]).toEqual([
          sort,
          query,
          moreQuery,
          ids(every.filter((each) => holds(each) && moreHolds(each))),
        ]);
      }
  });

  it('400: a cursor of another order, and a made-up one', async () => {
    const { page } = await get('limit=1&sort=cost');
    for (const query of [
      `sort=created&cursor=${page.nextCursor}`,
      'cursor=x',
      `sort=cost&cursor=${Buffer.from('["cost","1e9","x"]').toString('base64url')}`,
      'sort=title',
      'search=%00',
    ])
      expect([query, (await app.http(ada, 'GET', `${app.path(ada)}?${query}`)).status]).toEqual([query, 400]);
  });
});
