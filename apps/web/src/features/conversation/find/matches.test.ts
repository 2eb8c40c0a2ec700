import { describe, expect, it } from '@jest/globals';
import type { EventHit } from '@slipway/contracts/conversations';
import { answer, edit, idOf, logOf, message, terminal } from '../sample-events.ts';
import { appendToTimeline, EMPTY_TIMELINE } from '../timeline.ts';
import { joinMatches, matchesIn, placeOf } from './matches.ts';

const { rows } = appendToTimeline(
  EMPTY_TIMELINE,
  logOf(
    [
      message('user', 'Where is the Needle?'),
      terminal('a', 'grep needle .'),
      answer(12, 'a', { kind: 'TerminalObservation', content: [{ type: 'text', text: 'a needle' }], is_error: false }),
      edit('b', '/workspace/project/hay.ts'),
      edit('c', '/workspace/project/needle.ts'),
    ],
    11,
  ),
);
const hit = (seq: number, actionId: string | null): EventHit => ({
  seq,
  kind: 'ActionEvent',
  at: '2026-01-01T00:00:00.000Z',
  actionId,
  excerpt: 'needle',
});

describe('find in a conversation', () => {
  it('finds text in whichever case in what is loaded, in calls that are folded away too', () => {
    expect(matchesIn(rows, ' NEEDLE ')).toEqual([
      { seq: 11, stepId: null },
      { seq: 12, stepId: idOf(12) },
      { seq: 14, stepId: idOf(15) },
    ]);
    expect([matchesIn(rows, ''), matchesIn(rows, '  '), matchesIn(rows, 'TerminalAction')]).toEqual([[], [], []]);
  });

  it('puts what the server found above it, a call and its answer once', () => {
    const loaded = matchesIn(rows, 'needle');
    const found = [hit(12, null), hit(10, idOf(12)), hit(5, 'z'), hit(4, 'z'), hit(2, null)];
    const joined = joinMatches(found, loaded, 11);
    expect(joined).toEqual([{ seq: 2, stepId: null }, { seq: 4, stepId: 'z' }, ...loaded]);
    expect([
      placeOf(joined, { seq: 4, stepId: 'z' }),
      placeOf(joined, { seq: 3, stepId: 'gone' }),
      placeOf(joined, { seq: 1, stepId: null }),
      placeOf([], { seq: 1, stepId: null }),
    ]).toEqual([1, 0, 0, -1]);
  });
});
