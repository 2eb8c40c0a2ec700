export {
  ANALYTICS_EVENT_NAMES,
  ANALYTICS_EVENTS,
  type AnalyticsEvent,
  type AnalyticsEventName,
  analyticsProvider,
  MAX_WAITING_EVENTS,
  type ModelName,
  MyAnalytics,
  modelName,
  PageEvent,
  RecordPageEvent,
  WaitingEvent,
  WaitingEvents,
} from './analytics-events.js';
export {
  DEFAULT_FLAGS,
  FLAG_KEYS,
  FLAG_VALUES,
  FLAGS,
  type FlagKey,
  type FlagValue,
  type FlagValues,
  FlagValuesSchema,
} from './flags.js';
export {
  ConversationPreview,
  MAX_PREVIEW_BYTES,
  MAX_PREVIEW_LENGTH,
  PagePreview,
  PREVIEW_HEADER,
  PreviewRow,
} from './page-preview.js';
export { type ConversationQueue, QUEUES, type QueueName, type QueuePayload } from './queues.js';
