/**
 * The wire formats of callers: OpenAI's chat completions, responses and embeddings, Anthropic's messages. Embeddings
 * pass through, or are asked of a provider in its own format.
 */
export const DIALECTS = ['chat', 'responses', 'messages', 'embeddings'] as const;
export type Dialect = (typeof DIALECTS)[number];
