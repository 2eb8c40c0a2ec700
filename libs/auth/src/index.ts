export { isLoopback, OidcIssuer } from './oidc-issuer.js';
export { PrincipalService } from './principals.js';
export { SecretBox } from './secret-box/secret-box.js';
export { readCookie, SESSION_COOKIE, SessionCookie } from './session-cookie.js';
export { Sessions, type SignedIn } from './sessions.js';
