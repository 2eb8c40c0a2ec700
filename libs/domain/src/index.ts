export { type ConversationStatusState, conversationStatus, INITIAL_STATUS, reduceConversationStatus } from './conversation-status.js';
export { type Clock, createIds, type Ids, systemClock } from './ids.js';
