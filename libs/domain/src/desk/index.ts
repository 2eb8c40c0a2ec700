export { DECISION_SECONDS, DESK_WEIGHTS, SANDBOX_USD_PER_HOUR, scoreOf } from './cost.js';
export { type DeskFacts, type DeskMarks, decisionsOf, NO_MARKS } from './decisions.js';
export { type Decided, decide, deskOf, groupOf, keyOf, secondsOf } from './desk.js';
