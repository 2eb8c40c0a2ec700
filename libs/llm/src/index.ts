export { type ModelPrice, PRICE_LISTS } from './catalogue.js';
export {
  type ChatMessage,
  type Completion,
  type CompletionDelta,
  type CompletionOptions,
  type CompletionRequest,
  type CompletionUsage,
  type ToolCall,
  type ToolDefinition,
  toWire,
} from './chat.js';
export { LLM, type LlmConfig, preloadLlm } from './llm.js';
export { modelErrorOf, retryAfterSeconds } from './model-errors.js';
export { costUsd, priceOf } from './pricing.js';
export { MAX_LINE_BYTES, readServerSentEvents } from './server-sent-events.js';
