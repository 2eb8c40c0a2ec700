export {
  CountedBatches,
  MAX_WAITING_ROWS,
} from './counted-batches.js';
export { type DrainWork, GracefulStop, type GracefulStopOptions, type StopStep } from './graceful-stop.js';
export { parseConfig } from './parse-config.js';
