export { whyNoKeycloak } from './built-keycloak.js';
export type { KeycloakAdmin } from './keycloak-admin.js';
export { Keycloak, type OpenKeycloakOptions } from './open-keycloak.js';
