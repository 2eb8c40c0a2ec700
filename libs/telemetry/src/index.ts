export { currentContext, currentTraceId, type RequestContext, runInContext, traceIdOf } from './context.js';
export { type LogSettings, logSettings, logVariables } from './log-settings.js';
export { createGatheringLogger, createLogger, type Logger } from './logger.js';
export { type MetricsServer, metricsAddress, startMetricsServer } from './metrics-server.js';
export { METRICS_CONTENT_TYPE, processMetrics } from './process-metrics.js';
export { flushTraces } from './tracing/flush-step.js';
export { currentTraceparent, inSpan, traceHeaders, useTracing } from './tracing/tracing.js';
