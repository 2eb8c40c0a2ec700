import { describe, expect, it } from '@jest/globals';
import type { RuntimeState } from '@slipway/contracts/conversations';
import { t } from '../../messages/testing.ts';
import type { Row } from '../conversation/timeline-row.ts';
import { reasonOf, unexplainedEnd } from './runtime-words.ts';

const GO_ON = 'Send a message, or resume it, to go on.';
const stopped: RuntimeState = { status: 'STOPPED', cause: 'A user stopped it.', nextStep: GO_ON };
const lost: RuntimeState = {
  status: 'ERROR_RUNTIME_DISCONNECTED',
  code: 'sandbox.unreachable',
  cause: 'The sandbox is gone.',
  nextStep: 'Try again.',
};
const error = (code: string): Row => ({ kind: 'error', key: code, seq: 1, code, detail: '' });
const said: Row = { kind: 'thought', key: 't', seq: 2, text: '' };
const note: Row = { kind: 'note', key: 'n', seq: 3, note: 'stopped' };
const start: Row = { kind: 'start', key: 's', seq: 4, attempt: 1, steps: [] };

describe('why a conversation does not go on', () => {
  it('is said with what to do once, also where the cause ends with it', () => {
    expect(reasonOf(t, { status: 'ERROR', cause: `It broke. ${GO_ON}`, nextStep: GO_ON }, 'failed')).toEqual({
      cause: 'It broke.',
      nextStep: GO_ON,
    });
    expect(reasonOf(t, { status: 'READY' }, 'finished')).toEqual({ cause: '', nextStep: '' });
  });

  it('asks to resume only what the page offers to resume', () => {
    const idle: RuntimeState = { status: 'STOPPED', cause: 'The sandbox is paused.', nextStep: GO_ON };
    expect(reasonOf(t, idle, 'paused').nextStep).toBe(GO_ON);
    expect(reasonOf(t, idle, 'finished').nextStep).toBe('Send a message to continue.');
    expect(reasonOf(t, lost, 'finished').nextStep).toBe('Try again.');
  });

  it('is said at the end of the timeline where nothing above says it', () => {
    expect(unexplainedEnd(t, lost, 'finished', [said])).toEqual({
      cause: 'The sandbox is gone.',
      nextStep: 'Try again.',
    });
    expect(unexplainedEnd(t, lost, 'finished', [error('model.auth'), said])).toEqual({
      cause: 'The sandbox is gone.',
      nextStep: 'Try again.',
    });
    expect(unexplainedEnd(t, stopped, 'stopped', [said])).toEqual({ cause: 'A user stopped it.', nextStep: GO_ON });
  });

  it('is not said again below a row or a card that says it', () => {
    expect(unexplainedEnd(t, lost, 'failed', [error('sandbox.unreachable'), said])).toBeNull();
    expect(unexplainedEnd(t, lost, 'failed', [start])).toBeNull();
    expect(
      unexplainedEnd(
        t,
        { status: 'STOPPED', code: 'agent.iteration-limit', cause: 'So many steps.', nextStep: GO_ON },
        'paused',
        [said],
      ),
    ).toBeNull();
    expect(unexplainedEnd(t, stopped, 'stopped', [said, note])).toEqual({ cause: '', nextStep: GO_ON });
  });

  it('is not said while it goes on, and not of one that wants nothing', () => {
    expect(unexplainedEnd(t, lost, 'working', [said])).toBeNull();
    expect(unexplainedEnd(t, stopped, 'starting', [said])).toBeNull();
    expect(unexplainedEnd(t, { status: 'READY' }, 'finished', [said])).toBeNull();
  });
});
