export {
  type After,
  type AfterFacts,
  afterOf,
  type BranchCommit,
  firstEdit,
  humanCommits,
  nextWatch,
  WATCH_DAYS,
  WINDOW_DAYS,
  watchedDaysAt,
  windowEnd,
} from './after-merge.js';
export { decimalOf, perPiece, ratio, shareOf, ticksOf } from './money.js';
export { type ListedCommit, type Reverts, type RevertTarget, revertsOf } from './reverts.js';
export {
  type AfterCounts,
  afterCounts,
  afterShare,
  type CostParts,
  mergedShare,
  type OutcomeConversation,
  type OutcomePullRequest,
  type WorkItem,
  workItems,
} from './summary.js';
export { startWait, type TurnSums, turnSums } from './turns.js';
