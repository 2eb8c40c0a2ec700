export {
  AcceptTerms,
  Connection,
  ConnectionList,
  EndedSessions,
  EndSessions,
  GATES,
  Gate,
  MAX_LISTED_SESSIONS,
  MySession,
  MySessionList,
  MySettings,
  NOTIFICATION_EVENTS,
  type NotificationEvent,
  PersonSettings,
  Terms,
  UpdateMySettings,
  VerifyEmail,
} from './account.js';
export {
  AgentAction,
  ConfigureRequest,
  ExecuteActionRequest,
  ExecuteActionResponse,
  FileEditorAction,
  FileEditorObservation,
  FinishAction,
  MAX_OBSERVATION_LENGTH,
  RunCommandRequest,
  RunCommandResponse,
  SandboxAction,
  SandboxObservation,
  TaskItem,
  TaskTrackerAction,
  TerminalAction,
  TerminalObservation,
  ThinkAction,
} from './action-server.js';
export { ActivationClaims, InitRequest, InitState } from './activation.js';
export {
  BashOutput,
  ConversationInfo,
  EventSearchPage,
  ExecuteBashRequest,
  GitChange,
  GitDiff,
  SendEventRequest,
  StartConversationRequest,
} from './agent-server.js';
export {
  API_KEY_OWNERS,
  API_KEY_STATES,
  ApiKey,
  ChangeApiKey,
  CreateApiKey,
  CreatedApiKey,
  DEFAULT_API_KEY_DAYS,
  DEFAULT_OVERLAP_SECONDS,
  ListApiKeysQuery,
  MAX_API_KEY_DAYS,
  MAX_LIVE_API_KEYS,
  MAX_OVERLAP_SECONDS,
  Proof,
  RotateApiKey,
} from './api-keys.js';
export {
  ARCHIVE_AUDIENCE,
  ARCHIVE_CONTENT_TYPE,
  ARCHIVE_PARTS,
  ARCHIVE_SKIPPED_HEADER,
  ARCHIVE_TOKEN_SECONDS,
  ArchiveClaims,
  ArchivePart,
} from './archive.js';
export {
  AUDIT_FAULTS,
  AuditEntry,
  AuditExportQuery,
  AuditLink,
  AuditPage,
  AuditQuery,
  AuditVerification,
  VerifyAuditQuery,
} from './audit.js';
export { BLOB_MARKER, BlobRef, blobRefOf, MAX_EVENT_BYTES } from './blob.js';
export {
  BUDGET_THRESHOLDS,
  BudgetNotice,
  BudgetOverride,
  BudgetPerson,
  BudgetPreview,
  BudgetPreviewQuery,
  Budgets,
  ChangeBudgets,
  MAX_BUDGET_PEOPLE,
  Money,
  PutBudgetOverride,
} from './budgets.js';
export {
  assertNever,
  ConversationEvent,
  ConversationStats,
  ErrorClassification,
  type EventKind,
  type EventOf,
  EventSource,
  EXECUTION_STATUSES,
  type ExecutionStatus,
  LoggedEvent,
  StreamingDelta,
  TextContent,
} from './conversation-event.js';
export {
  BranchName,
  Changes,
  CONVERSATION_SORTS,
  CONVERSATION_STATUSES,
  Conversation,
  ConversationStatus,
  ConversationSummary,
  CreateConversation,
  EventPage,
  EventsQuery,
  FileChange,
  ListConversationsQuery,
  MAX_PROMPT_LENGTH,
  MAX_QUEUED_MESSAGES,
  PageQuery,
  pageOf,
  QueuedMessage,
  RepositoryUrl,
  SANDBOX_STATUSES,
  SandboxStatus,
  SendMessage,
} from './conversations.js';
export {
  ApproveDevice,
  DEVICE_CODE_SECONDS,
  DEVICE_ERRORS,
  DEVICE_GRANT_TYPE,
  DEVICE_POLL_SECONDS,
  DeviceAuthorization,
  DeviceAuthorizationForm,
  DeviceProblem,
  DeviceRequest,
  DeviceToken,
  DeviceTokenForm,
  normalUserCode,
  USER_CODE_ALPHABET,
  USER_CODE_LENGTH,
} from './device.js';
export { AUTO_JOIN_ROLES, ClaimDomain, DomainName, MAX_DOMAINS, OrgDomain, OrgDomainList, UpdateDomain } from './domains.js';
export { ERROR_CODES, ERRORS, type ErrorCode } from './error-codes.js';
export { HEARTBEAT_MS, IngestAck, IngestBatch, IngestClaims, IngestDeltas, LEASE_MS, MAX_INGEST_BYTES, MAX_INGEST_EVENTS } from './ingest.js';
export {
  CreateInvitations,
  INVITATION_STATES,
  Invitation,
  InvitationOutcome,
  InvitationOutcomes,
  InvitationPage,
  InvitationPreview,
  ListInvitationsQuery,
  MAIL_STATES,
  MAX_INVITED_AT_ONCE,
  MAX_OPEN_INVITATIONS,
  SentInvitation,
} from './invitations.js';
export {
  BudgetStops,
  DEMO_MODEL,
  DeleteKeys,
  GatewayModel,
  GatewayModelList,
  GeneratedKey,
  GenerateKey,
  LedgerPage,
  LedgerRow,
  MAX_LEDGER_ROWS,
} from './llm-gateway.js';
export { CreateLlmProfile, LlmProfile, LlmProfileList, MAX_LLM_PROFILES, UpdateLlmProfile } from './llm-profiles.js';
export { CreateMcpServer, MAX_MCP_SERVERS, McpServer, McpServerList, McpValue, UpdateMcpServer } from './mcp-servers.js';
export { ListMembersQuery, MEMBER_SOURCES, Member, MemberPage, MemberRemoval, UpdateMember } from './members.js';
export {
  COMMON_ERRORS,
  type Operation,
  type OperationBody,
  type OperationName,
  type OperationQuery,
  type OperationResponse,
  operations,
  proofOf,
} from './operations.js';
export { DEFAULT_ORG_SETTINGS, OrgSettings, OrgSettingValues, UpdateOrgSettings } from './org-settings.js';
export { CreateOrg, DeleteOrg, Me, ModelInfo, ModelList, Org, OrgList, OrgName, OrgSlug, RESERVED_SLUGS, TransferOrg, UpdateOrg } from './orgs.js';
export { PERMISSIONS, type Permission, type Principal, permissionsOfKey, ROLE_PERMISSIONS, ROLES, type Role } from './permissions.js';
export { Problem } from './problem.js';
export { type ConversationQueue, QUEUES, type QueueName, type QueuePayload } from './queues.js';
export {
  DeltaFrame,
  EventsFrame,
  Hint,
  InboxFrame,
  ResumeFrame,
  SOCKET_MAX_BYTES,
  SOCKET_MAX_FRAMES,
  Subscribe,
  SubscribeAnswer,
  Unsubscribe,
} from './realtime.js';
export { ORG_HEADER, POD_STATUSES, RESOURCE_FACTORS, RUNTIME_STATUSES, Runtime, RuntimeId, RuntimeList, StartRuntime } from './runtime.js';
export {
  CLOSED_SANDBOX_PORTS,
  ENTER_PATH,
  GrantSandboxAccess,
  MAX_LISTED_SANDBOX_ACCESS,
  MIN_SANDBOX_PORT,
  OpenSandboxAccess,
  SANDBOX_PORTS,
  SandboxAccess,
  SandboxAccessClaims,
  SandboxAccessList,
  SandboxTicketForm,
  sandboxPortOf,
} from './sandbox-access.js';
export {
  ListSandboxesQuery,
  LiveSandbox,
  SANDBOX_STATES,
  SandboxFleet,
  SandboxQueue,
  WaitingForSandbox,
} from './sandboxes.js';
export {
  CreateOwnSecret,
  CreateSecret,
  EnvironmentName,
  GitHost,
  ListSecretsQuery,
  MAX_ORG_SECRETS,
  MAX_OWN_SECRETS,
  MAX_SECRET_BYTES,
  MIN_MASKED_LENGTH,
  repositoryKey,
  SECRET_SCOPES,
  Secret,
  SecretKind,
  SecretList,
  SecretName,
  SecretPage,
  SecretScope,
  SecretValue,
  UpdateSecret,
} from './secrets.js';
export {
  ChangeServiceAccount,
  CreateServiceAccount,
  ListServiceAccountsQuery,
  MAX_SERVICE_ACCOUNTS,
  SERVICE_ACCOUNT_ROLES,
  ServiceAccount,
} from './service-accounts.js';
export { START_STATUSES, StartStatus, StartStep } from './start-task.js';
export { MAX_USAGE_DAYS, MAX_USAGE_ROWS, USAGE_DIMENSIONS, Usage, type UsageDimension, UsageQuery, UsageRow } from './usage.js';
