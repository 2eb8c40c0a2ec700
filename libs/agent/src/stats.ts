import {
  type CallMetrics,
  type ConversationEvent,
  type ConversationStats,
  lastStateValue,
  stateValueOf,
  type TokenUsage,
  type UsageMetrics,
} from '@slipway/contracts/events';
import { type Completion, factsOf } from '@slipway/llm';

const ZERO: ConversationStats = { accumulated_cost: 0, prompt_tokens: 0, completion_tokens: 0, model: '' };
/** Calls of one usage that are listed, the latest. */
const MAX_LISTED = 100;

/** Usage and cost so far, as last recorded in the log. */
export function lastStats(events: readonly ConversationEvent[]): ConversationStats {
  return lastStateValue(events, 'stats') ?? ZERO;
}

/** Id of the call in a state update; `null` for every other event, and for updates of logs without ids. */
export function latestCall(event: ConversationEvent): CallMetrics | null {
  return stateValueOf(event, 'stats')?.latest ?? null;
}

export interface CountedCall {
  readonly usageId: string;
  readonly model: string;
  readonly completion: Completion;
  /** US dollars. */
  readonly cost: number;
  /** Time from the request to the end of the answer. Milliseconds. */
  readonly latencyMs: number;
  readonly at: Date;
  readonly contextWindow: number | null;
}

/**
 * What a conversation used, kept as the log's last word on it and one step ahead: calls that end at the same time (a
 * question beside the task) each count. Whoever adds puts the result into the log.
 */
export class StatsBook {
  constructor(private current: ConversationStats = ZERO) {}

  get value(): ConversationStats {
    return this.current;
  }

  add(call: CountedCall): ConversationStats {
    const { usageId, model, cost } = call;
    const latest = callMetrics(call);
    const before = this.current.usage_to_metrics?.[usageId];
    this.current = {
      accumulated_cost: this.current.accumulated_cost + cost,
      prompt_tokens: this.current.prompt_tokens + latest.token_usage.prompt_tokens,
      completion_tokens: this.current.completion_tokens + latest.token_usage.completion_tokens,
      model: usageId === 'agent' || this.current.model === '' ? model : this.current.model,
      usage_to_metrics: {
        ...this.current.usage_to_metrics,
        [usageId]: {
          model_name: model,
          accumulated_cost: (before?.accumulated_cost ?? 0) + cost,
          max_budget_per_task: null,
          accumulated_token_usage: sum(before?.accumulated_token_usage ?? null, latest.token_usage),
        },
      },
      latest,
    };
    return this.current;
  }
}

/** As OpenHands answers it: each usage with its last calls. `service_to_metrics` is the seeds' name for the same. */
export function listedStats(events: readonly ConversationEvent[]): ConversationStats {
  const stats = lastStats(events);
  const calls = new Map<string, CallMetrics[]>();
  for (let index = events.length - 1; index >= 0; index -= 1) {
    const call = latestCall(events[index] as ConversationEvent);
    if (call === null) continue;
    const listed = calls.get(call.usage_id) ?? [];
    if (listed.length < MAX_LISTED) calls.set(call.usage_id, [call, ...listed]);
  }
  const metrics = Object.fromEntries(
    Object.entries(stats.usage_to_metrics ?? {}).map(([usageId, each]): [string, UsageMetrics] => {
      const listed = calls.get(usageId) ?? [];
      return [
        usageId,
        {
          ...each,
          costs: listed.map(({ token_usage: { model }, cost, timestamp }) => ({ model, cost, timestamp })),
          response_latencies: listed.map(({ token_usage: { model, response_id }, latency }) => ({
            model,
            latency,
            response_id,
          })),
          token_usages: listed.map(({ token_usage }) => token_usage),
        },
      ];
    }),
  );
  return { ...stats, usage_to_metrics: metrics, service_to_metrics: metrics };
}

function callMetrics({ usageId, model, completion, cost, latencyMs, at, contextWindow }: CountedCall): CallMetrics {
  const { usage } = completion;
  return {
    usage_id: usageId,
    cost,
    latency: latencyMs / 1000,
    timestamp: at.getTime() / 1000,
    token_usage: {
      model,
      prompt_tokens: usage.promptTokens,
      completion_tokens: usage.completionTokens,
      cache_read_tokens: usage.cacheReadTokens,
      cache_write_tokens: 0,
      reasoning_tokens: usage.reasoningTokens,
      context_window: contextWindow ?? factsOf(model)?.contextWindow ?? 0,
      per_turn_token: usage.promptTokens + usage.completionTokens,
      response_id: completion.id,
    },
  };
}

function sum(before: TokenUsage | null, call: TokenUsage): TokenUsage {
  if (before === null) return call;
  return {
    ...call,
    prompt_tokens: before.prompt_tokens + call.prompt_tokens,
    completion_tokens: before.completion_tokens + call.completion_tokens,
    cache_read_tokens: before.cache_read_tokens + call.cache_read_tokens,
    cache_write_tokens: before.cache_write_tokens + call.cache_write_tokens,
    reasoning_tokens: before.reasoning_tokens + call.reasoning_tokens,
  };
}
