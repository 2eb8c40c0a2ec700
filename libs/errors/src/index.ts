export { parseOrThrow } from './parse.js';
export { notFound, type ProblemResponse, SlipwayError, toProblem } from './slipway-error.js';
export { storeUnavailable } from './store-unavailable.js';
