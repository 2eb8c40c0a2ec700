import { z } from 'zod';
import { SecurityRisk } from '../conversations/confirmation.js';
import { HOOK_TYPES } from './hooks.js';

export const EventSource = z.enum(['user', 'agent', 'environment', 'hook']);

/** Fields of every event. `timestamp` is UTC with `Z`. `parent_id` is OpenHands' tree link; absent on a line's root. */
const base = z.looseObject({
  id: z.uuid(),
  timestamp: z.iso.datetime(),
  source: EventSource,
  parent_id: z.uuid().optional(),
});

export const TextContent = z.looseObject({ type: z.literal('text'), text: z.string() });
export type TextContent = z.infer<typeof TextContent>;

/** Pictures as data URLs. */
export const ImageContent = z.looseObject({ type: z.literal('image'), image_urls: z.array(z.string()) });
export type ImageContent = z.infer<typeof ImageContent>;
export const ObservationContent = z.discriminatedUnion('type', [TextContent, ImageContent]);
export type ObservationContent = z.infer<typeof ObservationContent>;

/** The text among the parts. */
export function textOfContent(content: readonly ObservationContent[]): string {
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

/** A file of a user's message. `path` is where it lies in the sandbox, `media_type` what its content says. */
export const MessageAttachment = z.looseObject({
  id: z.uuid(),
  name: z.string().max(300),
  media_type: z.string().max(200),
  size_bytes: z.int().nonnegative(),
  path: z.string().max(4_000),
});
export type MessageAttachment = z.infer<typeof MessageAttachment>;

export const EXECUTION_STATUSES = [
  'idle',
  'running',
  'paused',
  'waiting_for_confirmation',
  'finished',
  'error',
  'stuck',
  'deleting',
] as const;
export type ExecutionStatus = (typeof EXECUTION_STATUSES)[number];

/** Why a conversation stopped with an error, in OpenHands' classes. */
export const ErrorClassification = z.looseObject({
  kind: z.enum(['auth', 'quota', 'rate_limit', 'config', 'transient', 'agent_action', 'internal', 'unknown']),
  retryable: z.boolean(),
  user_action: z.enum(['none', 'retry', 'settings']),
  error_id: z.string().optional(),
});

/**
 * One entry of a conversation, in OpenHands' kinds and fields, so that its clients read it.
 * Add a kind here and the compiler lists every place to teach it.
 */
export const ConversationEvent = z.discriminatedUnion('kind', [
  base.extend({ kind: z.literal('SystemPromptEvent'), system_prompt: TextContent, tools: z.array(z.unknown()) }),
  base.extend({
    kind: z.literal('MessageEvent'),
    llm_message: z.looseObject({ role: z.enum(['user', 'assistant']), content: z.array(TextContent) }),
    /** Joins the durable message to the deltas that announced it. */
    llm_response_id: z.string().optional(),
    sender: z.string().optional(),
    /** User or service account behind `sender`, as the app or sandbox-gateway named it; never what a client claims. */
    sender_id: z.string().optional(),
    /** Files that came with it, as they lie in the workspace. Absent: none. */
    attachments: z.array(MessageAttachment).optional(),
    /** Skills whose trigger was in the message; their text for the model is `extended_content`. */
    activated_skills: z.array(z.string()).optional(),
    extended_content: z.array(TextContent).optional(),
  }),
  base.extend({
    kind: z.literal('ActionEvent'),
    thought: z.array(TextContent),
    reasoning_content: z.string().optional(),
    action: z.looseObject({ kind: z.string() }),
    tool_name: z.string(),
    tool_call_id: z.string(),
    tool_call: z.looseObject({ id: z.string(), name: z.string(), arguments: z.string() }),
    llm_response_id: z.string(),
    security_risk: SecurityRisk,
    summary: z.string().optional(),
  }),
  base.extend({
    kind: z.literal('ObservationEvent'),
    action_id: z.uuid(),
    tool_name: z.string(),
    tool_call_id: z.string(),
    observation: z.looseObject({ kind: z.string(), content: z.array(ObservationContent), is_error: z.boolean() }),
    /** What a hook says of it to the model, and the skills of the files that it was about. */
    extended_content: z.array(TextContent).optional(),
    activated_skills: z.array(z.string()).optional(),
  }),
  /** A user or a hook rejected the action. */
  base.extend({
    kind: z.literal('UserRejectObservation'),
    action_id: z.uuid(),
    tool_name: z.string(),
    tool_call_id: z.string(),
    rejection_reason: z.string(),
    rejection_source: z.enum(['user', 'hook']),
  }),
  /** What the analyzer said of actions that are about to happen; `risks` and `details` by action id. */
  base.extend({
    kind: z.literal('SecurityAnalysisEvent'),
    analyzer: z.string(),
    policy: z.string(),
    risks: z.record(z.string(), SecurityRisk),
    details: z.record(z.string(), z.looseObject({ reasons: z.array(z.string()), asks: z.boolean() })),
  }),
  base.extend({
    kind: z.literal('AgentErrorEvent'),
    tool_name: z.string(),
    tool_call_id: z.string(),
    error: z.string(),
  }),
  base.extend({
    kind: z.literal('ConversationErrorEvent'),
    code: z.string(),
    detail: z.string(),
    classification: ErrorClassification.optional(),
    /** OpenHands' RuntimeStatus (`RUNTIME_STATUS_NAMES`) of the failure; absent where the run only paused. */
    runtime_status: z.string().optional(),
  }),
  /** As it is stored and forwarded, whatever its key. `stateUpdateOf` reads it as one of `STATE_UPDATES`. */
  base.extend({ kind: z.literal('ConversationStateUpdateEvent'), key: z.string(), value: z.unknown() }),
  /** A command that was asked at a certain moment, and what it said. */
  base.extend({
    kind: z.literal('HookExecutionEvent'),
    hook_event_type: z.enum(HOOK_TYPES),
    hook_command: z.string(),
    tool_name: z.string().nullish(),
    success: z.boolean(),
    /** It refused what was about to happen; `reason` says why. */
    blocked: z.boolean(),
    exit_code: z.int(),
    stdout: z.string(),
    stderr: z.string(),
    reason: z.string().nullish(),
    additional_context: z.string().nullish(),
    error: z.string().nullish(),
    action_id: z.string().nullish(),
    message_id: z.string().nullish(),
  }),
  /** A request to condense the model's view of the conversation. */
  base.extend({ kind: z.literal('CondensationRequest') }),
  /**
   * From here on the model does not see the events that are named; they stay in the log. `summary` stands for them,
   * after `summary_offset` of the events that it still sees. `llm_response_id` is empty where no model made the
   * summary.
   */
  base.extend({
    kind: z.literal('Condensation'),
    forgotten_event_ids: z.array(z.string()),
    summary: z.string().nullish(),
    summary_offset: z.int().nonnegative().nullish(),
    llm_response_id: z.string(),
  }),
  /** The run was paused at a step's end. */
  base.extend({ kind: z.literal('PauseEvent') }),
  /** The run was stopped at once: the model call aborted, the process group killed. */
  base.extend({ kind: z.literal('InterruptEvent') }),
]);
export type ConversationEvent = z.infer<typeof ConversationEvent>;
export type EventKind = ConversationEvent['kind'];
export const EVENT_KINDS: readonly EventKind[] = ConversationEvent.options.map((option) => option.shape.kind.value);
export type EventOf<K extends EventKind> = Extract<ConversationEvent, { kind: K }>;

/**
 * One line of a conversation's log. `seq` is given at commit under the conversation's row lock: it starts at 1 and has
 * no gaps. `epoch` is the lease generation of the writer.
 */
export const LoggedEvent = z.object({
  conversationId: z.uuid(),
  epoch: z.int().nonnegative(),
  seq: z.int().positive(),
  event: ConversationEvent,
});
export type LoggedEvent = z.infer<typeof LoggedEvent>;

/**
 * A piece of text that the model is still writing, or that a tool reports while it works. Never stored: the durable
 * event with the same `llm_response_id` replaces it, and the observation of the action with this id.
 */
export const StreamingDelta = z.object({
  responseId: z.string(),
  /** `progress` is a tool's. */
  channel: z.enum(['content', 'reasoning', 'progress']),
  /**
   * Where `text` begins in the whole text so far, in UTF-16 code units: a receiver that misses one waits for the
   * durable event.
   */
  offset: z.int().nonnegative(),
  text: z.string(),
});
export type StreamingDelta = z.infer<typeof StreamingDelta>;

/**
 * Tokens of one call, or of many together. `per_turn_token` and `response_id` are of the last one. 0 is unknown for
 * `context_window`.
 */
export const TokenUsage = z.looseObject({
  model: z.string(),
  prompt_tokens: z.int(),
  completion_tokens: z.int(),
  cache_read_tokens: z.int(),
  cache_write_tokens: z.int(),
  reasoning_tokens: z.int(),
  context_window: z.int(),
  per_turn_token: z.int(),
  response_id: z.string(),
});
export type TokenUsage = z.infer<typeof TokenUsage>;

/** What one usage (agent, condenser, ask-agent, title, task:<kind of sub-agent>) cost so far. US dollars. */
export const UsageMetrics = z.looseObject({
  model_name: z.string(),
  accumulated_cost: z.number(),
  max_budget_per_task: z.number().nullish(),
  accumulated_token_usage: TokenUsage.nullable(),
});
export type UsageMetrics = z.infer<typeof UsageMetrics>;

/** One call of a model. `latency` and `timestamp` in seconds, `cost` in US dollars. */
export const CallMetrics = z.looseObject({
  usage_id: z.string(),
  cost: z.number(),
  latency: z.number(),
  timestamp: z.number(),
  token_usage: TokenUsage,
});
export type CallMetrics = z.infer<typeof CallMetrics>;

/**
 * Usage and cost so far, the value of a state update with key `stats`: all usages together, each by itself, and the
 * call that brought this update.
 */
export const ConversationStats = z.looseObject({
  accumulated_cost: z.number(),
  prompt_tokens: z.int(),
  completion_tokens: z.int(),
  model: z.string(),
  usage_to_metrics: z.record(z.string(), UsageMetrics).optional(),
  latest: CallMetrics.optional(),
});
export type ConversationStats = z.infer<typeof ConversationStats>;

export function assertNever(value: never): never {
  throw new Error(`unhandled variant: ${JSON.stringify(value)}`);
}

/** A stretch of a log. */
export const EventPage = z.object({
  data: z.array(LoggedEvent),
  page: z.object({ head: z.int().nonnegative(), nextAfter: z.int().nonnegative().nullable() }),
});
export type EventPage = z.infer<typeof EventPage>;
