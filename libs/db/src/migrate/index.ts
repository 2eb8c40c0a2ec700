export { type MigrateOptions, migrate, ROLES, type Role, SCHEMAS, serviceUrl } from './migrate.js';
