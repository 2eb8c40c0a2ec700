import { randomUUID } from 'node:crypto';
import { describe, expect, it, jest } from '@jest/globals';
import { type Problem } from '@slipway/contracts/errors';
import { MAX_OUTCOME_ROWS, type OutcomeFigures } from '@slipway/contracts/spending';
import { afterCounts, afterOf, decimalOf, perPiece, ratio, ticksOf, workItems } from '@slipway/domain/outcomes';
import fc from 'fast-check';
import {
  ada,
  app,
  clear,
  conversation,
  get,
  MadeConversation,
  MadePull,
  other,
  path,
  plain,
  pull,
  SPAN,
  settled,
  setUpOutcomes,
} from './outcomes-setup.js';

jest.setTimeout(180_000);

describe('GET /orgs/{org}/outcomes', () => {
  setUpOutcomes();

  it('200: the same figures as the definitions make of any work, by each dimension and together', async () => {
    const amount = fc.integer({ min: 0, max: 99_999 }).map((ticks) => decimalOf(BigInt(ticks)));
    const conversations = fc.array(
      fc.record({
        repository: fc.constantFrom('git.test/acme/shop', 'git.test/acme/other', ''),
        user: fc.constantFrom('usr_a', 'usr_b'),
        model: fc.constantFrom('m', 'n'),
        source: fc.constantFrom('user', 'github', null),
        cost: amount,
        failedCalls: amount,
        failedTurns: amount,
        startMs: fc.option(fc.nat(60_000)),
        approvals: fc.array(fc.nat(10_000), { maxLength: 2 }),
      }),
      { minLength: 1, maxLength: 6 },
    );
    const world = conversations.chain((made) =>
      fc.record({
        conversations: fc.constant(made),
        pulls: fc.array(
          fc.record({
            state: fc.constantFrom('open' as const, 'closed' as const, 'merged' as const),
            humanCommits: fc.option(fc.nat(2)),
            watchedDays: fc.constantFrom(0, 7, 14),
            reverted: fc.boolean(),
            edited: fc.boolean(),
            read: fc.boolean(),
            asking: fc.boolean(),
            conversations: fc.subarray(
              made.map((_, index) => index),
              { minLength: 1 },
            ),
          }),
          { maxLength: 4 },
        ),
      }),
    );
    await fc.assert(
      fc.asyncProperty(world, async (of) => {
        await clear();
        const made: MadeConversation[] = of.conversations.map((each) => ({ ...each, id: randomUUID() }));
        for (const each of made) await conversation(ada.orgId, each);
        const pulls = of.pulls.map((each, index) => {
          const linked = each.conversations.map((at) => made[at]?.id ?? '');
          return { ...each, id: String(index), number: index + 1, linked, lead: linked[0] ?? '' };
        });
        for (const each of pulls) await pull(ada.orgId, each);
        const parts = (each: MadeConversation) => {
          const cost = ticksOf(each.cost);
          const least = (a: bigint, b: bigint): bigint => (a < b ? a : b);
          const retries = least(ticksOf(each.failedCalls), cost);
          const failedTurns = least(ticksOf(each.failedTurns), cost - retries);
          return { retries, failedTurns, agent: cost - retries - failedTurns };
        };
        const facts = (each: MadePull, found: boolean) =>
          afterOf({ found, watchedDays: each.watchedDays, read: each.read, asking: each.asking });
        const items = workItems(
          made.map((each) => ({ id: each.id, parts: parts(each) })),
          pulls.map((each) => ({
            id: each.id,
            state: each.state,
            reverted: each.state === 'merged' ? facts(each, each.reverted) : 'no',
            edited: 'no',
            conversations: each.linked,
          })),
        );
        const total = await get('groupBy=repository');
        const sum = (amounts: readonly bigint[]): string =>
          decimalOf(amounts.reduce((one, another) => one + another, 0n));
        const merged = pulls.filter(({ state }) => state === 'merged');
        const spent = sum(made.map(({ cost }) => ticksOf(cost)));
        const counts = afterCounts(merged.map((each) => facts(each, each.reverted)));
        expect(total.total).toMatchObject({
          conversations: made.length,
          turns: 2 * made.length,
          costUsd: spent,
          cost: {
            agentUsd: sum(items.map(({ cost }) => cost.agent)),
            retriesUsd: sum(items.map(({ cost }) => cost.retries)),
            failedTurnsUsd: sum(items.map(({ cost }) => cost.failedTurns)),
            revertedUsd: sum(items.map(({ cost }) => cost.reverted)),
          },
          costPerMergedUsd: perPiece(spent, merged.length),
          pullRequests: {
            published: pulls.length,
            merged: merged.length,
            mergedShare: ratio(merged.length, pulls.filter(({ state }) => state !== 'open').length),
          },
          humanCommits: {
            none: merged.filter(({ humanCommits }) => humanCommits === 0).length,
            some: merged.filter(({ humanCommits }) => (humanCommits ?? 0) > 0).length,
            unknown: merged.filter(({ humanCommits }) => humanCommits === null).length,
          },
          reverted: { ...counts, share: ratio(counts.found, counts.settled) },
          edited: afterCounts(merged.map((each) => facts(each, each.edited))),
          revertedOrEdited: afterCounts(merged.map((each) => facts(each, each.reverted || each.edited))),
        });
        const { start, approval, review } = total.total.waits;
        expect([start.count, start.totalMs, approval.count, approval.totalMs, review.count]).toEqual([
          made.filter(({ startMs }) => startMs !== null).length,
          made.reduce((all, { startMs }) => all + (startMs ?? 0), 0),
          made.reduce((all, { approvals }) => all + approvals.length, 0),
          made.reduce((all, { approvals }) => all + approvals.reduce((one, another) => one + another, 0), 0),
          pulls.filter(({ number }) => number % 2 === 0).length,
        ]);
        for (const groupBy of ['user', 'model', 'source', 'day', 'user,repository,model,source,day']) {
          const { data, total: again } = await get(`groupBy=${groupBy}`);
          expect(again).toEqual(total.total);
          expect(sum(data.map(({ costUsd }) => ticksOf(costUsd)))).toBe(spent);
          const all = (figure: (row: OutcomeFigures) => number): number =>
            data.reduce((one, row) => one + figure(row), 0);
          expect(all((row) => row.conversations)).toBe(made.length);
          expect(all((row) => row.pullRequests.merged)).toBe(merged.length);
          expect(all((row) => row.reverted.settled + row.reverted.unknown + row.reverted.pending)).toBe(merged.length);
          expect(all((row) => row.waits.approval.count)).toBe(approval.count);
        }
      }),
      { numRuns: 40 },
    );
    await clear();
  });

  it('200: a pull request of two conversations and a conversation of two pull requests cost what both cost, once', async () => {
    await clear();
    const [one, two] = [randomUUID(), randomUUID()];
    await conversation(ada.orgId, { ...plain, id: one, cost: '3', failedCalls: '1' });
    await conversation(ada.orgId, { ...plain, id: two, cost: '1.0000000001', user: 'usr_y' });
    await pull(ada.orgId, { ...settled, number: 1, lead: one, linked: [one, two], reverted: true });
    await pull(ada.orgId, { ...settled, number: 2, lead: two, linked: [two], humanCommits: 3 });
    const { data, total } = await get('groupBy=user');
    expect(total).toMatchObject({
      costUsd: '4.0000000001',
      conversations: 2,
      pullRequests: { published: 2, merged: 2, mergedShare: 1 },
      costPerMergedUsd: '2',
    });
    expect(
      data.map(({ user, costUsd, cost, reverted, conversations }) => [
        user?.id,
        costUsd,
        cost.retriesUsd,
        cost.revertedUsd,
        reverted.share,
        conversations,
      ]),
    ).toEqual([
      ['usr_x', '3.5000000001', '1', '2.5000000001', 1, 2],
      ['usr_y', '0.5', '0', '0', 0, 0],
    ]);
    expect((await get('groupBy=user&user=usr_y')).total.costUsd).toBe('0.5');
    expect(
      (await get('groupBy=source&repository=GIT.test/Acme/Shop&source=user&model=m')).total.pullRequests.merged,
    ).toBe(2);
    expect((await get('groupBy=source&repository=')).total).toMatchObject({
      conversations: 0,
      costUsd: '0',
      costPerMergedUsd: null,
    });
  });

  it('200: what its host could not be asked is unknown, and in no share', async () => {
    await clear();
    await pull(ada.orgId, { ...settled, number: 1, lead: randomUUID(), linked: [], watchedDays: 7 });
    await pull(ada.orgId, { ...settled, number: 2, lead: randomUUID(), linked: [], read: false });
    await pull(ada.orgId, {
      ...settled,
      number: 3,
      lead: randomUUID(),
      linked: [],
      watchedDays: 7,
      asking: true,
      reverted: true,
    });
    const { reverted, edited } = (await get('')).total;
    expect(reverted).toEqual({ settled: 0, found: 0, share: null, unknown: 2, pending: 1, foundEarly: 1 });
    expect(edited).toEqual({ settled: 0, found: 0, share: null, unknown: 2, pending: 1, foundEarly: 0 });
  });

  it('adversary: text/csv is a table in which no name of a repository, model, source, title or user is a formula', async () => {
    await clear();
    const { id } = await app.conversation(ada);
    await app.owner.query(`UPDATE app.conversation SET title = '@SUM(A1)' WHERE id = $1`, [id]);
    await clear();
    await conversation(ada.orgId, { ...plain, id, repository: '=cmd|x', model: '+1', source: '-1', user: '@evil' });
    for (const [query, names] of [
      [`?${SPAN}&groupBy=repository,model,source,user`, ["'=cmd|x", "'+1", "'-1", "'@evil"]],
      [`/conversations?${SPAN}`, ["'=cmd|x", "'+1", "'-1", "'@evil", "'@SUM(A1)"]],
    ] as const) {
      const { headers, body } = await app.http<string>(ada, 'GET', path(query), undefined, { accept: 'text/csv' });
      expect([headers.get('content-type'), headers.get('content-disposition')]).toEqual([
        'text/csv; charset=utf-8',
        expect.stringContaining('2026-11-01-2026-11-30.csv'),
      ]);
      const [head = '', row = '', end] = body.split('\r\n');
      expect([row.split(',').length, end]).toEqual([head.split(',').length, '']);
      for (const name of names) expect(row).toContain(name);
    }
    const { body } = await app.http<string>(ada, 'GET', path('/users'), undefined, { accept: 'text/csv' });
    expect(body).toContain("'@evil");
  });

  it('adversary: another organization’s work is in no figure, and its reports are as ones that there are not', async () => {
    await clear();
    const id = randomUUID();
    await conversation(other.orgId, { ...plain, id, cost: '99' });
    await pull(other.orgId, { ...settled, number: 1, lead: id, linked: [id] });
    expect((await get('')).total).toMatchObject({ conversations: 0, costUsd: '0', pullRequests: { published: 0 } });
    for (const rest of ['', '/users', '/conversations']) {
      const foreign = await app.http<Problem>(ada, 'GET', path(rest, other));
      const missing = await app.http<Problem>(ada, 'GET', `/api/v1/orgs/org_none/outcomes${rest}`);
      expect([foreign.status, { ...foreign.body, requestId: '' }]).toEqual([404, { ...missing.body, requestId: '' }]);
    }
  });

  it('adversary: a member, who may not see what things cost, sees none of it; nor does an anonymous caller', async () => {
    const late = await app.user();
    await app.owner.query(`INSERT INTO app.membership (org_id, user_id, role) VALUES ($1, $2, 'member')`, [
      ada.orgId,
      late.userId,
    ]);
    for (const rest of ['', '/users', '/conversations']) {
      expect((await app.http(late, 'GET', path(rest))).status).toBe(403);
      expect((await app.http(null, 'GET', path(rest))).status).toBe(401);
    }
  });

  it('400: a span that is too long or turned round, a dimension that there is not, and text that no database holds', async () => {
    for (const query of [
      'from=2025-01-01&to=2026-11-30',
      'from=2026-11-02&to=2026-11-01',
      'from=2024-01-01',
      'groupBy=org',
      'groupBy=day,day',
      'groupBy=',
      'user=%00',
    ])
      expect([query, (await app.http(ada, 'GET', path(`?${query}`))).status]).toEqual([query, 400]);
  });

  it('200: 10,000 conversations with 5,000 pull requests are one answer, bounded in its rows', async () => {
    await clear();
    for (const { orgId } of [ada, other])
      await app.owner.query(
        `INSERT INTO app.conversation_outcome (org_id, conversation_id, created_at, user_id, user_label, repository, model, source, cost_usd, start_wait_ms, approval_waits_ms, turns)
         SELECT $1, md5($1 || n)::uuid, timestamptz '2026-11-01T00:00:00Z' + n * interval '4 minutes', 'usr_' || n % 50, 'u', 'git.test/acme/r' || n % 1200, 'm' || n % 3, 'user', 0.01, n, ARRAY[n], 3
         FROM generate_series(1, 10000) n`,
        [orgId],
      );
    await app.owner.query(
      `WITH made AS (
         INSERT INTO app.pull_request_outcome (org_id, provider, host, repository, number, conversation_id, begun_at, state, merged_at, watched_days)
         SELECT $1, 'gitea', 'git.test', 'acme/r' || n % 1200, n, md5($1 || n)::uuid, timestamptz '2026-11-01T00:00:00Z' + n * interval '4 minutes', 'merged', '2026-11-03T00:00:00Z', 14
         FROM generate_series(1, 5000) n RETURNING id, conversation_id)
       INSERT INTO app.pull_request_work (org_id, pull_request_id, conversation_id) SELECT $1, id, conversation_id FROM made`,
      [ada.orgId],
    );
    await app.owner.query('ANALYZE app.conversation_outcome, app.pull_request_outcome, app.pull_request_work');
    const begun = performance.now();
    const { data, total, more } = await get('groupBy=repository');
    console.log(`10,000 conversations with 5,000 pull requests: ${Math.round(performance.now() - begun)} ms`);
    expect([
      data.length,
      more,
      total.conversations,
      total.pullRequests.merged,
      total.costUsd,
      total.costPerMergedUsd,
    ]).toEqual([MAX_OUTCOME_ROWS, true, 10_000, 5_000, '100', '0.02']);
    expect(total.waits.start).toEqual({ count: 10_000, totalMs: 50_005_000, medianMs: 5_000, p90Ms: 9_000 });
    await clear();
  });
});
