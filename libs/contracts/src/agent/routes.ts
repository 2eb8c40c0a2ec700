import { z } from 'zod';
import { RespondToConfirmationRequest, RevokeConfirmationRule } from '../conversations/index.js';
import type { ErrorCode } from '../errors/index.js';
import { BundleRequest, GitCommitsPage, GitRepositories, MarkTurnRequest } from '../repositories/git.js';
import { TurnHunkForAgent } from '../repositories/turn-hunk.js';
import { THROUGH_GATEWAY_HEADER } from '../sandboxes/sandbox-access.js';
import { VscodeUrl } from '../sandboxes/vscode.js';
import { WorkspacePrints } from '../sandboxes/workspace-prints.js';
import type { AgentRoute } from './agent-route.js';
import {
  AskAgentRequest,
  BashOutput,
  ConversationInfo,
  ExecuteBashRequest,
  GitChange,
  SandboxSecrets,
  SendEventRequest,
  StartConversationRequest,
  SwitchLlmRequest,
} from './agent-server.js';
import { AppliedSettings, ApplySettings } from './agent-settings.js';
import { CHARGE_PASS_HEADER } from './callers.js';
import { EARLIER_SETTINGS_ROUTES } from './earlier-settings.js';
import { McpTestRequest, McpTestResponse } from './mcp.js';

const of = '/api/conversations/:id';
const control = '/api/slipway/conversations/:id';
/** Of whatever has a body. */
const BODY = ['request.invalid', 'request.too-large'] as const satisfies readonly ErrorCode[];
/** Failures inside a sandbox that end a start or delay it, in the agent's words. */
const START = [
  'internal.unexpected',
  'sandbox.disk-full',
  'sandbox.tool-unavailable',
  'service.unavailable',
] as const satisfies readonly ErrorCode[];
const MODEL = [
  'agent.budget-limit',
  'budget.exhausted',
  'conversation.busy',
  'conversation.not-running',
  'model.context-exceeded',
  'model.rate-limited',
  'model.timeout',
  'model.unavailable',
] as const satisfies readonly ErrorCode[];
const CONFIRMATION = [
  'conversation.awaits-confirmation',
  'conversation.busy',
  'conversation.four-eyes',
] as const satisfies readonly ErrorCode[];
/** Of a workspace. Against one of three at most: a commit, the beginning of a turn, what a commit did. */
const SIDE = ['path', 'base', 'turn', 'commit'] as const;
const WORKSPACE = [
  'changes.commit-unknown',
  'changes.turn-unknown',
  'file.too-large',
  'repository.not-found',
] as const satisfies readonly ErrorCode[];

/** The routes of agent-server that app-server and worker call. OpenHands' clients have further ones. */
export const AGENT_ROUTES = {
  info: {
    method: 'GET',
    path: '/server_info',
    access: 'open',
    answer: z.object({ person_idle_time: z.number().nullish(), idle_time: z.number().nullish() }),
    refusals: [],
  },

  /** Repeatable: the same conversation with the same or a newer epoch is taken over by the request. */
  startConversation: {
    method: 'POST',
    path: '/api/conversations',
    access: 'session',
    body: StartConversationRequest,
    answer: ConversationInfo,
    refusals: [
      ...BODY,
      ...START,
      'conversation.busy',
      'conversation.exists',
      'ingest.stale-epoch',
      'permission.denied',
    ],
  },
  conversation: { method: 'GET', path: of, access: 'session', answer: ConversationInfo, refusals: [] },
  /** Repeatable: `event_id` again is the same message. */
  sendEvent: {
    method: 'POST',
    path: `${of}/events`,
    access: 'session',
    body: SendEventRequest,
    refusals: [...BODY, ...START, 'conversation.four-eyes', 'ingest.stale-epoch'],
  },
  /** Lets the agent go on; accepts nothing. */
  run: {
    method: 'POST',
    path: `${of}/run`,
    access: 'session',
    // An earlier agent-server takes a run for a yes, but not one with this header under four eyes.
    headers: { [THROUGH_GATEWAY_HEADER]: 'app' },
    refusals: CONFIRMATION,
  },
  /** Halts at the end of the step under way. */
  pause: { method: 'POST', path: `${of}/pause`, access: 'session', refusals: [] },
  /** Halts at once. */
  interrupt: { method: 'POST', path: `${of}/interrupt`, access: 'session', refusals: [] },
  respondToConfirmation: {
    method: 'POST',
    path: `${of}/events/respond_to_confirmation`,
    access: 'session',
    body: RespondToConfirmationRequest,
    /** `answer_id`: the answer's event says who gave it. Absent from an earlier agent-server. */
    answer: z.object({ answer_id: z.string().nullable() }).catch({ answer_id: null }),
    refusals: [...CONFIRMATION, 'conversation.nothing-to-confirm'],
  },
  /** Summarizes earlier steps; when the agent is idle it is done with the answer. */
  condense: {
    method: 'POST',
    path: `${of}/condense`,
    access: 'session',
    optionalHeaders: [CHARGE_PASS_HEADER],
    refusals: MODEL,
  },
  askAgent: {
    method: 'POST',
    path: `${of}/ask_agent`,
    access: 'session',
    optionalHeaders: [CHARGE_PASS_HEADER],
    body: AskAgentRequest,
    answer: z.object({ response: z.string() }),
    refusals: MODEL,
  },

  /**
   * From the agent's next step on. Repeatable; a dry run changes nothing. Settings that the agent refuses are in the
   * answer.
   */
  applySettings: {
    method: 'PUT',
    path: `${control}/settings`,
    access: 'session',
    body: ApplySettings,
    answer: AppliedSettings,
    refusals: ['conversation.busy', 'ingest.stale-epoch'],
  },
  /**
   * Whether the files of this sandbox come from a checkpoint, or have become it; also before the conversation starts.
   */
  knowsCheckpoint: {
    method: 'GET',
    path: `${control}/checkpoints/:checkpoint`,
    access: 'session',
    answer: z.object({ known: z.boolean() }),
    refusals: ['request.invalid'],
  },
  /** The agent asks again. */
  revokeRule: {
    method: 'POST',
    path: `${control}/revoke_rule`,
    access: 'session',
    body: RevokeConfirmationRule,
    refusals: [],
  },
  /** Repeatable: `event_id` again changes nothing. Refused while the agent works. */
  turnHunk: {
    method: 'POST',
    path: `${control}/turn_hunk`,
    access: 'session',
    body: TurnHunkForAgent,
    refusals: [
      ...BODY,
      ...START,
      'changes.moved',
      'conversation.busy',
      'file.too-large',
      'ingest.stale-epoch',
      'permission.denied',
      'repository.not-found',
    ],
  },
  switchLlm: {
    method: 'POST',
    path: `${of}/switch_llm`,
    access: 'session',
    body: SwitchLlmRequest,
    refusals: ['ingest.stale-epoch'],
  },
  ...EARLIER_SETTINGS_ROUTES,

  /** What commands and tool servers may use, in place of what there was. Repeatable. */
  setSecrets: {
    method: 'POST',
    path: '/api/slipway/secrets',
    access: 'session',
    body: SandboxSecrets,
    refusals: [...BODY, ...START],
  },
  /** Writes the body to a file of the workspace, which appears whole or not at all. Repeatable. */
  uploadFile: {
    method: 'POST',
    path: '/api/file/upload',
    access: 'session',
    query: ['path'],
    refusals: ['file.outside-workspace', 'request.invalid', ...START],
  },
  /** Runs one command beside the agent's shell. Closing the request kills it. */
  runCommand: {
    method: 'POST',
    path: '/api/bash/execute_bash_command',
    access: 'session',
    body: ExecuteBashRequest,
    answer: BashOutput,
    refusals: [...BODY, ...START],
  },
  /** Reaches a tool server once, from inside of the sandbox. */
  testMcpServer: {
    method: 'POST',
    path: '/api/mcp/test',
    access: 'session',
    body: McpTestRequest,
    answer: McpTestResponse,
    refusals: [],
  },
  /** Starts VS Code where the image has it. */
  editor: {
    method: 'GET',
    path: '/api/vscode/url',
    access: 'session',
    query: ['workspace_dir'],
    answer: VscodeUrl,
    refusals: [],
  },

  changes: {
    method: 'GET',
    path: '/api/git/changes',
    access: 'session',
    query: [...SIDE, 'folder', 'at_most'],
    answer: z.array(GitChange),
    refusals: WORKSPACE,
  },
  /** A patch for `git apply`; of one file when it is named. */
  patch: {
    method: 'GET',
    path: '/api/git/patch',
    access: 'session',
    query: [...SIDE, 'file', 'max_bytes'],
    refusals: WORKSPACE,
  },
  /** Remembers what the repositories hold now under a name, as the beginning of a turn is. */
  markLook: {
    method: 'POST',
    path: '/api/git/mark',
    access: 'session',
    body: MarkTurnRequest,
    answer: z.object({ marked: z.int() }),
    refusals: [...BODY, ...START],
  },
  commits: {
    method: 'GET',
    path: '/api/git/commits',
    access: 'session',
    query: [...SIDE, 'limit', 'page_id'],
    answer: GitCommitsPage,
    refusals: WORKSPACE,
  },
  repositories: {
    method: 'GET',
    path: '/api/git/repositories',
    access: 'session',
    query: ['path'],
    answer: GitRepositories,
    refusals: WORKSPACE,
  },
  /** Of the text of the workspace, below a folder of it. */
  fingerprints: {
    method: 'GET',
    path: '/api/file/fingerprints',
    access: 'session',
    query: ['path'],
    answer: WorkspacePrints,
    refusals: WORKSPACE,
  },
  /**
   * A git bundle of what a branch has since `base`, with what is not committed on top. Bytes of the sandbox: anything.
   */
  bundle: {
    method: 'POST',
    path: '/api/git/bundle',
    access: 'session',
    body: BundleRequest,
    refusals: [
      ...BODY,
      ...WORKSPACE,
      'pull-request.nothing-new',
      'pull-request.too-large',
      'pull-request.unsound',
      'sandbox.tool-unavailable',
    ],
  },
} as const satisfies Readonly<Record<string, AgentRoute>>;
export type AgentRouteName = keyof typeof AGENT_ROUTES;
