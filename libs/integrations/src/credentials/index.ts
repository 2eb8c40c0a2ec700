export { ConnectionCredentials } from './connection-credentials.js';
export {
  type ConnectionOAuth,
  consentUrl,
  type Grant,
  type Installation,
  isFinal,
  redeemCode,
  renewTokens,
} from './connection-oauth.js';
export {
  type Credential,
  type CredentialConnection,
  type CredentialNeed,
  type CredentialSource,
  enteredToken,
  type OpenedSecret,
} from './credential.js';
export { credentialSecretsOf, findCredentialSecret, type StoredCredential } from './credentials.queries.js';
export { freshDispatch } from './fresh-dispatch.js';
export { findOAuthApp, openOAuthApp } from './oauth-app.js';
export { OAuthSource, type OAuthSourceOptions, RENEWAL_REFUSED } from './oauth-source.js';
export { OAuthTokens, renewAtOf, tokensOf } from './oauth-tokens.js';
export { insertTokens, revokeTokens, type SealedTokens } from './renewal.queries.js';
