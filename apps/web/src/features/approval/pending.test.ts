import { describe, expect, it } from '@jest/globals';
import { t } from '../../messages/testing.ts';
import { applyEvents, openView, prependEvents } from '../conversation/conversation-view.ts';
import { action, answer, idOf, logOf, snapshotOf, update } from '../conversation/sample-events.ts';
import type { Step } from '../conversation/timeline-row.ts';
import { alwaysChoices, pendingOf } from './pending.ts';

const analysis = (id: string) => ({
  kind: 'SecurityAnalysisEvent' as const,
  analyzer: 'EnsembleSecurityAnalyzer',
  policy: 'ConfirmRisky',
  risks: { [id]: 'HIGH' as const },
  details: { [id]: { reasons: ['It publishes a package.'], asks: true } },
});
const asked = [
  action('a', { kind: 'TerminalAction', command: 'npm publish' }, { tool_name: 'terminal', summary: 'publish it' }),
  analysis(idOf(1)),
  update('execution_status', 'waiting_for_confirmation'),
];
const command = (what: string, risk: 'UNKNOWN' | 'HIGH' = 'UNKNOWN') => ({
  id: 'x',
  tool: 'terminal',
  step: {} as Step,
  what,
  summary: null,
  risk,
  reasons: [],
  policy: null,
  directory: null,
});

describe('what waits for approval', () => {
  it('is the call without an answer, with what speaks against it, live and read back alike', () => {
    const live = applyEvents(openView(snapshotOf(0)), logOf(asked)).view;
    const read = prependEvents(openView(snapshotOf(3, { executionStatus: 'waiting_for_confirmation' })), logOf(asked));
    for (const view of [live, read])
      expect(pendingOf(view)).toMatchObject([
        {
          id: idOf(1),
          tool: 'terminal',
          what: 'npm publish',
          summary: 'publish it',
          risk: 'HIGH',
          reasons: ['It publishes a package.'],
          policy: 'approval.asksWhenRisky',
          directory: null,
        },
      ]);
  });

  it('names where its terminal stood last, and not where another one did', () => {
    const ran = (session: string | undefined, directory: string, at: number) => [
      action('b', { kind: 'TerminalAction', command: 'cd x', ...(session === undefined ? {} : { session }) }),
      answer(at, 'b', { kind: 'TerminalObservation', exit_code: 0, metadata: { working_dir: directory } }),
    ];
    const log = logOf([...ran(undefined, '/w/a', 1), ...ran('other', '/w/b', 3), ...asked]);
    expect(pendingOf(applyEvents(openView(snapshotOf(0)), log).view)).toMatchObject([{ directory: '/w/a' }]);
  });

  it('is nothing once it was rejected or carried out, and its row says so', () => {
    const rejected = {
      kind: 'UserRejectObservation' as const,
      action_id: idOf(1),
      tool_name: 'terminal',
      tool_call_id: 'a',
      rejection_reason: 'no',
      rejection_source: 'user' as const,
    };
    const view = applyEvents(
      openView(snapshotOf(0)),
      logOf([...asked, rejected, update('execution_status', 'idle')]),
    ).view;
    expect(pendingOf(view)).toMatchObject([]);
    expect(JSON.stringify(view.timeline.rows)).toContain('rejected: no');
  });

  it('can be allowed for the rest of the conversation: exactly this, or by its first words where a shell reads only words', () => {
    const values = (what: string, risk?: 'HIGH') =>
      alwaysChoices(t, [command(what, risk)]).map(({ match, value }) => [match, value]);
    expect(values('npm test -- sum')).toEqual([
      ['exact', 'npm test -- sum'],
      ['prefix', 'npm test'],
    ]);
    expect(values('ls -la src')).toEqual([
      ['exact', 'ls -la src'],
      ['prefix', 'ls'],
    ]);
    expect(values('npm test; rm -rf x')).toEqual([['exact', 'npm test; rm -rf x']]);
    expect(values('git push --force', 'HIGH')).toEqual([['exact', 'git push --force']]);
    expect(alwaysChoices(t, [command('a'), command('b')])).toEqual([]);
  });
});
