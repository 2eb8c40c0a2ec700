export { KEYCLOAK_VERSION, KeycloakUnavailable, lackForKeycloak } from './built-keycloak.js';
export type { KeycloakAdmin } from './keycloak-admin.js';
export { Keycloak, type OpenKeycloakOptions } from './open-keycloak.js';
