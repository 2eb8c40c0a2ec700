/**
 * The algorithm with one thing left out or done wrong. Each of them must break an invariant in the model: this shows
 * that the invariants can fail. `null` is the algorithm as it is.
 */
export const BROKEN_VARIANTS = {
  'no-epoch-in-bind': 'a bind does not say under which lease it was prepared',
  'no-holder-in-bind': 'a bind does not say whose lease it was prepared under, and the epoch happens to be known',
  'no-lease-time-in-bind': 'a bind after the end of its lease goes through',
  'bind-ignores-state': 'a bound slot may be bound again by its holder',
  'batch-sees-no-twin': 'two requests of one key in one batch do not see each other',
  'body-not-compared': 'a repeated key is answered whatever the body',
  'quota-counted-once': 'the quota is looked at before the batch and not within it',
  'answer-before-commit': 'answers of a batch leave before its commit is on the disk',
  'activated-before-bind': 'the sandbox gets its claim while the bind is under way',
  'pod-accepts-two': 'a sandbox takes a second claim',
  're-pooled': 'a sandbox that was given back goes to the next',
  'freed-by-time': 'the reaper ends a claim past its deadline without asking the sandbox',
  'ended-without-receipt': 'a request whose activation was not answered ends the claim without asking the sandbox',
  'rows-after-list': 'the reaper lists sandboxes first and reads rows later',
  'orphans-by-old-rows': 'the reaper removes, at first sight, what had no row before the list',
  'delete-without-uid': 'whatever has the name is removed',
  'delete-any-state': 'a sandbox of a warm slot is removed before the slot is doomed',
  hoarded: 'a replica whose clients are quiet keeps its leases although another has none',
  'population-from-cache': 'missing sandboxes are counted by the watch',
  'cordon-leaves-leased': 'slots that are leased survive the cordon of their node',
  'watch-without-versions': 'an old event after a relist is taken for news',
  'label-without-uid': 'a label goes to whatever has the name',
} as const;

export type Broken = keyof typeof BROKEN_VARIANTS | null;
