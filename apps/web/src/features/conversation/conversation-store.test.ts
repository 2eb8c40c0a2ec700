import { describe, expect, it } from '@jest/globals';
import type { LoggedEvent } from '@slipway/contracts/events';
import { ConversationStore } from './conversation-store.ts';
import { CONVERSATION_ID, logOf, message, snapshotOf, update } from './sample-events.ts';

/** A store whose frames are painted by hand. */
function stage(head = 0) {
  let frame: (() => void) | null = null;
  let gaps = 0;
  const store = new ConversationStore(
    snapshotOf(head),
    (work) => (frame = work),
    () => (gaps += 1),
  );
  const count = { view: 0, live: 0 };
  store.view.subscribe(() => (count.view += 1));
  store.live.subscribe(() => (count.live += 1));
  return {
    store,
    count,
    gaps: () => gaps,
    paint: () => {
      const work = frame;
      frame = null;
      work?.();
      return work !== null;
    },
  };
}
const delta = (offset: number, text: string, responseId = 'r1') => ({
  responseId,
  channel: 'content' as const,
  offset,
  text,
});
const many = (count: number): LoggedEvent[] => logOf(Array.from({ length: count }, () => message('user', 'x')));

describe('ConversationStore', () => {
  it('applies all frames of one painted frame together, and nothing before it', () => {
    const { store, count, paint } = stage();
    const log = many(30);
    for (const logged of log) store.receive([logged]);
    expect(count.view).toBe(0);
    paint();
    expect(count.view).toBe(1);
    expect(store.view.get().lastSeq).toBe(30);
    expect(paint()).toBe(false);
  });

  it('takes a long replay in over several frames', () => {
    const { store, paint } = stage();
    store.receive(many(1_200));
    paint();
    expect(store.view.get().lastSeq).toBe(500);
    while (paint());
    expect(store.view.get().lastSeq).toBe(1_200);
  });

  it('wakes nobody but the listeners of live text while text streams', () => {
    const { store, count, paint } = stage();
    store.receiveDelta(delta(0, 'Hel'));
    store.receiveDelta(delta(3, 'lo'));
    paint();
    expect(store.live.get()?.content).toBe('Hello');
    expect(count).toEqual({ view: 0, live: 1 });
  });

  it('replaces live text by the durable message in one step', () => {
    const { store, paint } = stage();
    store.receiveDelta(delta(0, 'Hello'));
    paint();
    store.receive(logOf([message('assistant', 'Hello there', { llm_response_id: 'r1' })]));
    paint();
    expect(store.live.get()).toBeNull();
    expect(store.view.get().timeline.rows).toMatchObject([{ text: 'Hello there' }]);
  });

  it('drops live text that belongs to a run that ended', () => {
    const { store, paint } = stage();
    store.receiveDelta(delta(0, 'Hel'));
    paint();
    store.receive(logOf([update('execution_status', 'paused')]));
    paint();
    expect(store.live.get()).toBeNull();
  });

  it('keeps what a command printed after its answer, for its colours', () => {
    const { store, paint } = stage();
    store.receiveDelta({ responseId: 'call', channel: 'progress', offset: 0, text: '\u001b[31mred\u001b[0m\n' });
    paint();
    store.receive(logOf([update('execution_status', 'finished')]));
    paint();
    expect([store.live.get(), store.printed.get().get('call')?.progress]).toEqual([null, '\u001b[31mred\u001b[0m\n']);
  });

  it('asks for a new subscription at a gap and keeps what it has', () => {
    const { store, gaps, paint } = stage();
    const log = many(5);
    store.receive(log.slice(0, 2));
    store.receive(log.slice(3));
    paint();
    expect(gaps()).toBe(1);
    expect(store.view.get().lastSeq).toBe(2);
    store.receive(log.slice(2));
    paint();
    expect(store.view.get().lastSeq).toBe(5);
    expect(store.view.get().timeline.rows).toHaveLength(5);
  });

  it('keeps history and live events in order, whichever comes first', () => {
    const { store, paint } = stage(4);
    const log = many(6);
    store.receive(log.slice(4));
    paint();
    store.prepend(log.slice(0, 4));
    expect(store.view.get().timeline.rows.map((row) => row.seq)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(store.view.get()).toMatchObject({ firstSeq: 1, lastSeq: 6 });
    expect(CONVERSATION_ID).toBe(log[0]?.conversationId);
  });
});
