export {
  AskedUse,
  CredentialUseDecision,
  CredentialUseQuestion,
  EACH_USE_MINUTES,
  isAskedPlace,
  MAX_ASKED_PATH,
  MAX_ASKED_REFS,
  MAX_USE_BYTES,
  USE_DECISIONS,
  wordsOfPlace,
} from './asked-use.js';
export {
  BrokerLine,
  CredentialQuestion,
  MAX_BROKER_LINE_BYTES,
  OpenedCredential,
  OpenedCredentials,
  OpenedRule,
  ReflectedCredential,
} from './broker.js';
export {
  CREDENTIAL_SCOPES,
  CreateCredential,
  Credential,
  CredentialPage,
  CredentialScope,
  ListCredentialsQuery,
  MAX_CREDENTIALS,
  RestingReason,
  UpdateCredential,
  WithheldSecrets,
} from './credentials.js';
export {
  MAX_PLACE_ENTRIES,
  MAX_PLACES,
  MAX_USES_PER_CONVERSATION,
  PathPattern,
  PLACE_ASKS,
  PLACE_METHODS,
  Place,
  PlaceHost,
  PushRef,
} from './places.js';
export { KeptGrant, RefreshTokenValue } from './refresh-token.js';
export {
  LEASE_SECONDS,
  MAX_ROTATED_BYTES,
  RenewalAnswer,
  RenewalOutcome,
  RenewalQuestion,
  RotatedAnswer,
  RotatedCredential,
} from './renewal.js';
export {
  CREDENTIAL_USE_DAYS,
  CredentialTally,
  CredentialTallyBatch,
  CredentialUses,
  MAX_LISTED_USES,
  MAX_PLACE_WORDS,
  MAX_USE_ROWS,
} from './use-tallies.js';
export { type CredentialForm, CredentialUse } from './uses.js';
export { problemOfValue, takesValue } from './values.js';
export { IDENTITY_PATH, WORKLOAD_TOKEN_SECONDS, WorkloadClaims } from './workload-identity.js';
