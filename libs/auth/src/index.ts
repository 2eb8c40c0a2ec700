export { type Identity, isLoopback, OidcIssuer, type OidcOptions, type SignInTransaction, type Tokens } from './oidc-issuer.js';
export { PrincipalService } from './principals.js';
export { SecretBox } from './secret-box/secret-box.js';
export { readCookie, SESSION_COOKIE, SessionCookie } from './session-cookie.js';
export { SESSION_LIFE_MS, Sessions, type SignedIn, slugOf } from './sessions.js';
