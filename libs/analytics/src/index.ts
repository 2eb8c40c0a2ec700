export { ALLOWING_MEMBERS, ALLOWS_NOW, dropEventsOfOrg, dropEventsOfUser } from './consents.js';
export { analyticsEventId } from './event-id.js';
// Without OpenFeature, which worker needs for nothing.
export { flagVariables, staticFlagsVariable } from './flags/flag-variables.js';
export {
  countWaiting,
  deleteEvents,
  keepEvents,
  MAX_WAITING,
  type MadeEvent,
  postponeEvents,
  type StoredEvent,
  takeAllowed,
  waitingOfOrg,
} from './outbox.js';
export { analyticsPseudonym } from './pseudonym.js';
export { allowsAnalytics, analyticsVariables } from './variables.js';
export { type WireEvent, wireEvent } from './wire-event.js';
