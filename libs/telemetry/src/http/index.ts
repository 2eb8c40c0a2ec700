export { Counter, Gauge, Histogram, Registry } from 'prom-client';
export { type ConversationEnd, conversationEnds } from './conversation-ends.js';
export { createMetrics, installTelemetry, type Telemetry, type TelemetryOptions } from './install.js';
export { PoolMetrics, type WatchedPool } from './pool-metrics.js';
