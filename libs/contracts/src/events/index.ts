export { BLOB_MARKER, BlobRef, blobRefOf, MAX_EVENT_BYTES } from './blob.js';
export {
  assertNever,
  CallMetrics,
  ConversationEvent,
  ConversationStats,
  ErrorClassification,
  EVENT_KINDS,
  type EventKind,
  type EventOf,
  EventPage,
  EventSource,
  EXECUTION_STATUSES,
  type ExecutionStatus,
  ImageContent,
  LoggedEvent,
  ObservationContent,
  StreamingDelta,
  TextContent,
  TokenUsage,
  textOfContent,
  UsageMetrics,
} from './conversation-event.js';
export { HOOK_TYPES, HookConfig, HookDefinition, HookMatcher, type HookType, hookKey } from './hooks.js';
export { HEARTBEAT_MS, IngestAck, IngestApprovals, IngestBatch, IngestClaims, IngestDeltas, LEASE_MS, MAX_INGEST_BYTES, MAX_INGEST_EVENTS } from './ingest.js';
export { MIN_MASKED_LENGTH } from './masking.js';
export {
  Confirm,
  ConfirmAnswer,
  DeltaFrame,
  EventsFrame,
  Hint,
  InboxFrame,
  ResumeFrame,
  SOCKET_MAX_BYTES,
  SOCKET_MAX_FRAMES,
  SOCKET_PING_MS,
  Subscribe,
  SubscribeAnswer,
  Unsubscribe,
} from './realtime.js';
