import type { Deadline } from './deadline.ts';

/** What `npm test` and the parts of Jest that run in its process share. `npx jest` leaves it as it is. */
export const run = {
  /** `npm test` has built everything; otherwise compile.ts does. */
  built: false,
  /** Until then only those tests begin that need nothing of it. It never rejects. */
  prepared: Promise.resolve(),
  stop: new AbortController(),
  /** `null`: it takes as long as it takes. */
  deadline: null as Deadline | null,
};
