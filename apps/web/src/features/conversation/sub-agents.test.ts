import { describe, expect, it } from '@jest/globals';
import type { StreamingDelta } from '@slipway/contracts/events';
import fc from 'fast-check';
import { type LiveText, liveProgress } from './live-text.ts';
import { addPrinted, type PrintedOutputs } from './printed-outputs.ts';
import { action, idOf, logOf, update } from './sample-events.ts';
import { subAgentsOf } from './sub-agents.ts';
import { appendToTimeline, EMPTY_TIMELINE } from './timeline.ts';

const NAMES = ['ada', 'bob_2', 'cleo'];
const call = action('c1', {
  kind: 'DelegateAction',
  command: 'delegate',
  tasks: Object.fromEntries(NAMES.map((name) => [name, `the task of ${name}`])),
});
const done = (name: string, index: number) =>
  update('sub_agent', {
    task_id: `delegate_0123abcd_${name}`,
    action_id: idOf(1),
    subagent: 'general-purpose',
    event: {
      id: idOf(100 + index),
      timestamp: '2026-01-01T00:00:00.000Z',
      source: 'agent',
      kind: 'MessageEvent',
      llm_message: { role: 'assistant', content: [{ type: 'text', text: `${name} ${index}` }] },
    },
  });

describe('sub-agents that work beside each other', () => {
  it('are one row, each with its own steps in order under its name, however their events interleave', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...NAMES), { maxLength: 40 }), (turns) => {
        const { rows } = appendToTimeline(EMPTY_TIMELINE, logOf([call, ...turns.map(done)]));
        expect(rows).toHaveLength(1);
        const step = rows[0]?.kind === 'steps' ? rows[0].steps[0] : undefined;
        if (step === undefined) throw new Error('no step');
        const agents = subAgentsOf(step);
        expect(agents.map(({ name, prompt, state }) => [name, prompt, state])).toEqual(
          NAMES.map((name) => [name, `the task of ${name}`, 'running']),
        );
        for (const { name, inside } of agents)
          expect(
            appendToTimeline(EMPTY_TIMELINE, inside).rows.map((row) => (row.kind === 'message' ? row.text : row.kind)),
          ).toEqual(turns.flatMap((turn, index) => (turn === name ? [`${name} ${index}`] : [])));
      }),
    );
  });

  it('print below the timeline one at a time, and the next brings all that it has printed', () => {
    let printed: PrintedOutputs = new Map();
    let live: LiveText | null = null;
    const print = (responseId: string, offset: number, text: string): void => {
      const delta: StreamingDelta = { responseId, channel: 'progress', offset, text };
      printed = addPrinted(printed, delta);
      live = liveProgress(live, printed, responseId);
    };
    print('a', 0, 'a1\n');
    print('b', 0, 'b1\n');
    print('a', 3, 'a2\n');
    expect(live).toMatchObject({ responseId: 'a', progress: 'a1\na2\n' });
    live = null;
    print('b', 3, 'b2\n');
    expect(live).toMatchObject({ responseId: 'b', progress: 'b1\nb2\n' });
  });
});
