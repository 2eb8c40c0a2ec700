/** Where the issuer sends the browser back to; registered with the issuer as the client's redirect URI. */
export const CALLBACK_PATH = '/oauth/keycloak/callback';
