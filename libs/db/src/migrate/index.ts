export { type MigrateOptions, migrate, SCHEMAS, serviceUrl } from './migrate.js';
