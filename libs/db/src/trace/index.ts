export { type CollectedTrace, collectTrace } from './collect-trace.js';
