/** Where the issuer sends the browser back to; registered with the issuer as the client's redirect URI. */
export const CALLBACK_PATH = '/oauth/keycloak/callback';
/**
 * Where the issuer sends a browser whose session with it has ended, so that another user can sign in. Registered with
 * the client (`keycloak/realm.ts`).
 */
export const SWITCHED_PATH = '/oauth/switched';
