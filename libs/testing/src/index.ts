export { type GitServer, startGitServer } from './git-server.js';
export { createSampleRepository } from './sample-repository.js';
export { freePort, type PostgresServer, startPostgresServer } from '@slipway/db/embedded';
export { createTestDatabase, type TestDatabase } from './test-database.js';
export { until } from './until.js';
