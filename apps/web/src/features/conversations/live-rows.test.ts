import { describe, expect, it } from '@jest/globals';
import type { ConversationSummary, DeskConversation } from '@slipway/contracts/conversations';
import { withChanges } from './live-rows.ts';

const summary = (id: string, more: Partial<ConversationSummary> = {}): ConversationSummary =>
  ({
    id,
    title: id,
    status: 'working',
    archivedAt: null,
    deletedAt: null,
    pinned: true,
    readSeq: 7,
    ...more,
  }) as ConversationSummary;
const changed = (id: string, more: Partial<DeskConversation> = {}): DeskConversation => {
  const { pinned, readSeq, ...rest } = summary(id);
  return {
    ...rest,
    approval: null,
    doing: null,
    egress: null,
    lastWord: null,
    saidSeq: 1,
    since: '',
    people: 1,
    answered: null,
    ...more,
  };
};
const frame = (...of: DeskConversation[]) => ({ changed: of, gone: [], stale: false });
const open = { shown: 'open', sort: 'created' } as const;

describe('a list of conversations that the room changes', () => {
  const pages = [{ data: [summary('a'), summary('b')] }, { data: [summary('c')] }];

  it('has the new state at the same place, keeps what is the own user, and nothing that only the Desk shows', () => {
    const after = withChanges(pages, frame(changed('b', { status: 'finished', title: 'B', people: 3 })), open);
    expect(after.isStale).toBe(false);
    expect(after.pages[0]?.data).toEqual([summary('a'), summary('b', { status: 'finished', title: 'B' })]);
    expect(after.pages[1]).toBe(pages[1]);
  });

  it('loses what its filter does not have any more', () => {
    const working = { ...open, status: 'working' } as const;
    const after = withChanges(pages, frame(changed('c', { status: 'finished' })), working);
    expect(after).toEqual({ pages: [pages[0], { data: [] }], isStale: false });
    const archived = withChanges(pages, frame(changed('a', { archivedAt: '2026-11-29T00:00:00.000Z' })), open);
    expect(archived.pages[0]?.data.map(({ id }) => id)).toEqual(['b']);
  });

  it('is read again for what it does not have and could, for what is gone, and when something was missed', () => {
    expect(withChanges(pages, frame(changed('new')), open).isStale).toBe(true);
    expect(withChanges(pages, frame(changed('new')), { ...open, status: 'failed' }).isStale).toBe(false);
    expect(withChanges(pages, { changed: [], gone: ['a'], stale: false }, open)).toEqual({ pages, isStale: true });
    expect(withChanges(pages, { changed: [], gone: [], stale: true }, open)).toEqual({ pages, isStale: true });
  });
});
