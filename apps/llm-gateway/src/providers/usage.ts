import { NO_USAGE, type Usage } from '../calls/usage.js';
import { listOf, numberOf, objectOf } from '../wire/json.js';

/** What an `integer` column holds. */
const MAX_TOKENS = 2_147_483_647;

/**
 * `usageMetadata` of Gemini: thoughts are counted beside the answer, what Google's own tools brought beside the prompt.
 * `null` when it counts nothing.
 */
export function usageOfGemini(value: unknown): Usage | null {
  const counts = objectOf(value);
  if (counts === null) return null;
  const reasoningTokens = count(counts['thoughtsTokenCount']);
  const promptTokens = sum(count(counts['promptTokenCount']), count(counts['toolUsePromptTokenCount']));
  const completionTokens = sum(count(counts['candidatesTokenCount']), reasoningTokens);
  return {
    ...NO_USAGE,
    promptTokens,
    completionTokens,
    reasoningTokens,
    cachedTokens: Math.min(promptTokens, count(counts['cachedContentTokenCount'])),
  };
}

/**
 * `usage` of Converse: what was read from the cache and written into it is counted beside the prompt, and reasoning
 * nowhere by itself.
 */
export function usageOfBedrock(value: unknown): Usage | null {
  const counts = objectOf(value);
  if (counts === null) return null;
  const cachedTokens = count(counts['cacheReadInputTokens']);
  const cacheWriteTokens = Math.min(count(counts['cacheWriteInputTokens']), MAX_TOKENS - cachedTokens);
  const promptTokens = sum(count(counts['inputTokens']), cachedTokens + cacheWriteTokens);
  const hours = listOf(counts['cacheDetails']).map((detail) =>
    objectOf(detail)?.['ttl'] === '1h' ? count(objectOf(detail)?.['inputTokens']) : 0,
  );
  const cacheWriteHourTokens = Math.min(
    cacheWriteTokens,
    hours.reduce((one, other) => one + other, 0),
  );
  return {
    ...NO_USAGE,
    promptTokens,
    completionTokens: count(counts['outputTokens']),
    cachedTokens,
    cacheWriteTokens,
    ...(cacheWriteHourTokens === 0 ? {} : { cacheWriteHourTokens }),
  };
}

function count(value: unknown): number {
  return Math.min(MAX_TOKENS, Math.max(0, Math.round(numberOf(value) ?? 0)));
}

function sum(one: number, other: number): number {
  return Math.min(MAX_TOKENS, one + other);
}
