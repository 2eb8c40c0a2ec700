export {
  BrokerLine,
  CredentialQuestion,
  MAX_BROKER_LINE_BYTES,
  OpenedCredential,
  OpenedCredentials,
  ReflectedCredential,
} from './broker.js';
export {
  CREDENTIAL_SCOPES,
  CreateCredential,
  Credential,
  type CredentialForm,
  CredentialPage,
  CredentialScope,
  CredentialUse,
  ListCredentialsQuery,
  MAX_CREDENTIALS,
  UpdateCredential,
  WithheldSecrets,
} from './credentials.js';
export { MAX_PLACE_ENTRIES, MAX_PLACES, PathPattern, PLACE_METHODS, Place, PlaceHost, PushRef } from './places.js';
