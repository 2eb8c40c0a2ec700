export {
  SANDBOX_BACKEND_NAMES,
  SANDBOX_BACKENDS,
  type SandboxBackendName,
} from './backends.js';
export {
  EGRESS_CLASSES,
  EgressClaims,
  type EgressClass,
  EgressRules,
  isProxied,
  PROXIED_EGRESS_CLASSES,
  type ProxiedEgressClass,
} from './egress.js';
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
