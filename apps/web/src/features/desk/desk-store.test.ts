import { describe, expect, it } from '@jest/globals';
import type { Desk, DeskConversation } from '@slipway/contracts/conversations';
import { NO_MARKS } from '@slipway/domain/desk';
import { DeskStore } from './desk-store.ts';

const NOW = Date.parse('2026-11-28T12:00:00.000Z');
const APPROVAL = {
  actionId: '00000000-0000-4000-8000-0000000000aa',
  tool: 'terminal',
  text: 'npm publish',
  risk: 'HIGH',
  actions: 1,
} as const;

/** What the Desk reads of a conversation; the rest of its summary plays no part. */
function conversation(id: string, more: Partial<DeskConversation> = {}): DeskConversation {
  return {
    id,
    title: `Title of ${id}`,
    status: 'working',
    executionStatus: 'running',
    sandboxStatus: 'RUNNING',
    stopReason: null,
    pullRequest: null,
    approval: null,
    egress: null,
    doing: null,
    lastWord: null,
    saidSeq: 5,
    head: 5,
    since: '2026-11-28T11:00:00.000Z',
    people: 1,
    answered: null,
    ...more,
  } as DeskConversation;
}
const asking = (id: string, more: Partial<DeskConversation> = {}) =>
  conversation(id, { status: 'waiting', executionStatus: 'waiting_for_confirmation', approval: APPROVAL, ...more });
const finished = (id: string, more: Partial<DeskConversation> = {}) =>
  conversation(id, { status: 'finished', executionStatus: 'finished', ...more });
const desk = (...conversations: DeskConversation[]): Desk => ({
  rows: conversations.map((each) => ({
    conversation: each,
    mark: NO_MARKS,
    group: 'working',
    decisions: [],
    mayDecide: 'yes',
  })),
  more: false,
  at: '2026-11-28T12:00:00.000Z',
});
const frame = (...changed: DeskConversation[]) => ({ changed, gone: [], stale: false });

function opened(...conversations: DeskConversation[]): DeskStore {
  const store = new DeskStore('Ada');
  store.beginReading();
  store.read(desk(...conversations), NOW);
  return store;
}
const groups = (store: DeskStore) =>
  Object.fromEntries((store.get().lines ?? []).map(({ facts, group }) => [facts.id, group]));

describe('the Desk of a page', () => {
  it('puts what a frame says into its group, and takes off what is gone', () => {
    const store = opened(conversation('a'), asking('b'));
    expect(groups(store)).toEqual({ a: 'working', b: 'needs-you' });
    expect(store.apply(frame(finished('a'), conversation('b')), NOW)).toBe(false);
    expect(groups(store)).toEqual({ a: 'ready', b: 'working' });
    store.apply({ changed: [], gone: ['a'], stale: false }, NOW);
    expect(groups(store)).toEqual({ b: 'working' });
  });

  it('says who answered what stood here, and nothing of the user’s own answers', () => {
    const store = opened(asking('a'), asking('b'));
    const at = '2026-11-28T12:00:01.000Z';
    store.apply(frame(conversation('a', { answered: { by: 'Ada', accepted: true, at } })), NOW);
    expect(store.get().answered).toBeNull();
    store.apply(frame(conversation('b', { answered: { by: 'Ben', accepted: false, at } })), NOW);
    expect(store.get().answered).toEqual({ by: 'Ben', accepted: false, title: 'Title of b' });
    store.tick(NOW + 60_001);
    expect(store.get().answered).toBeNull();
  });

  it('asks for the marks of what it does not know before it shows it, once', () => {
    const store = opened();
    expect(store.apply(frame(conversation('new')), NOW)).toBe(false);
    expect(groups(store)).toEqual({ new: 'working' });
    expect(store.apply(frame(finished('old')), NOW)).toBe(true);
    expect(groups(store)).toEqual({ new: 'working' });
    store.beginReading();
    store.apply(frame(finished('old')), NOW);
    store.read(desk(conversation('new')), NOW);
    expect(store.apply(frame(finished('old')), NOW)).toBe(false);
    expect(store.apply(frame(finished('old', { saidSeq: 7 })), NOW)).toBe(true);
  });

  it('keeps what came while it was read, unless the answer is newer', () => {
    const store = opened(conversation('a'), conversation('b'));
    store.beginReading();
    store.apply(frame(asking('a', { head: 8 }), conversation('b', { head: 6 })), NOW);
    store.read(desk(conversation('a', { head: 7 }), asking('b', { head: 9 })), NOW);
    expect(groups(store)).toEqual({ a: 'needs-you', b: 'needs-you' });
  });

  it('takes what is looked at or snoozed off, and brings a snoozed row back in its time', () => {
    const store = opened(finished('a'), asking('b'));
    expect(store.mark({ conversationId: 'a', mark: { ...NO_MARKS, seq: 5 } }, NOW)).toBe(false);
    store.mark({ conversationId: 'b', mark: { ...NO_MARKS, snoozedUntil: new Date(NOW + 1_000).toISOString() } }, NOW);
    expect(groups(store)).toEqual({});
    store.tick(NOW + 1_001);
    expect(groups(store)).toEqual({ b: 'needs-you' });
  });

  it('keeps its rows and their time when reading them again fails', () => {
    const store = opened(asking('a'));
    const error = new Error('away');
    store.beginReading();
    store.failed(error, NOW);
    expect(store.get()).toMatchObject({ error, at: '2026-11-28T12:00:00.000Z' });
    expect(groups(store)).toEqual({ a: 'needs-you' });
  });
});
