import { describe, expect, it } from '@jest/globals';
import type { TraceSpan } from '@slipway/contracts/conversations';
import fc from 'fast-check';
import {
  type After,
  afterCounts,
  afterShare,
  type CostParts,
  decimalOf,
  firstEdit,
  humanCommits,
  type ListedCommit,
  mergedShare,
  nextWatch,
  perPiece,
  revertsOf,
  shareOf,
  startWait,
  ticksOf,
  turnSums,
  watchedDaysAt,
  workItems,
} from './index.js';

const DAY_MS = 86_400_000;
const MERGED = new Date('2026-11-01T10:00:00Z');
const sha = (n: number): string => n.toString(16).padStart(40, 'a');
const target = { shas: [sha(1)], repository: 'acme/shop', number: 12, title: 'Mend the total' };
const commits = (...messages: string[]): ListedCommit[] =>
  messages
    .map((message, index) => ({
      sha: sha(100 + index),
      at: new Date(MERGED.getTime() + (index + 1) * 60_000),
      message,
    }))
    .toReversed();

describe('reverts of a pull request', () => {
  for (const [whose, message] of [
    ['git', `Revert "Mend the total"\n\nThis reverts commit ${sha(1)}.`],
    ['git, with a short hash', `Take it back\n\nThis reverts commit ${sha(1).slice(0, 9)}`],
    ['GitHub, squashed', 'Revert "Mend the total" (#13)\n\nReverts acme/shop#12'],
    ['GitHub, squashed with a title alone', 'Revert "Mend the total (#12)" (#13)'],
    ['GitHub, merged', 'Merge pull request #13 from acme/revert-12-slipway/mend'],
    ['GitLab, a merge request', "Revert \"Merge branch 'slipway/x' into 'main'\"\n\nThis reverts merge request !12"],
    ['Gitea', `revert ${sha(1)}\n\nrevert Mend the total`],
    ['a title alone', 'Revert "Mend the total"'],
  ] as const)
    it(`are found as ${whose} writes them`, () => {
      expect(revertsOf(target, commits('Other', message)).standing?.sha).toBe(sha(101));
    });

  it('are none of another pull request, commit, title or repository', () => {
    for (const message of [
      `This reverts commit ${sha(2)}.`,
      'Reverts acme/other#12',
      'Reverts #120',
      'Revert "Mend the totals"',
      `Revert "Mend the total"\n\nThis reverts commit ${sha(2)}.`,
      'Mend the total',
      `Not a revert: ${sha(1)}`,
      'revert aaaaaa',
    ])
      expect([message, revertsOf(target, commits(message)).standing]).toEqual([message, null]);
  });

  it('adversary: a revert of a revert counts as none, and a third one counts again', () => {
    const first = `Revert "Mend the total"\n\nThis reverts commit ${sha(1)}.`;
    const second = `Reapply "Mend the total"\n\nThis reverts commit ${sha(100)}.`;
    const third = `Revert "Reapply"\n\nThis reverts commit ${sha(101)}.`;
    const { standing, chain } = revertsOf(target, commits(first, second));
    expect([standing, [...chain]]).toEqual([null, [sha(100), sha(101)]]);
    expect(revertsOf(target, commits(first, second, third)).standing?.sha).toBe(sha(102));
  });

  it('adversary: a revert that was merged as two commits is taken back by the revert of its merge', () => {
    const merge = (number: number, branch: string): string => `Merge pull request #${number} from acme/${branch}`;
    const both = [`Revert "Mend the total"\n\nThis reverts commit ${sha(1)}.`, merge(13, 'revert-12-mend')];
    expect(revertsOf(target, commits(...both)).standing?.sha).toBe(sha(100));
    expect(
      revertsOf(
        target,
        commits(...both, `Revert "Revert"\n\nThis reverts commit ${sha(101)}`, merge(14, 'revert-13-mend')),
      ).standing,
    ).toBeNull();
  });

  it('adversary: commits made to keep a reader busy are read in a moment, and say nothing', () => {
    const spaces = ' '.repeat(20_000);
    const hostile = [
      `Revert "${spaces}x"`,
      `Revert${spaces}`,
      `This${spaces}reverts`,
      `revert ${'a1b2c3d '.repeat(2_500)}`,
      `Reverts ${'a/'.repeat(9_000)}`,
      `"${spaces}(#1`,
    ];
    const all = Array.from({ length: 2_000 }, (_, index) => hostile[index % hostile.length] ?? '');
    // What backtracks takes minutes.
    expect(revertsOf(target, commits(...all)).standing).toBeNull();
    const reverts = Array.from({ length: 2_000 }, () =>
      Array.from({ length: 300 }, () => `This reverts commit ${sha(1)}`).join('\n'),
    );
    expect(revertsOf(target, commits(...reverts)).chain.size).toBe(200);
  });

  it('of any history: the last link of the chain decides', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(8), { maxLength: 12 }), (picks) => {
        const depth = [0];
        const messages = picks.map((pick) => {
          const of = pick % depth.length;
          depth.push((depth[of] ?? 0) + 1);
          return `This reverts commit ${of === 0 ? sha(1) : sha(99 + of)}.`;
        });
        expect(revertsOf(target, commits(...messages)).standing !== null).toBe((depth.at(-1) ?? 0) % 2 === 1);
      }),
    );
  });
});

describe('what people change after a push and after a merge', () => {
  const commit = (n: number, more: Partial<{ isMerge: boolean; byBot: boolean }> = {}) => ({
    sha: sha(n),
    isMerge: false,
    byBot: false,
    ...more,
  });

  it('are the commits above the last push, without merges and those of bots', () => {
    const all = [commit(1), commit(2), commit(3), commit(4, { isMerge: true }), commit(5, { byBot: true })];
    expect(humanCommits(all, true, [sha(2), sha(1), sha(77)])).toBe(1);
    expect(humanCommits(all, true, [sha(5)])).toBe(0);
  });

  it('are unknown where the branch was rewritten, or not all commits are there', () => {
    expect([
      humanCommits([commit(1)], true, [sha(2)]),
      humanCommits([commit(1)], false, [sha(1)]),
      humanCommits([commit(1)], true, []),
    ]).toEqual([null, null, null]);
  });

  it('an edit is the first other commit within 14 days, neither its own nor a part of its reverts', () => {
    const at = (n: number, days: number): ListedCommit => ({
      sha: sha(n),
      at: new Date(MERGED.getTime() + days * DAY_MS),
      message: '',
    });
    const of = { mergedAt: MERGED, own: new Set([sha(1)]), reverts: new Set([sha(2)]) };
    expect(firstEdit([at(5, 14.1), at(4, 13), at(3, 2), at(2, 1), at(1, 0.1), at(6, 0)], of)?.sha).toBe(sha(3));
    expect(firstEdit([at(5, 14.1), at(2, 1), at(1, 0.1), at(6, -1)], of)).toBeNull();
  });

  it('is read on day 1, 7 and 14, and never again', () => {
    const days = (watched: number): number | null => {
      const next = nextWatch(MERGED, watched);
      return next === null ? null : (next.getTime() - MERGED.getTime()) / DAY_MS;
    };
    expect([0, 1, 7, 14].map(days)).toEqual([1, 7, 14, null]);
    expect(
      [0.5, 1, 6.9, 13, 14, 400].map((day) => watchedDaysAt(MERGED, new Date(MERGED.getTime() + day * DAY_MS))),
    ).toEqual([0, 1, 1, 7, 14, 14]);
  });
});

describe('money of outcomes', () => {
  it('shares come to the whole, whatever is divided', () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 10n ** 20n), fc.integer({ min: 1, max: 50 }), (ticks, parts) => {
        const shares = Array.from({ length: parts }, (_, index) => shareOf(ticks, parts, index));
        expect(shares.reduce((sum, each) => sum + each, 0n)).toBe(ticks);
        expect(ticksOf(decimalOf(ticks))).toBe(ticks);
        expect(shares.every((each) => each >= 0n)).toBe(true);
      }),
    );
  });
  it('is a decimal for each piece, and none for no piece', () => {
    expect([perPiece('10', 3), perPiece('0.0000009', 1), perPiece('2', 2), perPiece('5', 0)]).toEqual([
      '3.333333',
      '0.000001',
      '1',
      null,
    ]);
  });
});

describe('work items', () => {
  const parts = fc.record({
    retries: fc.bigInt(0n, 10n ** 14n),
    failedTurns: fc.bigInt(0n, 10n ** 14n),
    agent: fc.bigInt(0n, 10n ** 14n),
  });
  const after = fc.constantFrom<After>('no', 'yes', 'pending', 'pending-yes', 'unknown');
  const world = fc.array(parts, { maxLength: 12 }).chain((costs) => {
    const ids = costs.map((_, index) => `c${index}`);
    return fc.record({
      conversations: fc.constant(costs.map((each, index) => ({ id: `c${index}`, parts: each }))),
      pullRequests: fc
        .array(
          fc.record({
            state: fc.constantFrom('open' as const, 'closed' as const, 'merged' as const),
            reverted: after,
            edited: after,
            conversations: fc.subarray(ids),
          }),
          {
            maxLength: 10,
          },
        )
        .map((all) =>
          all
            .filter(({ conversations }) => conversations.length > 0)
            .map((each, index) => ({ id: `p${index}`, ...each })),
        ),
    });
  });
  const total = (of: CostParts): bigint => of.retries + of.failedTurns + of.agent;

  it('cost what the conversations cost, and count each conversation once, however they share pull requests', () => {
    fc.assert(
      fc.property(world, ({ conversations, pullRequests }) => {
        const items = workItems(conversations, pullRequests);
        const spent = conversations.reduce((sum, each) => sum + total(each.parts), 0n);
        expect(items.reduce((sum, { cost }) => sum + total(cost) + cost.reverted, 0n)).toBe(spent);
        expect(items.flatMap((each) => each.conversations).sort()).toEqual(conversations.map(({ id }) => id).sort());
        expect(items.filter(({ pullRequest }) => pullRequest !== null).length).toBe(pullRequests.length);
        for (const { cost } of items) expect(Object.values(cost).every((each) => each >= 0n)).toBe(true);
      }),
    );
  });

  it('have shares between 0 and 1, in which nothing unknown or pending counts', () => {
    fc.assert(
      fc.property(fc.array(after), fc.nat(99), fc.nat(99), (all, merged, closed) => {
        const counts = afterCounts(all);
        expect(counts.settled + counts.unknown + counts.pending).toBe(all.length);
        for (const share of [afterShare(counts), mergedShare({ merged, closed })])
          if (share !== null) expect(share >= 0 && share <= 1).toBe(true);
        expect(afterShare(counts)).toBe(afterShare(afterCounts(all.filter((each) => each === 'yes' || each === 'no'))));
      }),
    );
  });
});

describe('turns of a trace', () => {
  const span = (
    id: string,
    parent: string | null,
    kind: TraceSpan['kind'],
    more: Partial<TraceSpan> = {},
  ): TraceSpan => ({
    ...{ id, parent, kind, name: kind, seq: 1, at: 0, ms: 10, status: 'ok' },
    ...more,
  });
  const spans = [
    span('t1', null, 'turn', { at: 100, status: 'error' }),
    span('s1', 't1', 'start', { at: 100 }),
    span('a1', 't1', 'agent', { at: 1_600, status: 'error' }),
    span('c1', 'a1', 'chat', { costUsd: '0.2' }),
    span('c2', 'a1', 'chat', { costUsd: '0.3', status: 'error' }),
    span('p1', 't1', 'approval', { ms: 5_000 }),
    span('t2', null, 'turn', { at: 9_000 }),
    span('a2', 't2', 'agent', { at: 9_001 }),
    span('c3', 'a2', 'chat', { costUsd: '1' }),
    span('p2', 't2', 'approval', { ms: null, status: 'running' }),
  ];
  it('count failures with what their answered calls cost, and waits that have ended', () => {
    expect(turnSums(spans, [{ span: 't1' }, { span: 't2' }])).toEqual({
      turns: 2,
      failedTurns: 1,
      failedTurnsCost: ticksOf('0.2'),
      approvalWaitsMs: [5_000],
    });
    expect(turnSums(spans, [{ span: 't2' }])).toEqual({
      turns: 1,
      failedTurns: 0,
      failedTurnsCost: 0n,
      approvalWaitsMs: [],
    });
  });
  it('begin with their message, and with the first event of their agent', () => {
    expect([
      startWait(spans, { span: 't1' }),
      startWait(spans, { span: 't2' }),
      startWait(spans, { span: 'x' }),
      startWait(spans.slice(0, 2), { span: 't1' }),
    ]).toEqual([1_500, 1, null, null]);
  });
});
