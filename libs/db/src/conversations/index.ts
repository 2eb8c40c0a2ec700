export {
  markSettingsAcknowledged,
  readAgentSettings,
  SETTINGS_VERSION,
  type StoredSettings,
} from './agent-settings.js';
export { ATTACHMENT_COLUMNS, type AttachmentRow, readAttachment, sentAttachments } from './attachments.js';
export { claimInbox } from './claim-inbox.js';
export { CREDENTIAL_KINDS, type CredentialKind } from './credential-kinds.js';
export { insertConversation, type NewConversation } from './new-conversation.js';
export { grantRepository, type RepositoryGrant } from './repository-grant.js';
export { readTail } from './tail.js';
export { readTrigger } from './trigger.js';
