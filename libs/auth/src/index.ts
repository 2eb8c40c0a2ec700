export {
  type ApiKeyEnvironment,
  hashApiKey,
  makeApiKey,
  type NewApiKey,
  parseApiKey,
} from './api-keys/api-key-token.js';
export { ApiKeyUses } from './api-keys/api-key-uses.js';
export { ApiKeys, type AuthenticatedKey } from './api-keys/api-keys.js';
export type { IssuerLogout } from './logout-tokens.js';
export {
  type Identity,
  isLoopback,
  OidcIssuer,
  SECOND_FACTOR_ACR,
  type SignInOptions,
  type SignInTransaction,
  type Tokens,
} from './oidc-issuer.js';
export { type Authenticated, bearerOf, type GateRules, PrincipalService } from './principals.js';
export type { ProviderToken } from './provider-token.js';
export { ProviderTokens } from './provider-tokens.js';
export type { Connected } from './provider-tokens.queries.js';
export { SecretBox } from './secret-box/secret-box.js';
export { readCookie, SESSION_COOKIE, SessionCookie } from './session-cookie.js';
export { Sessions, type SignedIn, type SignInOrigin } from './sessions.js';
export type { SessionRecord } from './sessions.queries.js';
