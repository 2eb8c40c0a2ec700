export { ActivationClaims, InitRequest, InitState } from './activation.js';
export type { AgentRoute } from './agent-route.js';
export {
  AskAgentRequest,
  BashOutput,
  ConversationInfo,
  EventSearchPage,
  ExecuteBashRequest,
  ForkConversationRequest,
  GitChange,
  GitDiff,
  LlmSettings,
  NavigateConversationRequest,
  SandboxSecrets,
  SendEventRequest,
  StartConversationRequest,
  SwitchLlmRequest,
  UpdateConversationRequest,
} from './agent-server.js';
export {
  AGENT_TYPES,
  AgentConfirmation,
  AgentSettings,
  AgentType,
  AppliedSettings,
  ApplySettings,
  RefusedSetting,
  RunLimits,
} from './agent-settings.js';
export {
  type AgentWork,
  agentWorkOf,
  isMessageFrame,
  steersBySocket,
  steersSandbox,
  takesMessages,
} from './agent-work.js';
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
  APP_KEY_SHA256_HEADER,
  CALLER_KEY_HEADER,
  CALLER_USER_HEADER,
  CallerUser,
  CHARGE_PASS_HEADER,
  callerUserHeader,
  callerUserOf,
  WANTS_GATEWAY_KEY_HEADER,
} from './callers.js';
export {
  CapturedCheckpoint,
  CaptureTrailer,
  CHECKPOINT_AUDIENCE,
  CHECKPOINT_CONTENT_TYPE,
  CHECKPOINT_REASONS,
  CHECKPOINT_TOKEN_SECONDS,
  CheckpointClaims,
  type CheckpointPaths,
  CheckpointReason,
  CheckpointTrailer,
  NAMED_PATHS,
  RestoredCheckpoint,
  RestoreQuery,
} from './checkpoints.js';
export { EarlierConfirmation, EarlierRunSettings } from './earlier-settings.js';
export {
  MAX_CONVERSATION_MCP_SERVERS,
  MAX_MCP_DESCRIPTION,
  MAX_MCP_SCHEMA,
  MAX_MCP_TOOLS,
  MAX_TOOL_NAME,
  McpAuth,
  McpCallRequest,
  McpCallResponse,
  McpConfig,
  McpProgressResponse,
  McpServerConfig,
  McpServerState,
  McpServersRequest,
  McpServersUpdate,
  McpTestRequest,
  McpTestResponse,
  McpTool,
  McpToolsResponse,
} from './mcp.js';
export { AGENT_ROUTES, type AgentRouteName } from './routes.js';
