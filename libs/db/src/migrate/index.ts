export { migrate, type MigrateOptions, SCHEMAS, serviceUrl } from './migrate.js';
