/**
 * Histories of one pool's queue with the order in which claims must be served. For `fair-queue.ts` and for
 * `runtime.serve_waiting`, which hold the same rule. A claim is written `org/name:cost:lane`; cost is 1 and lane
 * `interactive` when left out. Arrival is the order of writing.
 */
export interface FairQueueVector {
  /** The guarantee. */
  readonly name: string;
  /** Weight and cap of each organization; nothing is held at the start. */
  readonly orgs: Readonly<Record<string, { readonly weight: number; readonly cap: number }>>;
  readonly steps: readonly FairQueueStep[];
}

export type FairQueueStep =
  | { readonly arrive: readonly string[] }
  /** Stops waiting without having been served. */
  | { readonly leave: readonly string[] }
  /** A sandbox that was served ends: its cost is free in the cap again. */
  | { readonly end: readonly string[] }
  /** So many sandboxes are free; these are served, in this order. */
  | { readonly free: number; readonly served: readonly string[] };

const equal = (...orgs: string[]): FairQueueVector['orgs'] =>
  Object.fromEntries(orgs.map((org) => [org, { weight: 1, cap: 100 }]));

export const FAIR_QUEUE_VECTORS: readonly FairQueueVector[] = [
  {
    name: 'equal organizations take turns, whoever came with more',
    orgs: equal('a', 'b'),
    steps: [
      { arrive: ['a/1', 'a/2', 'a/3', 'a/4', 'b/1', 'b/2'] },
      { free: 5, served: ['a/1', 'b/1', 'a/2', 'b/2', 'a/3'] },
      { free: 9, served: ['a/4'] },
    ],
  },
  {
    name: 'the turn goes on where the call before ended',
    orgs: equal('a', 'b', 'c'),
    steps: [
      { arrive: ['a/1', 'a/2', 'b/1', 'b/2', 'c/1', 'c/2'] },
      { free: 1, served: ['a/1'] },
      { free: 1, served: ['b/1'] },
      { free: 0, served: [] },
      { free: 2, served: ['c/1', 'a/2'] },
      { free: 9, served: ['b/2', 'c/2'] },
    ],
  },
  {
    name: 'a weight of three is three in a turn',
    orgs: { a: { weight: 3, cap: 100 }, b: { weight: 1, cap: 100 } },
    steps: [
      { arrive: ['b/1', 'b/2', 'a/1', 'a/2', 'a/3', 'a/4'] },
      { free: 9, served: ['b/1', 'a/1', 'a/2', 'a/3', 'b/2', 'a/4'] },
    ],
  },
  {
    name: 'a sandbox of four times the size waits four turns',
    orgs: equal('a', 'b'),
    steps: [
      { arrive: ['a/1:4', 'a/2:4', 'b/1', 'b/2', 'b/3', 'b/4', 'b/5'] },
      { free: 9, served: ['b/1', 'b/2', 'b/3', 'a/1', 'b/4', 'b/5', 'a/2'] },
    ],
  },
  {
    name: 'interactive goes before batch inside an organization, and only there',
    orgs: equal('a', 'b'),
    steps: [
      { arrive: ['a/1::batch', 'a/2', 'b/1::batch', 'a/3::batch', 'a/4'] },
      { free: 3, served: ['a/2', 'b/1', 'a/4'] },
      { arrive: ['b/2', 'a/5'] },
      { free: 9, served: ['a/5', 'b/2', 'a/1', 'a/3'] },
    ],
  },
  {
    name: 'who holds all that it may is passed over, and served when one of its own ends',
    orgs: { a: { weight: 1, cap: 1 }, b: { weight: 1, cap: 100 } },
    steps: [
      { arrive: ['a/1', 'a/2', 'b/1', 'b/2', 'b/3'] },
      { free: 3, served: ['a/1', 'b/1', 'b/2'] },
      { end: ['a/1'] },
      { free: 9, served: ['a/2', 'b/3'] },
    ],
  },
  {
    name: 'a head that does not fit the cap holds back those behind it',
    orgs: { a: { weight: 4, cap: 4 } },
    steps: [
      { arrive: ['a/1:2', 'a/2:4', 'a/3:1'] },
      { free: 9, served: ['a/1'] },
      { end: ['a/1'] },
      { free: 9, served: ['a/2'] },
      { end: ['a/2'] },
      { free: 9, served: ['a/3'] },
    ],
  },
  {
    name: 'who was idle has no credit: it comes back behind those that wait, with one turn',
    orgs: equal('a', 'b'),
    steps: [
      { arrive: ['a/1', 'b/1', 'b/2', 'b/3', 'b/4'] },
      { free: 4, served: ['a/1', 'b/1', 'b/2', 'b/3'] },
      { arrive: ['b/5', 'a/2', 'a/3', 'a/4'] },
      { free: 9, served: ['b/4', 'a/2', 'b/5', 'a/3', 'a/4'] },
    ],
  },
  {
    name: 'what is left of a deficit is kept while the organization waits',
    orgs: { a: { weight: 3, cap: 100 }, b: { weight: 2, cap: 100 } },
    steps: [
      { arrive: ['a/1:2', 'a/2:2', 'a/3:2', 'b/1', 'b/2', 'b/3', 'b/4'] },
      { free: 9, served: ['a/1', 'b/1', 'b/2', 'a/2', 'a/3', 'b/3', 'b/4'] },
    ],
  },
  {
    name: 'a turn that ended with a deficit is paid again although a cheaper claim came to the head',
    orgs: equal('a', 'b'),
    steps: [
      { arrive: ['a/1:2:batch', 'b/1', 'b/2', 'b/3', 'b/4'] },
      { free: 1, served: ['b/1'] },
      { arrive: ['a/2:1', 'a/3:1'] },
      { free: 9, served: ['a/2', 'a/3', 'b/2', 'b/3', 'a/1', 'b/4'] },
    ],
  },
  {
    name: 'who leaves is not served, and an organization that left is as one that was idle',
    orgs: equal('a', 'b', 'c'),
    steps: [
      { arrive: ['a/1', 'a/2', 'b/1', 'c/1', 'c/2'] },
      { leave: ['a/1', 'b/1'] },
      { free: 2, served: ['a/2', 'c/1'] },
      { arrive: ['b/2', 'a/3'] },
      { free: 9, served: ['c/2', 'b/2', 'a/3'] },
    ],
  },
];
