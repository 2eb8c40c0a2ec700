export { currentContext, makeTraceparent, type RequestContext, runInContext, traceIdOf } from './context.js';
export { createLogger, type Logger } from './logger.js';
