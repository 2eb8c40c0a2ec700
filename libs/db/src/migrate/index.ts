export { type FunctionVersion, hashOf, VERSIONS_FILE } from './functions.js';
export { type MigrateOptions, migrate, ROLES, type Role, serviceUrl } from './migrate.js';
export { SCHEMAS } from './schemas.js';
