export { attachmentName } from './attachment-name.js';
export { beginsAgain, budgetReason, limitNeeded, shortReason } from './budget.js';
export { settingsOfMode, stricterMode, stricterSettings } from './confirmation-mode.js';
export {
  type ConversationStatusState,
  conversationStatus,
  INITIAL_STATUS,
  reduceConversationStatus,
} from './conversation-status.js';
export { type CredentialReceiver, type CredentialScoped, credentialsOf } from './credentials-of.js';
export {
  estimateSeconds,
  type OrgShare,
  type OrgTurn,
  placeInOrg,
  positionOf,
  type QueuePosition,
  type QueueState,
  type Served,
  serveWaiting,
  type WaitingClaim,
} from './fair-queue.js';
export {
  type FileContent,
  type FileDraft,
  type FileDraftEvent,
  isUnsaved,
  openDraft,
  reduceDraft,
  shownText,
} from './file-draft.js';
export { globMatcher } from './glob-matcher.js';
export { type Clock, createIds, type Ids, systemClock, timeOfId } from './ids.js';
export { mcpServerConfigOf, type StoredMcpConfig, secretsOfMcpServer } from './mcp-settings.js';
export {
  type DividedAnswer,
  divideAnswer,
  isAcceptedAndPending,
  lastStatus,
  namedActions,
  pendingActions,
  settingsOf as confirmationSettingsOf,
  unansweredActions,
} from './open-actions.js';
export { type NoSeat, OpenSeats, type SeatLimits } from './open-seats.js';
export {
  type AnnouncedRate,
  type ArrivalCount,
  type Forecast,
  type ForecastOptions,
  type ForecastState,
  forecast,
  NO_FORECAST,
} from './pool-forecast.js';
export { creationBackoffMs, mayRefill, slotsToCreate, slotsToRenew } from './pool-sizing.js';
export { type NoSlot, type ReadLimits, type ReadSlot, ReadSlots, readWithin } from './read-slots.js';
export { runtimeState, runtimeStatusOf } from './runtime-status.js';
export {
  nextSlotState,
  REMOVABLE_SLOT_STATES,
  SLOT_STATES,
  SLOT_TRANSITIONS,
  type SlotState,
  type SlotTrigger,
  UNCLAIMED_SLOT_STATES,
} from './slot-lifecycle.js';
export { bytesText, storageReason } from './storage.js';
