import { describe, expect, it } from '@jest/globals';
import { shortReason } from '@slipway/domain';
import { applyEvents, openView } from '../conversation/conversation-view.ts';
import { exit, logOf, message, snapshotOf, startStep, terminal, update } from '../conversation/sample-events.ts';
import { causeOf, extendedBudget, extension, limitOf, runSettingsOfForm } from './limit.ts';

const halted = (code: string) => [
  startStep('READY'),
  message('user', 'count', { source: 'user' }),
  update('execution_status', 'running'),
  terminal('a', 'echo 1'),
  exit(4, 'a', 0),
  { kind: 'ConversationErrorEvent' as const, code, detail: 'It is over.' },
  { kind: 'PauseEvent' as const },
  update('execution_status', 'paused'),
];
const viewOf = (events: Parameters<typeof logOf>[0]) => applyEvents(openView(snapshotOf(0)), logOf(events)).view;

describe('the limit at which a conversation stands', () => {
  it('is why it paused, until it goes on or is ended', () => {
    const events = halted('agent.iteration-limit');
    expect(limitOf(viewOf(events))).toEqual({ code: 'agent.iteration-limit', detail: 'It is over.' });
    expect(limitOf(viewOf([...events, update('execution_status', 'running')]))).toBeNull();
    expect(limitOf(viewOf([...events, { kind: 'InterruptEvent' }]))).toBeNull();
    expect(
      limitOf(
        viewOf([
          ...events,
          update('execution_status', 'running'),
          terminal('b', 'ls'),
          { kind: 'PauseEvent' },
          update('execution_status', 'paused'),
        ]),
      ),
    ).toBeNull();
  });

  it('is none for a pause that somebody asked for, and for other failures', () => {
    expect(
      limitOf(viewOf([startStep('READY'), { kind: 'PauseEvent' }, update('execution_status', 'paused')])),
    ).toBeNull();
    expect(limitOf(viewOf(halted('model.unavailable')))).toBeNull();
  });

  it('is recognized by what happened alone', () => {
    const detail =
      'The agent used its 20 steps. Resume the conversation or send a message to continue for the same number of steps.';
    expect(causeOf({ code: 'agent.iteration-limit', detail })).toBe('The agent used its 20 steps.');
  });

  it('is extended by as much again, to whole cents, beyond what is spent already', () => {
    expect(extendedBudget('2.5', 2.51)).toBe('5.01');
    expect(extendedBudget('0.1', 0.1000001)).toBe('0.21');
    expect(extendedBudget('5', 1)).toBe('10');
  });

  it('is extended by no less than the next call needs', () => {
    const reason = shortReason({ of: 'the limit of this conversation', limitUsd: 0.1, spentUsd: 0.04, callUsd: 0.32 });
    expect([extendedBudget('0.1', 0.04, reason), extension('0.1', 0.04, reason)]).toEqual([
      '0.36',
      expect.closeTo(0.26, 9),
    ]);
    expect([extendedBudget('5', 1, reason), extension('5', 1, reason)]).toEqual(['10', 5]);
  });

  it('is read from a form, where an empty field is none', () => {
    expect(runSettingsOfForm({ maxIterations: ' ', maxBudgetUsd: '' })).toEqual({
      maxIterations: null,
      maxBudgetUsd: null,
    });
    expect(runSettingsOfForm({ maxIterations: '20', maxBudgetUsd: '$ 3.50' })).toEqual({
      maxIterations: 20,
      maxBudgetUsd: '3.50',
    });
  });
});
