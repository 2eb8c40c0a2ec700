// Runs in a worker: colours the lines of diffs, so that the page does not stand still meanwhile.
import '@pierre/diffs/worker/worker.js';
