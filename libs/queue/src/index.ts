export { createHintBus, createQueue, type QueueOptions } from './create.js';
export type { HintBus } from './hint-bus.js';
export { measuredQueue } from './measured-queue.js';
export type { JobHandler, Queue } from './queue.js';
export {
  ADD_TIMEOUT_MS,
  BACKOFF_BASE_MS,
  BACKOFF_CAP_MS,
  LOCK_MS,
  MAX_ATTEMPTS,
  STALLED_INTERVAL_MS,
  TAKEOVER_MS,
} from './queue.js';
export { type WindowCount, type WindowCounter, WindowCounters } from './window-counters.js';
