import type { ConversationEvent, ConversationStats } from '@slipway/contracts';
import type { Completion } from '@slipway/llm';

const ZERO = { accumulated_cost: 0, prompt_tokens: 0, completion_tokens: 0, model: '' };

/** Usage and cost so far, as the log last told it. */
export function lastStats(events: readonly ConversationEvent[]): ConversationStats {
  const last = events.findLast((event) => event.kind === 'ConversationStateUpdateEvent' && event.key === 'stats');
  return last?.kind === 'ConversationStateUpdateEvent' ? (last.value as ConversationStats) : ZERO;
}

/** The value of the state update after one more completion. `usage_to_metrics` says the same in OpenHands' form. */
export function addToStats(stats: ConversationStats, completion: Completion, cost: number, model: string): ConversationStats {
  const before = (stats['usage_to_metrics'] as { agent?: { accumulated_token_usage?: Record<string, number> } } | undefined)?.agent?.accumulated_token_usage;
  const { usage } = completion;
  const total = {
    accumulated_cost: stats.accumulated_cost + cost,
    prompt_tokens: stats.prompt_tokens + usage.promptTokens,
    completion_tokens: stats.completion_tokens + usage.completionTokens,
    model,
  };
  return {
    ...total,
    usage_to_metrics: {
      agent: {
        model_name: model,
        accumulated_cost: total.accumulated_cost,
        accumulated_token_usage: {
          model,
          prompt_tokens: total.prompt_tokens,
          completion_tokens: total.completion_tokens,
          cache_read_tokens: (before?.['cache_read_tokens'] ?? 0) + usage.cacheReadTokens,
          cache_write_tokens: 0,
          reasoning_tokens: (before?.['reasoning_tokens'] ?? 0) + usage.reasoningTokens,
          context_window: 0,
          per_turn_token: usage.promptTokens + usage.completionTokens,
          response_id: completion.id,
        },
      },
    },
  };
}
