export { mediaTypeOf, packDelivery, readBody, unpackDelivery, withoutSecrets } from './content.js';
export { type DecidedDelivery, lockUndecided, noteAttempt, noteWaiting, writeDecision } from './decided.queries.js';
export {
  type Act,
  type ActorHere,
  allowedBy,
  type Decision,
  decide,
  needsWriteAccess,
  type Standing,
  type ThreadHere,
  type WriteAccess,
} from './decision.js';
export {
  claimDeed,
  type Deed,
  findActor,
  findDelivery,
  findThreads,
  type StoredConnection,
  type StoredDelivery,
} from './deliveries.queries.js';
export { type Examined, examine, examineAs, needsRereading, openDelivery, unconfirmed } from './examine.js';
export { Notice, noticeOf, wantNotice, wantNoticeJob } from './notices.js';
