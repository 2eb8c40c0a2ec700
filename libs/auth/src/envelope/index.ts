export { Envelope, NEWEST_FRESH_MS, type Sealed } from './envelope.js';
export {
  dropDataKeys,
  type Rotated,
  renewMasterColumn,
  renewValues,
  rewrapDataKeys,
  rotateDataKeys,
} from './rotation.js';
export {
  credentialContext,
  DATA_KEY_COLUMNS,
  deliveryContext,
  integrationSecretContext,
  llmKeyContext,
  MASTER_KEY_COLUMNS,
  outgoingWebhookContext,
  packKeyContext,
  secretContext,
} from './sealed-columns.js';
