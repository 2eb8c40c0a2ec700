export {
  SANDBOX_BACKEND_NAMES,
  SANDBOX_BACKENDS,
  type SandboxBackendName,
} from './backends.js';
export { ReadablePack, RestoreCheckpoint, TakeCheckpoints, TakenCheckpoints } from './checkpoint-transfers.js';
export {
  EGRESS_ASKERS,
  EGRESS_CLASSES,
  EGRESS_USER,
  type EgressAsker,
  EgressClaims,
  type EgressClass,
  EgressRules,
  isProxied,
  PROXIED_EGRESS_CLASSES,
  type ProxiedEgressClass,
} from './egress.js';
export { EgressBytes, EgressBytesQuestion, MAX_EGRESS_GRANT_BYTES, MAX_EGRESS_MB } from './egress-budget.js';
export { noticeText } from './egress-notice.js';
export {
  AnswerEgressRequest,
  CreateEgressRule,
  EGRESS_ONCE_SECONDS,
  EGRESS_REQUEST_HOURS,
  EGRESS_REQUEST_STATES,
  EGRESS_RULE_SCOPES,
  EGRESS_UNKNOWN,
  EgressAskedBy,
  EgressChange,
  EgressDecision,
  EgressQuestion,
  EgressRequest,
  EgressRequestList,
  EgressRule,
  EgressRuleList,
  MAX_ASKER_LINE,
  MAX_EGRESS_REQUESTS_PER_HOUR,
  MAX_EGRESS_RULES,
  MAX_OBSERVED_HOSTS,
  MAX_WAITING_EGRESS_REQUESTS,
  OBSERVED_DAYS,
  OBSERVED_RULE,
  ObservedHost,
  ObservedHostList,
  READ_METHODS,
} from './egress-rules.js';
export {
  EGRESS_TALLY_DAYS,
  EgressTally,
  EgressTallyBatch,
  LET_THROUGH,
  MAX_TALLY_HOSTS,
  MAX_TALLY_ROWS,
  OTHER_HOSTS,
} from './egress-tallies.js';
export {
  EGRESS_ADMITTED_BY,
  EGRESS_TRAFFIC_DAYS,
  EgressAdmittedBy,
  EgressBodies,
  EgressTopHost,
  EgressTopHosts,
  EgressTraffic,
  EgressTrafficRow,
  MAX_BODY_HOSTS,
  MAX_TOP_HOSTS,
  MAX_TRAFFIC_ROWS,
} from './egress-traffic.js';
export {
  CreatedEgressRules,
  CreateEgressRules,
  EGRESS_EFFECTS,
  type EgressEffect,
  EgressTrial,
  EgressTrialCount,
  MAX_RULES_TOGETHER,
  MAX_TRIAL_CONVERSATIONS,
  MAX_TRIAL_HOSTS,
  TryEgressRule,
} from './egress-trial.js';
export { isPackageHost, MAX_PACKAGE_AGE_DAYS, MAX_PACKAGE_HOSTS, PackageHosts } from './new-packages.js';
export { DeletePacks, MAX_DELETED_PACKS, MAX_LISTED_PACKS, PackCursor, PackId, PackPage } from './packs.js';
export {
  BRIEF_SESSION_PREFIX,
  BRIEF_SESSION_SECONDS,
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
  SANDBOX_USE_NOTED_SECONDS,
  SandboxAccess,
  SandboxAccessClaims,
  SandboxAccessList,
  SandboxTicketForm,
  sandboxPortOf,
  THROUGH_GATEWAY_HEADER,
} from './sandbox-access.js';
export {
  ListSandboxesQuery,
  LiveSandbox,
  SANDBOX_STATES,
  SandboxFleet,
  SandboxQueue,
  WaitingForSandbox,
} from './sandboxes.js';
export { LARGEST_CONVERSATIONS, STORAGE_STATES, Storage, StoredConversation } from './storage.js';
export { OpenEditor, OpenVscodeRequest, OpenVscodeResponse, VscodeStatus, VscodeUrl } from './vscode.js';
export {
  EgressBodyBatch,
  EgressBodyTally,
  MAX_BODY_ROWS,
  MAX_CONVERSATION_BODY_ROWS,
  MAX_PRINT_FOLDERS,
  MAX_PRINTS,
  MAX_PRINTS_BYTES,
  OTHER_TYPE,
  PRINT_WINDOWS,
  WorkspacePrints,
  WorkspacePrintsAnswer,
  WorkspacePrintsQuestion,
} from './workspace-prints.js';
