import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type ConversationView, isLoaded, openView, prependEvents, putApart } from './conversation-view.ts';
import { type Asked, pageFor } from './history-page.ts';
import { logOf, message, snapshotOf } from './sample-events.ts';

const LENGTH = 6_000;
const LOG = logOf(Array.from({ length: LENGTH }, (_, index) => message('user', String(index))));

/** What the page does with an answer. */
function read(view: ConversationView, asked: Asked): ConversationView {
  const page = pageFor(view, asked);
  if (page === null) return view;
  const events = LOG.slice(page.first - 1, page.last);
  expect(events.length).toBeLessThanOrEqual(1_000);
  return page.apart ? putApart(view, events) : prependEvents(view, events);
}

describe('pageFor', () => {
  it('asks for a page that holds the event, with what is above and below it', () => {
    const view = read(openView(snapshotOf(LENGTH)), 'above');
    expect(view.firstSeq).toBe(LENGTH - 199);
    expect(pageFor(view, 3_000)).toEqual({ first: 2_900, last: 3_200, apart: true });
    expect(pageFor(view, 5)).toEqual({ first: 1, last: 205, apart: true });
    expect(pageFor(view, LENGTH - 500)).toEqual({ first: LENGTH - 600, last: LENGTH - 200, apart: false });
  });

  it('asks for nothing when nothing is missing', () => {
    const whole = openView(snapshotOf(0));
    for (const asked of ['above', 'after-apart', 'before-rest'] as const) expect(pageFor(whole, asked)).toBeNull();
  });

  it('loads every event once, whatever is asked for and in which order', () => {
    const asked = fc.oneof(
      fc.constantFrom<Asked>('above', 'after-apart', 'before-rest'),
      fc.integer({ min: 1, max: LENGTH }),
    );
    fc.assert(
      fc.property(fc.array(asked, { maxLength: 12 }), (all) => {
        let view = read(openView(snapshotOf(LENGTH)), 'above');
        for (const each of all) {
          if (typeof each === 'number' && isLoaded(view, each)) continue;
          view = read(view, each);
          if (typeof each === 'number') expect(isLoaded(view, each)).toBe(true);
        }
        while (view.apart !== null) view = read(view, 'after-apart');
        while (view.firstSeq > 1) view = read(view, 'above');
        expect(view.timeline.rows.map(({ seq }) => seq)).toEqual(LOG.map(({ seq }) => seq));
      }),
      { numRuns: 60 },
    );
  });
});
