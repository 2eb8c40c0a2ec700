import { NO_USAGE, type Usage, usageOf } from '../calls/usage.js';
import type { Dialect } from './dialect.js';
import { type JsonObject, listOf, numberOf, objectOf } from './json.js';

/** What an `integer` column holds. */
const MAX_TOKENS = 2_147_483_647;

function count(value: unknown): number {
  return Math.min(MAX_TOKENS, Math.max(0, Math.round(numberOf(value) ?? 0)));
}

function consistent(usage: Usage): Usage {
  const cachedTokens = Math.min(usage.cachedTokens, usage.promptTokens);
  return {
    ...usage,
    cachedTokens,
    cacheWriteTokens: Math.min(usage.cacheWriteTokens, usage.promptTokens - cachedTokens),
    reasoningTokens: Math.min(usage.reasoningTokens, usage.completionTokens),
  };
}

/** The `usage` of Responses; `null` when it counts nothing. */
function usageOfResponses(usage: JsonObject): Usage | null {
  if (typeof usage['input_tokens'] !== 'number' && typeof usage['output_tokens'] !== 'number') return null;
  const input = objectOf(usage['input_tokens_details']);
  return consistent({
    promptTokens: count(usage['input_tokens']),
    completionTokens: count(usage['output_tokens']),
    cachedTokens: count(input?.['cached_tokens']),
    cacheWriteTokens: count(input?.['cache_creation_tokens'] ?? input?.['cache_write_tokens']),
    reasoningTokens: count(objectOf(usage['output_tokens_details'])?.['reasoning_tokens']),
  });
}

/**
 * Anthropic counts what it read from its cache and what it wrote into it beside `input_tokens`, and says its counts
 * twice in a stream: the prompt when it begins, and all that has changed when it ends. `before` is what it said then.
 */
function usageOfMessages(usage: JsonObject, before: Usage | null): Usage | null {
  if (typeof usage['input_tokens'] !== 'number' && typeof usage['output_tokens'] !== 'number') return before;
  const last = before ?? NO_USAGE;
  const reported = (name: string, otherwise: number): number =>
    typeof usage[name] === 'number' ? count(usage[name]) : otherwise;
  const cachedTokens = reported('cache_read_input_tokens', last.cachedTokens);
  const cacheWriteTokens = reported('cache_creation_input_tokens', last.cacheWriteTokens);
  const fresh = reported('input_tokens', last.promptTokens - last.cachedTokens - last.cacheWriteTokens);
  const reasoning = objectOf(usage['output_tokens_details'])?.['thinking_tokens'];
  const forHour = objectOf(usage['cache_creation'])?.['ephemeral_1h_input_tokens'];
  const cacheWriteHourTokens = forHour === undefined ? (last.cacheWriteHourTokens ?? 0) : count(forHour);
  const webSearches = Math.max(
    last.webSearches ?? 0,
    count(objectOf(usage['server_tool_use'])?.['web_search_requests']),
  );
  return consistent({
    promptTokens: Math.min(MAX_TOKENS, fresh + cachedTokens + cacheWriteTokens),
    completionTokens: reported('output_tokens', last.completionTokens),
    cachedTokens,
    cacheWriteTokens,
    ...(cacheWriteHourTokens === 0 ? {} : { cacheWriteHourTokens: Math.min(cacheWriteHourTokens, cacheWriteTokens) }),
    reasoningTokens: reasoning === undefined ? last.reasoningTokens : count(reasoning),
    ...(webSearches === 0 ? {} : { webSearches }),
  });
}

/**
 * The counts of a whole response of Responses, which has its searches in what it put out. Each call of the tool counts,
 * also one that only opened a page.
 */
export function usageOfResponse(response: JsonObject | null, before: Usage | null): Usage | null {
  const usage = readUsage('responses', response?.['usage'], before);
  if (usage === null) return null;
  const calls = listOf(response?.['output']).filter((item) => objectOf(item)?.['type'] === 'web_search_call').length;
  const reported = count(objectOf(objectOf(response?.['tool_usage'])?.['web_search'])?.['num_requests']);
  const webSearches = Math.max(calls, reported);
  return webSearches === 0 ? usage : { ...usage, webSearches };
}

/** A `usage` object in the form of the dialect; `before` when it counts nothing. */
export function readUsage(dialect: Dialect, value: unknown, before: Usage | null): Usage | null {
  const usage = objectOf(value);
  if (usage === null) return before;
  if (dialect === 'messages') return usageOfMessages(usage, before);
  return (dialect === 'responses' ? usageOfResponses(usage) : usageOf(usage)) ?? before;
}

/** The counts in chat's words, with LiteLLM's for what was written into a cache. */
export function chatUsage(usage: Usage): JsonObject {
  return {
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    total_tokens: usage.promptTokens + usage.completionTokens,
    prompt_tokens_details: {
      cached_tokens: usage.cachedTokens,
      ...(usage.cacheWriteTokens === 0 ? {} : { cache_creation_tokens: usage.cacheWriteTokens }),
    },
    completion_tokens_details: { reasoning_tokens: usage.reasoningTokens },
  };
}

export function responsesUsage(usage: Usage): JsonObject {
  return {
    input_tokens: usage.promptTokens,
    input_tokens_details: {
      cached_tokens: usage.cachedTokens,
      ...(usage.cacheWriteTokens === 0 ? {} : { cache_creation_tokens: usage.cacheWriteTokens }),
    },
    output_tokens: usage.completionTokens,
    output_tokens_details: { reasoning_tokens: usage.reasoningTokens },
    total_tokens: usage.promptTokens + usage.completionTokens,
  };
}

export function messagesUsage(usage: Usage): JsonObject {
  const forHour = usage.cacheWriteHourTokens ?? 0;
  return {
    input_tokens: usage.promptTokens - usage.cachedTokens - usage.cacheWriteTokens,
    cache_creation_input_tokens: usage.cacheWriteTokens,
    cache_read_input_tokens: usage.cachedTokens,
    ...(forHour === 0
      ? {}
      : {
          cache_creation: {
            ephemeral_5m_input_tokens: usage.cacheWriteTokens - forHour,
            ephemeral_1h_input_tokens: forHour,
          },
        }),
    output_tokens: usage.completionTokens,
    ...(usage.reasoningTokens === 0 ? {} : { output_tokens_details: { thinking_tokens: usage.reasoningTokens } }),
  };
}
