/** What `npm test` and the parts of Jest that run in its process share. `npx jest` leaves it as it is. */
export const run = {
  /** `npm test` has built everything; otherwise compile.ts does. */
  built: false,
  stop: new AbortController(),
};
