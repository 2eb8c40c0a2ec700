import { listedStats, textOf } from '@slipway/agent';
import type { ConfirmationSettings, ConversationEvent, ConversationInfo } from '@slipway/contracts';
import { lastStatus } from '@slipway/domain';
import type { ConversationMeta } from './conversation-settings.js';

const TOOL_NAMES = ['terminal', 'file_editor', 'task_tracker'];

/** A conversation as `GET /api/conversations/{id}` answers it. The model's key is never in it. */
export function conversationInfo(
  meta: ConversationMeta,
  events: readonly ConversationEvent[],
  { policy, analyzer }: ConfirmationSettings,
  outbox: object | null,
): ConversationInfo {
  return {
    id: meta.id,
    execution_status: lastStatus(events),
    workspace: { working_dir: meta.working_dir, kind: 'LocalWorkspace' },
    agent: {
      kind: 'Agent',
      llm: { model: meta.model, base_url: meta.base_url, api_key: '**********', usage_id: 'agent' },
      tools: TOOL_NAMES.map((name) => ({ name, params: {} })),
      include_default_tools: ['FinishTool', 'ThinkTool'],
    },
    stats: listedStats(events),
    max_iterations: meta.max_iterations,
    stuck_detection: meta.stuck_detection,
    confirmation_policy: policy,
    security_analyzer: analyzer,
    title: null,
    tags: meta.tags,
    created_at: meta.created_at,
    updated_at: events.at(-1)?.timestamp ?? meta.created_at,
    ...(outbox === null ? {} : { slipway: outbox }),
  };
}

/** What the agent said last: the message of its `finish`, or its last plain answer. Empty when it has said nothing. */
export function finalResponse(events: readonly ConversationEvent[]): string {
  const last = events.findLast(
    (event) => (event.kind === 'MessageEvent' && event.source === 'agent') || (event.kind === 'ActionEvent' && event.action.kind === 'FinishAction'),
  );
  if (last?.kind === 'MessageEvent') return textOf(last.llm_message.content);
  return last?.kind === 'ActionEvent' ? String(last.action['message'] ?? '') : '';
}
