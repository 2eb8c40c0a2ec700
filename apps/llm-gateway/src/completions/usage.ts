/** What one call used. `cachedTokens` are part of `promptTokens`. */
export interface Usage {
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly cachedTokens: number;
}

export const NO_USAGE: Usage = { promptTokens: 0, completionTokens: 0, cachedTokens: 0 };

/** Characters or bytes of text a token, where nobody has counted: OpenAI's own rule of thumb for English. */
const CHARACTERS_PER_TOKEN = 4;
/** What an `integer` column holds. */
const MAX_TOKENS = 2_147_483_647;

export function estimateTokens(characters: number): number {
  return Math.ceil(characters / CHARACTERS_PER_TOKEN);
}

/** The `usage` object of a completion in the dialects of OpenAI, DeepSeek and LiteLLM; `null` when it counts nothing. */
export function usageOf(value: unknown): Usage | null {
  if (typeof value !== 'object' || value === null) return null;
  const usage = value as Record<string, unknown>;
  if (typeof usage['prompt_tokens'] !== 'number' && typeof usage['completion_tokens'] !== 'number') return null;
  const details = usage['prompt_tokens_details'];
  const promptTokens = count(usage['prompt_tokens']);
  const cached =
    (typeof details === 'object' && details !== null ? count((details as Record<string, unknown>)['cached_tokens']) : 0) ||
    count(usage['prompt_cache_hit_tokens']) ||
    count(usage['cache_read_input_tokens']);
  return { promptTokens, completionTokens: count(usage['completion_tokens']), cachedTokens: Math.min(cached, promptTokens) };
}

function count(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) ? Math.min(MAX_TOKENS, Math.max(0, Math.round(value))) : 0;
}
