import { describe, expect, it } from '@jest/globals';
import type { LoggedEvent, StreamingDelta } from '@slipway/contracts/events';
import fc from 'fast-check';
import { applyDelta, endsLiveText, type LiveText, MISSING, progressLines } from './live-text.ts';

const delta = (offset: number, text: string, responseId = 'r'): StreamingDelta => ({
  responseId,
  channel: 'content',
  offset,
  text,
});

const idOf = (number: number): string => `00000000-0000-4000-8000-00000000000${number}`;

describe('applyDelta', () => {
  it('shows pieces of the text in their order and none twice, whatever is lost, joined, repeated or late', () => {
    const text = Array.from({ length: 60 }, (_, index) => String.fromCodePoint(0x4e00 + index)).join('');
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(60), fc.nat(20)), { maxLength: 40 }), (pieces) => {
        let live: LiveText | null = null;
        for (const [offset, length] of pieces)
          live = applyDelta(live, delta(offset, text.slice(offset, offset + length)));
        const letters = [...(live?.content ?? '')].filter((letter) => text.includes(letter));
        expect(letters).toEqual([...new Set(letters)].toSorted());
      }),
    );
  });

  it('has the whole text when every piece came', () => {
    const pieces = ['The ', 'whole ', 'text'];
    let live: LiveText | null = null;
    let offset = 0;
    for (const piece of pieces) {
      live = applyDelta(live, delta(offset, piece));
      offset += piece.length;
    }
    expect(live).toMatchObject({ content: 'The whole text' });
  });

  it('marks what is missing and goes on, and has the whole again when the whole comes', () => {
    const late = applyDelta(null, delta(5, 'late'));
    expect(late.content).toBe(`${MISSING} late`);
    expect(applyDelta(late, delta(9, 'r')).content).toBe(`${MISSING} later`);
    expect(applyDelta(applyDelta(null, delta(0, 'abc')), delta(10, 'xyz')).content).toBe(`abc\n\n${MISSING} xyz`);
    expect(applyDelta(late, delta(0, 'from the top')).content).toBe('from the top');
  });

  it('starts anew with the next response', () => {
    expect(applyDelta(applyDelta(null, delta(0, 'abc')), delta(0, 'new', 'r2'))).toMatchObject({
      responseId: 'r2',
      content: 'new',
    });
  });

  it('keeps reasoning apart from the answer', () => {
    const live = applyDelta(
      applyDelta(null, { responseId: 'r', channel: 'reasoning', offset: 0, text: 'hm' }),
      delta(0, 'Yes'),
    );
    expect(live).toMatchObject({ reasoning: 'hm', content: 'Yes' });
  });

  it('ends what a tool printed with the answer of its call, and with no other', () => {
    const live = applyDelta(null, { responseId: 'action', channel: 'progress', offset: 0, text: 'step 1\n' });
    expect(live.progress).toBe('step 1\n');
    const logged = (event: object) => ({ seq: 1, event }) as unknown as LoggedEvent;
    expect(endsLiveText(live, logged({ kind: 'ObservationEvent', action_id: 'another' }))).toBe(false);
    expect(endsLiveText(live, logged({ kind: 'ObservationEvent', action_id: 'action' }))).toBe(true);
    expect(endsLiveText(live, logged({ kind: 'AgentErrorEvent' }))).toBe(true);
    expect(endsLiveText(applyDelta(null, delta(0, 'abc')), logged({ kind: 'AgentErrorEvent' }))).toBe(false);
  });

  it('ends what a tool of a sub-agent printed with the answer in the log of the sub-agent', () => {
    const [call, another] = [idOf(1), idOf(2)];
    const live = applyDelta(null, { responseId: call, channel: 'progress', offset: 0, text: 'step 1\n' });
    const base = { id: idOf(3), timestamp: '2026-11-23T00:00:00Z', source: 'environment' } as const;
    const answerTo = (action_id: string) => {
      const observation = { kind: 'TerminalObservation', content: [], is_error: false };
      const event = { ...base, kind: 'ObservationEvent', action_id, tool_name: 't', tool_call_id: 'c', observation };
      const value = { task_id: 't', action_id: idOf(4), subagent: 'x', event };
      return { event: { ...base, kind: 'ConversationStateUpdateEvent', key: 'sub_agent', value } } as const;
    };
    expect([endsLiveText(live, answerTo(call)), endsLiveText(live, answerTo(another))]).toEqual([true, false]);
  });
});

describe('progressLines', () => {
  it('are the last three that say something else: one that only counts on takes the place of the one before', () => {
    expect(progressLines('a (1 of 9)\na (2 of 9)\nb\nc (0.5)\nc (1.5)\nd\n')).toEqual(['b', 'c (1.5)', 'd']);
    expect(progressLines('read (1 of 9)\nwrite (2 of 9)\nread (3 of 9)\n')).toEqual([
      'read (1 of 9)',
      'write (2 of 9)',
      'read (3 of 9)',
    ]);
    expect(progressLines('1 of 3\n2 of 3\n')).toEqual(['2 of 3']);
    expect(progressLines('f(1)\nf(2)\n')).toEqual(['f(1)', 'f(2)']);
  });
});
