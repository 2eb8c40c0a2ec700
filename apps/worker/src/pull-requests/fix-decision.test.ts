import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fixDecision } from './fix-decision.js';

type Row = Parameters<typeof fixDecision>[0];
const RED = { state: 'failure', pending: 0, failed: 1, passed: 2 } as const;
const by = { kind: 'user', id: 'u', label: 'U' };
const row = (change: Partial<Row> = {}): Row => ({
  state: 'open',
  checks: RED,
  headSha: 'a',
  pushedSha: 'a',
  publish: 'done',
  wanted: { draft: true, allowProtectedPaths: false, by, page: null, at: '' },
  fix: null,
  fixWanted: null,
  fixRounds: 0,
  fixStopped: null,
  ...change,
});
const automatic = { fixChecks: 'automatic', fixRounds: 2 } as const;
const fix = (sha: string, more: object = {}) => ({
  what: 'checks' as const,
  message: 'm1',
  automatic: true,
  by,
  at: '',
  sha,
  ...more,
});

describe('failed checks', () => {
  it('are fixed by itself only where the connection says so, once all have ended, on our own push, while the agent is idle', () => {
    expect(fixDecision(row(), automatic, 'finished')).toEqual({ kind: 'ask' });
    expect(fixDecision(row(), { ...automatic, fixChecks: 'offered' }, 'finished')).toEqual({ kind: 'none' });
    const not: Partial<Row>[] = [
      { state: 'merged' },
      { checks: { ...RED, pending: 1 } },
      { checks: { state: 'success', pending: 0, failed: 0, passed: 1 } },
      { headSha: 'of somebody else' },
      { headSha: null, pushedSha: null },
      { publish: 'queued' },
      { fix: fix('a') },
      { fixStopped: 'rounds' },
    ];
    for (const change of not)
      expect([change, fixDecision(row(change), automatic, 'finished')]).toEqual([change, { kind: 'none' }]);
    for (const status of ['working', 'waiting', 'failed', 'paused', 'stopped', 'starting'] as const)
      expect(fixDecision(row(), automatic, status).kind).toBe('none');
  });

  it('are left with a reason when the rounds are used up, or a round has changed or published nothing', () => {
    const published = { ...row().wanted, message: 'm1' };
    expect(fixDecision(row({ fixRounds: 2, fix: fix('before') }), automatic, 'finished')).toEqual({
      kind: 'stop',
      why: 'rounds',
    });
    expect(fixDecision(row({ fixRounds: 1, fix: fix('a'), wanted: published }), automatic, 'finished')).toEqual({
      kind: 'stop',
      why: 'unchanged',
    });
    expect(
      fixDecision(row({ fixRounds: 1, fix: fix('a'), wanted: published, publish: 'failed' }), automatic, 'finished'),
    ).toEqual({
      kind: 'stop',
      why: 'not-published',
    });
    expect(fixDecision(row({ fix: fix('a', { automatic: false }), wanted: published }), automatic, 'finished')).toEqual(
      { kind: 'none' },
    );
  });

  it('are never fixed by itself more often than allowed, whatever is read, pushed or requested by users', () => {
    const step = fc.constantFrom('look', 'look', 'pushed', 'green', 'red', 'asked', 'unchanged');
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), fc.integer({ min: 1, max: 4 }), (steps, fixRounds) => {
        let now = row();
        let rounds = 0;
        let heads = 0;
        for (const each of steps) {
          if (each === 'pushed') {
            heads += 1;
            const head = `head ${heads}`;
            now = {
              ...now,
              headSha: head,
              pushedSha: head,
              wanted: { ...now.wanted, ...(now.fix === null ? {} : { message: now.fix.message }) },
            };
          }
          if (each === 'green') now = { ...now, checks: { state: 'success', pending: 0, failed: 0, passed: 1 } };
          if (each === 'red') now = { ...now, checks: RED };
          if (each === 'asked')
            now = {
              ...now,
              fixStopped: null,
              fix: fix(now.headSha ?? '', { automatic: false, message: `by a person ${heads}` }),
            };
          if (each === 'unchanged' && now.fix !== null)
            now = { ...now, wanted: { ...now.wanted, message: now.fix.message } };
          const decision = fixDecision(now, { fixChecks: 'automatic', fixRounds }, 'finished');
          if (decision.kind === 'stop') now = { ...now, fixStopped: decision.why };
          if (decision.kind !== 'ask') continue;
          rounds += 1;
          now = { ...now, fixRounds: now.fixRounds + 1, fix: fix(now.headSha ?? '', { message: `round ${rounds}` }) };
        }
        expect(rounds).toBeLessThanOrEqual(fixRounds);
      }),
    );
  });
});
