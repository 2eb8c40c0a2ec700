export {
  MODEL_CAPABILITIES,
  MODEL_LISTS,
  type ModelCapability,
  type ModelFacts,
  type ModelPrice,
  type TokenPrices,
} from './catalogue.js';
export {
  type ChatMessage,
  type Completion,
  type CompletionDelta,
  type CompletionOptions,
  type CompletionRequest,
  type CompletionUsage,
  MAX_PICTURES,
  type PictureFile,
  type ToolCall,
  type ToolDefinition,
  toWire,
} from './chat.js';
export { CUT_OFF } from './completion-assembler.js';
export { LLM, type LlmConfig, preloadLlm } from './llm.js';
export { modelErrorOf, retryAfterSeconds } from './model-errors.js';
export { type CountedTokens, costUsd, factsOf, PRICE_HEADER, priceOf, priceSaid, pricesFor } from './pricing.js';
export { LlmRegistry, type LlmUsage } from './registry.js';
export { MAX_LINE_BYTES, readServerSentEvents } from './server-sent-events.js';
