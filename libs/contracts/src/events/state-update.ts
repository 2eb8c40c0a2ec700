import { z } from 'zod';
import { SubAgentEvent } from '../actions/sub-agents.js';
import { CapturedCheckpoint } from '../agent/checkpoints.js';
import { McpServersUpdate } from '../agent/mcp.js';
import { ConfirmationAnswer, ConfirmationSettings } from '../conversations/confirmation.js';
import { SandboxStatus } from '../conversations/conversations.js';
import { ConversationRunSettings } from '../conversations/run-settings.js';
import { LlmRetry } from '../conversations/runtime-status.js';
import { StartStep, WorkspaceState } from '../conversations/start-task.js';
import { PullRequest } from '../repositories/pull-requests.js';
import { EgressRequest } from '../sandboxes/egress-rules.js';
import { type ConversationEvent, ConversationStats, type EventOf, EXECUTION_STATUSES } from './conversation-event.js';

/** Value of each state update, by its key. A new key is a line here. */
export const STATE_UPDATES = {
  execution_status: z.enum(EXECUTION_STATUSES),
  sandbox_status: SandboxStatus,
  start_task: StartStep,
  /** What became of the files of a sandbox that was given back. */
  workspace: WorkspaceState,
  title: z.string(),
  /** A model, or `profile/<name>`. */
  model: z.string(),
  run_settings: ConversationRunSettings,
  /** `run_settings` in logs of before 0.1.0. */
  terms: ConversationRunSettings,
  confirmation_settings: ConfirmationSettings,
  /** An answer to what the agent asked. */
  confirmation: ConfirmationAnswer,
  /** Id of the message up to which the agent has taken in what users wrote. */
  last_user_message_id: z.string(),
  stats: ConversationStats,
  llm_retry: LlmRetry,
  mcp_servers: McpServersUpdate,
  /** An event of a sub-agent's own log. */
  sub_agent: SubAgentEvent,
  pull_request: PullRequest,
  /** A host that the sandbox asked for. What counts is `GET …/egress-requests`: a sandbox writes its own log. */
  egress_request: EgressRequest,
  /** First event of a fork behind the log that it shares. */
  forked: z.object({ conversation: z.uuid(), seq: z.int().positive(), checkpoint: z.uuid() }),
  /** The sandbox has captured its files. */
  checkpoint: CapturedCheckpoint,
} as const;
export type StateKey = keyof typeof STATE_UPDATES;
type StateValues = { readonly [K in StateKey]: z.infer<(typeof STATE_UPDATES)[K]> };
export type StateValue<K extends StateKey> = StateValues[K];

/** What a `ConversationStateUpdateEvent` says, a discriminated union: its value is typed by its key. */
export type StateUpdate<K extends StateKey = StateKey> = {
  [Each in K]: { readonly key: Each; readonly value: StateValues[Each] };
}[K];

const SCHEMAS: { readonly [K in StateKey]: z.ZodType<StateValues[K]> } = STATE_UPDATES;

/**
 * The update that an event is; `null` for another kind of event, a key that this release does not know, and a value
 * that is not its key's. Such an event is stored and forwarded as `{ key, value }` and means nothing here.
 */
export function stateUpdateOf(event: ConversationEvent): StateUpdate | null {
  return event.kind === 'ConversationStateUpdateEvent' && isStateKey(event.key) ? read(event.key, event.value) : null;
}

/** The value of an event that is an update of this key; `undefined` for any other. Cheap for other keys. */
export function stateValueOf<K extends StateKey>(event: ConversationEvent, key: K): StateValues[K] | undefined {
  return isUpdateOf(event, key) ? read(key, event.value)?.value : undefined;
}

/** The value of the last update of this key in a log; `undefined` where there is none, or it is not the key's. */
export function lastStateValue<K extends StateKey>(
  events: readonly ConversationEvent[],
  key: K,
): StateValues[K] | undefined {
  const last = events.findLast((event) => isUpdateOf(event, key));
  return last === undefined ? undefined : stateValueOf(last, key);
}

/** Whether it is an update of this key, whatever its value. */
export function isUpdateOf(event: ConversationEvent, key: StateKey): event is EventOf<'ConversationStateUpdateEvent'> {
  return event.kind === 'ConversationStateUpdateEvent' && event.key === key;
}

function isStateKey(key: string): key is StateKey {
  return Object.hasOwn(STATE_UPDATES, key);
}

function read<K extends StateKey>(key: K, value: unknown): StateUpdate<K> | null {
  const parsed = SCHEMAS[key].safeParse(value);
  return parsed.success ? { key, value: parsed.data } : null;
}
