import { describe, expect, it } from '@jest/globals';
import type { ConversationEvent } from '@slipway/contracts/events';
import fc from 'fast-check';
import { detectStuck, NUDGE } from './stuck.js';

interface Step {
  readonly command: string;
  readonly output: string;
  readonly failed?: boolean;
}

describe('what counts as stuck', () => {
  it('is never work that changes something at least every third step, however often a command is repeated, waited for or fails in the same way', () => {
    const repeated = fc.constantFrom<Step>(
      { command: 'make test', output: '1 failed', failed: true },
      { command: 'make test', output: 'ok' },
      { command: 'git status', output: 'clean' },
      { command: '', output: '' },
    );
    fc.assert(
      fc.property(fc.array(fc.array(repeated, { maxLength: 2 }), { maxLength: 15 }), (pauses) => {
        const steps = pauses.flatMap((between, index): Step[] => [
          ...between,
          { command: `sed -i s/${index}/x/ a`, output: '' },
        ]);
        const log: ConversationEvent[] = [];
        for (const step of steps) {
          log.push(...eventsOf(step));
          expect(detectStuck(log)).toEqual({ stuck: 'no' });
        }
      }),
    );
  });

  it('is never waiting for one command, as long as it takes', () => {
    const log = Array.from({ length: 30 }, () => eventsOf({ command: '', output: '' })).flat();
    expect(detectStuck(log)).toEqual({ stuck: 'no' });
  });

  it('is every loop of one or two steps: warned first, and stuck when it goes on', () => {
    const step = fc.record({
      command: fc.string({ minLength: 1, maxLength: 5 }),
      output: fc.string({ maxLength: 5 }),
      failed: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 2 }), fc.array(step, { maxLength: 5 }), (loop, before) => {
        const log = before.flatMap(eventsOf);
        const verdicts: string[] = [];
        for (let index = 0; verdicts.at(-1) !== 'yes' && index < 20; index += 1) {
          log.push(...eventsOf(loop[index % loop.length] as Step));
          const verdict = detectStuck(log);
          if (verdict.stuck === 'nudge') log.push(nudge());
          if (verdict.stuck !== 'no') verdicts.push(verdict.stuck);
        }
        expect(verdicts).toEqual(['nudge', 'yes']);
        // Heard before it is judged.
        const until = log.findIndex((event) => event.kind === 'MessageEvent');
        expect(detectStuck(log.slice(0, until + 1)).stuck).toBe('no');
        log.push(body({ kind: 'MessageEvent', source: 'user', llm_message: { role: 'user', content: [] } }));
        expect(detectStuck(log).stuck).toBe('no');
      }),
    );
  });

  it('is a monologue of three messages, and nothing any more once it was called so', () => {
    const say = () =>
      body({
        kind: 'MessageEvent',
        source: 'agent',
        llm_message: { role: 'assistant', content: [{ type: 'text', text: 'I will.' }] },
      });
    const log = [say(), say()];
    expect(detectStuck(log).stuck).toBe('no');
    log.push(say());
    expect(detectStuck(log)).toEqual({
      stuck: 'nudge',
      reason: 'The agent wrote 3 messages in a row without doing anything.',
    });
    log.push(nudge(), say());
    expect(detectStuck(log).stuck).toBe('yes');
    log.push(
      body({ kind: 'ConversationStateUpdateEvent', source: 'environment', key: 'execution_status', value: 'stuck' }),
    );
    expect(detectStuck(log).stuck).toBe('no');
  });
});

let number = 0;
function body(fields: object): ConversationEvent {
  number += 1;
  return {
    id: `event-${number}`,
    timestamp: '2026-01-01T00:00:00.000Z',
    source: 'agent',
    ...fields,
  } as unknown as ConversationEvent;
}

function nudge(): ConversationEvent {
  return body({
    kind: 'MessageEvent',
    source: 'environment',
    sender: NUDGE,
    llm_message: { role: 'user', content: [] },
  });
}

function eventsOf({ command, output, failed = false }: Step): ConversationEvent[] {
  const action = body({
    kind: 'ActionEvent',
    tool_name: 'terminal',
    tool_call_id: 'c',
    action: { kind: 'TerminalAction', command },
  });
  const observation = {
    kind: 'TerminalObservation',
    content: [{ type: 'text', text: output }],
    is_error: failed,
    exit_code: failed ? 2 : 0,
  };
  return [
    action,
    body({ kind: 'ObservationEvent', source: 'environment', action_id: action.id, tool_call_id: 'c', observation }),
  ];
}
