/** Steps between which a process may die. Tests end it there; in a running service nothing happens. */
export const STEPS = [
  'pool.planned',
  'pool.creating',
  'pool.created',
  'pool.probed',
  'pool.ready',
  'pool.removing',
  'pool.removed',
  'claim.queued',
  'queue.served',
  'queue.called',
  'claim.bound',
  'claim.restoring',
  'claim.attached',
  'claim.blank',
  'claim.activated',
  'claim.marked',
  'claim.released',
  'reap.released',
  'note.written',
] as const;
export type Step = (typeof STEPS)[number];

export type Failpoints = (step: Step) => Promise<void> | void;
export const noFailpoints: Failpoints = () => {};
