export { migrateQueue, QUEUE_SCHEMA } from './migrate-queue.js';
