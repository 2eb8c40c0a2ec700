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
  FinishAction,
  MAIN_SESSION,
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
  ToolLacks,
} from './action-server.js';
export { FileEditAction, FileEditObservation, MAX_EDITED_LINES } from './actions/file-edit.js';
export { FileEditorAction, FileEditorObservation, PlanningFileEditorAction } from './actions/file-editor.js';
export { IPythonRunCellAction, IPythonRunCellObservation, MAX_CELL_LENGTH } from './actions/ipython.js';
export { MAX_IMAGES_LENGTH } from './actions/observation.js';
export { ApplyPatchAction, ApplyPatchObservation, MAX_PATCH_LENGTH, PatchedFile } from './actions/patch.js';
export {
  FileEntry,
  GlobAction,
  GlobObservation,
  GrepAction,
  GrepObservation,
  ListDirectoryAction,
  ListDirectoryObservation,
  MAX_LISTED_ENTRIES,
  MAX_SEARCH_RESULTS,
} from './actions/search.js';
export { GivenSkill, InvokeSkillAction } from './actions/skills.js';
export { AgentDefinition, SubAgentEvent, TaskAction } from './actions/sub-agents.js';
export { ActivationClaims, InitRequest, InitState } from './activation.js';
export {
  AskAgentRequest,
  BashOutput,
  ConversationInfo,
  EventSearchPage,
  ExecuteBashRequest,
  ForkConversationRequest,
  GitChange,
  GitDiff,
  type LlmSettings,
  SandboxSecrets,
  SendEventRequest,
  StartConversationRequest,
  SwitchLlmRequest,
  UpdateConversationRequest,
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
  AnswerConfirmation,
  CONFIRMATION_MODES,
  ConfirmationAnswer,
  ConfirmationMode,
  ConfirmationPolicy,
  ConfirmationRule,
  ConfirmationSettings,
  RespondToConfirmationRequest,
  SECURITY_RISKS,
  SecurityAnalyzer,
  SecurityRisk,
  SetConfirmationMode,
  SetConfirmationPolicyRequest,
  SetSecurityAnalyzerRequest,
} from './confirmation.js';
export {
  assertNever,
  CallMetrics,
  ConversationEvent,
  ConversationStats,
  ErrorClassification,
  type EventKind,
  type EventOf,
  EventPage,
  EventSource,
  EXECUTION_STATUSES,
  type ExecutionStatus,
  ImageContent,
  LoggedEvent,
  ObservationContent,
  StreamingDelta,
  TextContent,
  TokenUsage,
  textOfContent,
  UsageMetrics,
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
  EnvironmentName,
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
export {
  AGENT_TYPES,
  AgentTerms,
  AgentType,
  AskConversation,
  CarryOutPlan,
  ConfirmationRuleList,
  ConversationAnswer,
  ConversationBudget,
  ConversationTerms,
  MaxIterations,
  RevokeConfirmationRule,
  UpdateConversationTerms,
} from './conversation-terms.js';
  SandboxStatus,
  SendMessage,
  SwitchModel,
} from './conversations.js';
export { DEMO_MODEL } from './demo-model.js';
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
export { EGRESS_CLASSES, EgressClaims, type EgressClass, EgressRules, isProxied, PROXIED_EGRESS_CLASSES, type ProxiedEgressClass } from './egress.js';
export { ERROR_CODES, ERRORS, type ErrorCode } from './error-codes.js';
export { GIT_OPERATIONS, GIT_REPOSITORY_KINDS, GitCommit, GitCommitsPage, GitRepositories, GitRepository, MarkTurnRequest } from './git.js';
export { HOOK_TYPES, HookConfig, HookMatcher, type HookType, hookKey } from './hooks.js';
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
export { LIVE_OPEN } from './live/live-channel.js';
export {
  BudgetStops,
  DeleteKeys,
  DeleteTeams,
  DeleteUsers,
  DIRECT_PREFIXES,
  type DirectPrefix,
  GatewayDeployment,
  GatewayDeploymentList,
  GatewayDeploymentTest,
  GatewayModel,
  GatewayModelList,
  GeneratedKey,
  GenerateKey,
  LedgerPage,
  LedgerRow,
  MANAGED_PREFIXES,
  MAX_LEDGER_ROWS,
  OrgLimits,
  OwnProviders,
  PutTeam,
  PutUser,
  UpdateKey,
  UpdateTeamMember,
} from './llm-gateway.js';
export { CreateLlmProfile, LlmProfile, LlmProfileList, MAX_LLM_PROFILES, PROFILE_PREFIX, profileNameOf, UpdateLlmProfile } from './llm-profiles.js';
export { MIN_MASKED_LENGTH } from './masking.js';
export { CreateMcpServer, MAX_MCP_SERVERS, McpServer, McpServerList, McpValue, UpdateMcpServer } from './mcp-servers.js';
export { ListMembersQuery, MEMBER_SOURCES, Member, MemberPage, MemberRemoval, UpdateMember } from './members.js';
export { ModelDeployment, ModelDeploymentList, ModelDeploymentTest } from './model-health.js';
export {
  AcceptOrganizationInvitation,
  CreatedProgramKey,
  CreateOrganization,
  CreateProgramKey,
  Done,
  InviteToOrganization,
  ListOrganizationInvitationsQuery,
  ListOrganizationMembersQuery,
  Organization,
  OrganizationInvitation,
  OrganizationInvitationPage,
  OrganizationInvited,
  OrganizationJoined,
  OrganizationMe,
  OrganizationMember,
  OrganizationMemberPage,
  OrganizationPage,
  ProgramKey,
  ProgramKeyList,
  UpdateOrganization,
  UpdateOrganizationMember,
} from './openhands.js';
export {
  COMMON_ERRORS,
  type LimitClass,
  limitOf,
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
export { LoggedPrompt, MAX_PROMPT_LOG_DAYS, PromptLogMode, PromptLogQuery, PromptPage, PromptPolicies } from './prompt-log.js';
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
export {
  FleetSandbox,
  ORG_HEADER,
  POD_STATUSES,
  QueuedSession,
  RESOURCE_FACTORS,
  RUNTIME_STATUSES,
  Runtime,
  RuntimeFleet,
  RuntimeId,
  RuntimeList,
  RuntimeQueue,
  StartRuntime,
} from './runtime.js';
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
  GitHost,
  ListSecretsQuery,
  MAX_ORG_SECRETS,
  MAX_OWN_SECRETS,
  MAX_SECRET_BYTES,
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
  ListMemberSessionsQuery,
  MAX_SESSION_MINUTES,
  MemberSession,
  MemberSessionPage,
  MIN_IDLE_MINUTES,
  MIN_SESSION_MINUTES,
  SecurityRules,
  SecurityRuleValues,
  UpdateSecurityRules,
} from './security.js';
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
