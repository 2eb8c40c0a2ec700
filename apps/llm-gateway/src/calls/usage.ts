/**
 * What one call used. `cachedTokens` and `cacheWriteTokens` are parts of `promptTokens`, `reasoningTokens` of
 * `completionTokens`.
 */
export interface Usage {
  readonly promptTokens: number;
  readonly completionTokens: number;
  /** Read from the provider's cache. */
  readonly cachedTokens: number;
  /** Written into the provider's cache; Anthropic asks more for them. */
  readonly cacheWriteTokens: number;
  /** The part of `cacheWriteTokens` that is kept for an hour: Anthropic asks more still. Absent: none. */
  readonly cacheWriteHourTokens?: number;
  readonly reasoningTokens: number;
  /** Searches of the provider's own tool, which have a price of their own. Absent: none. */
  readonly webSearches?: number;
}

export const NO_USAGE: Usage = {
  promptTokens: 0,
  completionTokens: 0,
  cachedTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
};

/** Characters or bytes of text a token, without a count: OpenAI's own rule of thumb for English. */
export const CHARACTERS_PER_TOKEN = 4;
/** What an `integer` column holds. */
export const MAX_TOKENS = 2_147_483_647;

export function estimateTokens(characters: number): number {
  return Math.ceil(characters / CHARACTERS_PER_TOKEN);
}

/**
 * The `usage` object of a completion in the dialects of OpenAI, DeepSeek and LiteLLM; `null` when it counts nothing.
 */
export function usageOf(value: unknown): Usage | null {
  if (typeof value !== 'object' || value === null) return null;
  const usage = value as Record<string, unknown>;
  if (typeof usage['prompt_tokens'] !== 'number' && typeof usage['completion_tokens'] !== 'number') return null;
  const details = usage['prompt_tokens_details'];
  const promptTokens = count(usage['prompt_tokens']);
  const cached =
    (typeof details === 'object' && details !== null
      ? count((details as Record<string, unknown>)['cached_tokens'])
      : 0) ||
    count(usage['prompt_cache_hit_tokens']) ||
    count(usage['cache_read_input_tokens']);
  const written =
    count((details as { cache_creation_tokens?: unknown } | null | undefined)?.cache_creation_tokens) ||
    count(usage['cache_creation_input_tokens']);
  const completionTokens = count(usage['completion_tokens']);
  const reasoning = count(
    (usage['completion_tokens_details'] as { reasoning_tokens?: unknown } | null | undefined)?.reasoning_tokens,
  );
  const cachedTokens = Math.min(cached, promptTokens);
  return {
    promptTokens,
    completionTokens,
    cachedTokens,
    cacheWriteTokens: Math.min(written, promptTokens - cachedTokens),
    reasoningTokens: Math.min(reasoning, completionTokens),
  };
}

function count(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? Math.min(MAX_TOKENS, Math.max(0, Math.round(value))) : 0;
}
