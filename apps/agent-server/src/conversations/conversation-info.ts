import { listedStats } from '@slipway/agent';
import type { ConversationInfo } from '@slipway/contracts/agent';
import type { ConfirmationSettings } from '@slipway/contracts/conversations';
import type { ConversationEvent } from '@slipway/contracts/events';
import { lastStatus } from '@slipway/domain';
import type { ConversationMeta } from '../settings/conversation-settings.js';

export interface InfoParts {
  readonly confirmation: ConfirmationSettings;
  readonly directory: string;
  readonly outbox: object | null;
}

/** A conversation as `GET /api/conversations/{id}` answers it. The model's key is never in it. */
export function conversationInfo(
  meta: ConversationMeta,
  events: readonly ConversationEvent[],
  { confirmation: { policy, analyzer }, directory, outbox }: InfoParts,
): ConversationInfo {
  return {
    id: meta.id,
    execution_status: lastStatus(events),
    workspace: { working_dir: meta.working_dir, kind: 'LocalWorkspace' },
    ...UNUSED,
    ...meta.handed_back,
    agent: agentOf(meta),
    persistence_dir: directory,
    stats: listedStats(events),
    max_iterations: meta.max_iterations,
    stuck_detection: meta.stuck_detection,
    confirmation_policy: policy,
    security_analyzer: analyzer,
    activated_knowledge_skills: activatedSkills(events),
    last_user_message_id:
      events.findLast((event) => event.kind === 'MessageEvent' && event.source === 'user')?.id ?? null,
    leaf_event_id: events.at(-1)?.id ?? null,
    title: meta.title,
    tags: meta.tags,
    created_at: meta.created_at,
    updated_at: events.at(-1)?.timestamp ?? meta.created_at,
    ...(outbox === null ? {} : { slipway: outbox }),
  };
}

/** Fields that OpenHands' clients read, and that are always empty here. */
const UNUSED = {
  invoked_skills: [],
  blocked_actions: {},
  blocked_messages: {},
  secret_registry: { secret_sources: {} },
  agent_state: {},
  hook_config: null,
  client_tools: [],
  tool_module_qualnames: {},
  metrics: null,
  forked_from_conversation_id: null,
  forked_from_event_id: null,
  parent_conversation_id: null,
  sub_conversation_ids: [],
  current_model_id: null,
  available_models: [],
};

/** The agent of the start, with the model that it has now. Its key is never in it. */
function agentOf(meta: ConversationMeta): object {
  const { kind = 'Agent', llm, ...agent } = (meta.handed_back['agent'] ?? {}) as Record<string, unknown>;
  return {
    kind,
    ...agent,
    // No start signs in to a model with a subscription, but a client gets its own value back.
    llm: {
      usage_id: 'agent',
      is_subscription: false,
      ...(llm as object | undefined),
      model: meta.model,
      base_url: meta.base_url,
      api_key: '**********',
    },
  };
}

function activatedSkills(events: readonly ConversationEvent[]): string[] {
  return [...new Set(events.flatMap((event) => (event.kind === 'MessageEvent' ? (event.activated_skills ?? []) : [])))];
}
