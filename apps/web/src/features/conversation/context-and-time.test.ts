import { describe, expect, it } from '@jest/globals';
import type { LoggedEvent } from '@slipway/contracts/events';
import { applyEvents, type ConversationView, openView, prependEvents } from './conversation-view.ts';
import { logOf, snapshotOf, startStep, terminal, update } from './sample-events.ts';

const applyAll = (from: ConversationView, events: readonly LoggedEvent[]): ConversationView =>
  applyEvents(from, events).view;

describe('a conversation at work', () => {
  it('says since when the agent works, and what its last call took, whether the log came live or in pages', () => {
    const usage = (used: number, window: number) =>
      update('stats', {
        accumulated_cost: 0,
        prompt_tokens: 1,
        completion_tokens: 1,
        model: 'm',
        usage_to_metrics: {
          agent: {
            model_name: 'm',
            accumulated_cost: 0,
            accumulated_token_usage: {
              model: 'm',
              prompt_tokens: 1,
              completion_tokens: 1,
              cache_read_tokens: 0,
              cache_write_tokens: 0,
              reasoning_tokens: 0,
              context_window: window,
              per_turn_token: used,
              response_id: 'r',
            },
          },
        },
      });
    const log = logOf([
      startStep('READY'),
      update('execution_status', 'running'),
      usage(50, 200),
      update('execution_status', 'waiting_for_confirmation'),
      update('execution_status', 'running'),
      usage(80, 200),
      usage(90, 0),
      terminal('c1', 'ls'),
      update('execution_status', 'finished'),
    ]);
    const at = (seq: number) => log[seq - 1]?.event.timestamp;
    const live = [2, 3, 4, 7, 9].map((count) => applyAll(openView(snapshotOf(0)), log.slice(0, count)));
    expect(live.map(({ workingSince, context }) => [workingSince, context])).toEqual([
      [at(2), null],
      [at(2), { used: 50, window: 200 }],
      [null, { used: 50, window: 200 }],
      [at(5), { used: 80, window: 200 }],
      [null, { used: 80, window: 200 }],
    ]);
    const opened = openView(
      snapshotOf(8, { status: 'working', executionStatus: 'running', start: { status: 'READY', steps: [] } }),
    );
    const paged = prependEvents(prependEvents(opened, log.slice(6, 8)), log.slice(0, 6));
    expect([paged.workingSince, paged.context]).toEqual([at(5), { used: 80, window: 200 }]);
    expect(applyAll(paged, log).workingSince).toBeNull();
  });
});
