import { describe, expect, it } from '@jest/globals';
import {
  CONVERSATION_STATUSES,
  type ConversationPullRequest,
  DESK_GROUPS,
  SECURITY_RISKS,
} from '@slipway/contracts/conversations';
import { EXECUTION_STATUSES } from '@slipway/contracts/events';
import fc from 'fast-check';
import {
  type DeskFacts,
  type DeskMarks,
  decide,
  decisionsOf,
  deskOf,
  keyOf,
  NO_MARKS,
  scoreOf,
  secondsOf,
} from './index.js';

const NOW = Date.parse('2026-11-28T12:00:00.000Z');
const RESTING: DeskFacts = {
  id: '00000000-0000-4000-8000-000000000001',
  status: 'finished',
  executionStatus: 'finished',
  sandboxStatus: 'PAUSED',
  stopReason: null,
  pullRequest: null,
  approval: null,
  egress: null,
  lastWord: null,
  saidSeq: 10,
  since: '2026-11-28T11:00:00.000Z',
  people: 1,
};
const PULL: ConversationPullRequest = {
  number: 88,
  url: null,
  state: 'open',
  draft: false,
  checks: 'success',
  review: 'none',
  conflicts: false,
};
const APPROVAL = {
  actionId: '00000000-0000-4000-8000-0000000000aa',
  tool: 'terminal',
  text: 'npm publish',
  risk: 'HIGH',
  actions: 1,
} as const;
const kinds = (facts: Partial<DeskFacts>): string[] =>
  decisionsOf({ ...RESTING, ...facts }, NOW).map(({ kind }) => kind);

describe('decisionsOf', () => {
  it('asks for a host that the sandbox waits for whatever the agent does, also beside another decision', () => {
    const egress = {
      requestId: '00000000-0000-4000-8000-0000000000bb',
      host: 'api.example.com',
      port: 443,
      firstTime: true,
      at: '2026-11-28T11:59:00.000Z',
      requests: 1,
    };
    for (const status of CONVERSATION_STATUSES) expect(kinds({ status, egress })).toContain('allow');
    const [decision] = decisionsOf({ ...RESTING, status: 'working', egress }, NOW);
    expect(decision).toMatchObject({ kind: 'allow', key: `allow:${egress.requestId}`, seconds: 20 });
    expect(decide({ ...RESTING, status: 'working', egress }, NO_MARKS, NOW).group).toBe('needs-you');
    const both = {
      status: 'waiting',
      executionStatus: 'waiting_for_confirmation',
      approval: APPROVAL,
      egress,
    } as const;
    expect(kinds(both).sort()).toEqual(['allow', 'approve']);
  });

  it('names what each state waits for, and nothing where the agent goes on or is done', () => {
    const waiting = { status: 'waiting', executionStatus: 'waiting_for_confirmation', approval: APPROVAL } as const;
    expect(kinds(waiting)).toEqual(['approve']);
    expect(kinds({ ...waiting, approval: null })).toEqual(['approve']);
    const word = { seq: 10, kind: 'message', text: 'Which of the two APIs?' } as const;
    expect(kinds({ status: 'waiting', executionStatus: 'idle', lastWord: word })).toEqual(['answer']);
    expect(kinds({ status: 'waiting', executionStatus: 'idle' })).toEqual([]);
    expect(kinds({ lastWord: word })).toEqual(['answer']);
    expect(kinds({ lastWord: { ...word, text: 'Done. **Shall I publish it?**' } })).toEqual(['answer']);
    expect(kinds({ lastWord: { ...word, text: 'Is it done? It is.' } })).toEqual([]);
    expect(kinds({ lastWord: { ...word, seq: 5 } })).toEqual([]);
    expect(kinds({ status: 'failed', executionStatus: 'error' })).toEqual(['unblock']);
    expect(kinds({ status: 'paused', stopReason: { code: 'budget.exhausted', by: null } })).toEqual(['unblock']);
    expect(kinds({ status: 'paused', stopReason: { code: null, by: 'Ada' } })).toEqual([]);
    expect(kinds({ pullRequest: PULL })).toEqual(['review']);
    expect(kinds({ pullRequest: { ...PULL, review: 'approved' } })).toEqual(['merge']);
    expect(kinds({ pullRequest: { ...PULL, review: 'approved', draft: true } })).toEqual(['review']);
    expect(kinds({ pullRequest: { ...PULL, checks: 'pending', review: 'approved' } })).toEqual([]);
    expect(kinds({ pullRequest: { ...PULL, checks: 'failure', review: 'approved' } })).toEqual(['unblock']);
    expect(kinds({ pullRequest: { ...PULL, conflicts: true } })).toEqual(['unblock']);
    expect(kinds({ pullRequest: { ...PULL, state: 'merged' } })).toEqual([]);
    expect(kinds({ status: 'working', executionStatus: 'running', pullRequest: PULL })).toEqual([]);
    expect(kinds({ ...waiting, pullRequest: PULL })).toEqual(['approve', 'review']);
  });

  it('a row that is done, snoozed or muted is off the Desk, and comes back with another decision or in its time', () => {
    const failed = { ...RESTING, status: 'failed', executionStatus: 'error' } as const;
    const doneKey = keyOf(decisionsOf(failed, NOW));
    const group = (facts: DeskFacts, marks: Partial<DeskMarks>, at = NOW) =>
      decide(facts, { ...NO_MARKS, ...marks }, at).group;
    expect(group(failed, {})).toBe('needs-you');
    expect(group(failed, { doneKey })).toBe('resting');
    expect(group({ ...failed, saidSeq: 12 }, { doneKey })).toBe('needs-you');
    expect(group(failed, { snoozedUntil: new Date(NOW + 1000).toISOString() })).toBe('resting');
    expect(group(failed, { snoozedUntil: new Date(NOW + 1000).toISOString() }, NOW + 1001)).toBe('needs-you');
    expect(group({ ...failed, saidSeq: 12 }, { muted: true })).toBe('resting');
  });

  it('what is finished is ready until it was looked at; lines of the platform do not make it new again', () => {
    expect(decide(RESTING, NO_MARKS, NOW).group).toBe('ready');
    expect(decide(RESTING, { ...NO_MARKS, seq: 9 }, NOW).group).toBe('ready');
    expect(decide(RESTING, { ...NO_MARKS, seq: 10 }, NOW).group).toBe('resting');
  });
});

const time = fc.integer({ min: NOW - 30 * 86_400_000, max: NOW + 60_000 }).map((at) => new Date(at).toISOString());
const facts: fc.Arbitrary<DeskFacts> = fc.record({
  id: fc.uuid(),
  status: fc.constantFrom(...CONVERSATION_STATUSES),
  executionStatus: fc.constantFrom(...EXECUTION_STATUSES),
  sandboxStatus: fc.constantFrom('STARTING', 'RUNNING', 'PAUSED', 'ERROR', 'MISSING'),
  stopReason: fc.option(
    fc.record({
      code: fc.constantFrom(null, 'budget.exhausted', 'agent.stuck'),
      by: fc.constantFrom(null, 'Ada'),
    }),
  ),
  pullRequest: fc.option(
    fc.record({
      number: fc.option(fc.nat()),
      url: fc.constant(null),
      state: fc.constantFrom('none', 'open', 'closed', 'merged'),
      draft: fc.boolean(),
      checks: fc.constantFrom('pending', 'success', 'failure', 'neutral', 'none'),
      review: fc.constantFrom('none', 'commented', 'approved', 'changes-requested'),
      conflicts: fc.option(fc.boolean()),
    }),
  ),
  approval: fc.option(
    fc.record({
      actionId: fc.uuid(),
      tool: fc.string(),
      text: fc.string(),
      risk: fc.constantFrom(...SECURITY_RISKS),
      actions: fc.integer({ min: 1, max: 100 }),
    }),
  ),
  egress: fc.option(
    fc.record({
      requestId: fc.uuid(),
      host: fc.domain(),
      port: fc.integer({ min: 1, max: 65_535 }),
      firstTime: fc.boolean(),
      at: time,
      requests: fc.integer({ min: 1, max: 100 }),
    }),
  ),
  lastWord: fc.option(
    fc.record({
      seq: fc.integer({ min: 1, max: 20 }),
      kind: fc.constantFrom('message', 'finish'),
      text: fc.string({ maxLength: 500 }),
    }),
  ),
  saidSeq: fc.nat({ max: 20 }),
  since: time,
  people: fc.integer({ min: 1, max: 50 }),
});
const marks: fc.Arbitrary<DeskMarks> = fc.record({
  seq: fc.nat({ max: 20 }),
  treeHash: fc.constant(null),
  doneKey: fc.option(fc.string()),
  snoozedUntil: fc.option(time),
  muted: fc.boolean(),
});
const decided = fc.tuple(facts, marks).map(([each, mark]) => decide(each, mark, NOW));
const desks = fc.uniqueArray(decided, { maxLength: 40, selector: (row) => row.facts.id });

describe('the Desk, over made-up organizations', () => {
  it('puts every conversation into exactly one of the groups, and everything that is not resting on the Desk once', () => {
    fc.assert(
      fc.property(desks, (rows) => {
        for (const { group } of rows) expect(DESK_GROUPS).toContain(group);
        const shown = deskOf(rows);
        expect(new Set(shown.map((row) => row.facts.id)).size).toBe(shown.length);
        expect(shown.length).toBe(rows.filter(({ group }) => group !== 'resting').length);
        for (const { group, decisions } of rows) if (group === 'needs-you') expect(decisions.length).toBeGreaterThan(0);
      }),
    );
  });

  it('orders decisions as the formula says, whatever order they come in', () => {
    fc.assert(
      fc.property(
        desks.chain((rows) => fc.tuple(fc.constant(rows), fc.shuffledSubarray(rows, { minLength: rows.length }))),
        ([rows, shuffled]) => {
          const desk = deskOf(rows);
          expect(deskOf(shuffled)).toEqual(desk);
          const scores = desk
            .filter(({ group }) => group === 'needs-you')
            .map(({ facts: each, decisions }) => {
              const [dearest] = decisions;
              if (dearest === undefined) throw new Error('needs somebody for nothing');
              expect(dearest.score).toBe(scoreOf(each, dearest.seconds, NOW));
              return dearest.score;
            });
          expect(scores).toEqual([...scores].sort((a, b) => b - a));
        },
      ),
      { numRuns: 1_000 },
    );
  });

  it('is the Desk of the last facts of each conversation after any order of changes', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat({ max: 8 }), facts), { maxLength: 60 }), (changes) => {
        const known = new Map<number, DeskFacts>();
        const live = new Map<number, ReturnType<typeof decide>>();
        for (const [at, each] of changes) {
          const now = { ...each, id: `conversation-${at}` };
          known.set(at, now);
          live.set(at, decide(now, NO_MARKS, NOW));
        }
        const again = [...known.values()].map((each) => decide(each, NO_MARKS, NOW));
        expect(deskOf([...live.values()])).toEqual(deskOf(again.reverse()));
      }),
    );
  });

  it('estimates a positive time for each decision, at most five minutes, and their sum for all', () => {
    fc.assert(
      fc.property(desks, (rows) => {
        const all = rows.filter(({ group }) => group === 'needs-you').flatMap(({ decisions }) => decisions);
        for (const { seconds } of all) {
          expect(seconds).toBeGreaterThan(0);
          expect(seconds).toBeLessThanOrEqual(300);
        }
        expect(secondsOf(rows)).toBe(all.reduce((sum, { seconds }) => sum + seconds, 0));
      }),
    );
  });

  it('in this order less is waited for than by age', () => {
    const cost = (rows: ReadonlyArray<ReturnType<typeof decide>>): number => {
      let waited = 0;
      let sum = 0;
      for (const { decisions } of rows) {
        const { seconds = 0, score = 0 } = decisions[0] ?? {};
        waited += seconds;
        sum += waited * score * seconds;
      }
      return sum;
    };
    const sample = fc.sample(desks, { numRuns: 1_000, seed: 18 });
    let [ordered, byAge] = [0, 0];
    for (const rows of sample) {
      const waiting = deskOf(rows).filter(({ group }) => group === 'needs-you');
      ordered += cost(waiting);
      byAge += cost([...waiting].sort((a, b) => Date.parse(a.facts.since) - Date.parse(b.facts.since)));
    }
    expect(ordered).toBeLessThan(byAge);
  });
});
