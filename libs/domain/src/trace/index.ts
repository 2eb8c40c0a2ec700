export { TraceCollector } from './collector.js';
export { attributesOf, GEN_AI, GEN_AI_SCHEMA_URL } from './gen-ai-names.js';
export { type Trace, type TraceInput, traceOf } from './trace.js';
export type { InnerEvent, LoggedCall, QueuedMessage, TraceEvent, TraceStartStep, TraceUpdate } from './trace-event.js';
export { usdOf } from './usd.js';
