export { ConnectionCredentials } from './connection-credentials.js';
export { type Credential, type CredentialConnection, type CredentialNeed, type CredentialSource, enteredToken, type OpenedSecret } from './credential.js';
export { credentialSecretsOf, findCredentialSecret, type StoredCredential } from './credentials.queries.js';
