import { describe, expect, it } from '@jest/globals';
import { applyEvents, openView } from '../conversation-view.ts';
import { exit, logOf, message, snapshotOf, startStep, terminal, update } from '../sample-events.ts';
import { stillnessOf } from './stillness.ts';

const after = (parts: Parameters<typeof logOf>[0]) =>
  stillnessOf(applyEvents(openView(snapshotOf(0)), logOf(parts)).view);
const ready = [startStep('READY'), update('execution_status', 'running')];

describe('why nothing moves', () => {
  it('is the place in the queue, or the step of the start that runs', () => {
    const queue = { place: 3, length: 7, estimateSeconds: 40, cause: 'pool' };
    expect([
      after([startStep('WORKING', 'running')]),
      after([startStep('WORKING'), startStep('WAITING_FOR_SANDBOX', 'running', 1, { queue })]),
    ]).toMatchObject([
      { on: 'start', step: { status: 'WORKING' } },
      { on: 'queue', place: 3, length: 7, estimateSeconds: 40 },
    ]);
  });

  it('is the call that runs, the failing model, or the model that has not answered', () => {
    expect([
      after([...ready, terminal('a', 'npm test')]),
      after([...ready, terminal('a', 'npm test'), exit(3, 'a', 0)]),
      after([
        ...ready,
        message('user', 'Go.'),
        update('llm_retry', { code: 'model.unavailable', detail: '503.', attempt: 1, wait_ms: 5 }),
      ]),
    ]).toMatchObject([
      { on: 'tool', step: { action: { command: 'npm test' } } },
      { on: 'model' },
      { on: 'retry', failures: 1, detail: '503.' },
    ]);
  });

  it('is nothing to say while it waits for a user or has ended', () => {
    expect([
      after([...ready, update('execution_status', 'finished')]),
      after([...ready, terminal('a', 'x'), update('execution_status', 'waiting_for_confirmation')]),
      after([...ready, update('execution_status', 'paused'), { kind: 'PauseEvent' }]),
    ]).toEqual([null, null, null]);
  });
});
