import type { ConversationView } from './conversation-view.ts';

/** Enough for the first screen of any window; small, so that it is there at once. Events. */
const FIRST_PAGE = 200;
const PAGE = 1_000;
/** Around an event that is gone to: enough above and below it for any window. Events. */
const ABOVE = 100;
const BELOW = 200;

/**
 * What is to be loaded: above all that is loaded; of what is missing between a stretch that stands apart and the rest,
 * what comes after the stretch or before the rest; or around an event.
 */
export type Asked = 'above' | 'after-apart' | 'before-rest' | number;

export interface HistoryPage {
  readonly first: number;
  readonly last: number;
  /** It is no neighbour of what is loaded. */
  readonly apart: boolean;
}

/** The page to read; `null`: there is none. */
export function pageFor(
  { firstSeq, apart, timeline }: Pick<ConversationView, 'firstSeq' | 'apart' | 'timeline'>,
  asked: Asked,
): HistoryPage | null {
  const page = (first: number, last: number): HistoryPage | null =>
    last < first ? null : { first, last, apart: false };
  const floor = apart === null ? 1 : apart.lastSeq + 1;
  if (asked === 'above') {
    const last = (apart?.firstSeq ?? firstSeq) - 1;
    return page(Math.max(1, last + 1 - (timeline.rows.length === 0 ? FIRST_PAGE : PAGE)), last);
  }
  if (asked === 'after-apart') return apart === null ? null : page(floor, Math.min(firstSeq - 1, apart.lastSeq + PAGE));
  if (asked === 'before-rest') return apart === null ? null : page(Math.max(floor, firstSeq - PAGE), firstSeq - 1);
  const first = Math.max(1, asked - ABOVE);
  // So near that it need not stand apart.
  if (first >= firstSeq - PAGE && asked >= floor) return page(Math.max(floor, first), firstSeq - 1);
  return { first, last: Math.min(firstSeq - 1, asked + BELOW), apart: true };
}
