import type { ConversationEvent } from '@slipway/contracts/events';
import type { ChatMessage, CompletionRequest } from '@slipway/llm';
import { latestCall } from '../stats.js';

/**
 * Bytes of UTF-8 a token, about: code has more tokens for its length than prose, and scripts with three bytes a letter
 * have about one a letter.
 */
const BYTES_A_TOKEN = 3.5;
/** What a message costs besides its text. Tokens. */
const OVERHEAD = 6;
/** What a picture costs, about: providers charge by its size, few more than this. Tokens. */
const PICTURE = 1_500;

export function tokensOfText(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES_A_TOKEN);
}

export function tokensOfMessages(messages: readonly ChatMessage[]): number {
  let sum = 0;
  for (const message of messages) {
    sum += OVERHEAD + tokensOfText(message.content ?? '');
    if (message.role === 'tool') sum += (message.images?.length ?? 0) * PICTURE;
    if (message.role === 'assistant')
      for (const call of message.toolCalls) sum += OVERHEAD + tokensOfText(call.name) + tokensOfText(call.arguments);
  }
  return sum;
}

/**
 * How long the next prompt will be, about. Where the model has counted the last one, its own number counts for that
 * part: what came after its answer is estimated by length.
 */
export function promptTokens(events: readonly ConversationEvent[], request: CompletionRequest): number {
  const byLength = tokensOfMessages(request.messages) + tokensOfText(JSON.stringify(request.tools));
  const from = events.findLastIndex((event) => latestCall(event)?.usage_id === 'agent');
  const counted = from === -1 ? null : latestCall(events[from] as ConversationEvent);
  // After a condensation the last prompt says nothing of the next.
  if (
    counted === null ||
    counted.token_usage.prompt_tokens === 0 ||
    events.slice(from).some((event) => event.kind === 'Condensation')
  )
    return byLength;
  const answer = request.messages.findLastIndex(({ role }) => role === 'assistant');
  const since = request.messages.slice(answer + 1);
  return counted.token_usage.prompt_tokens + counted.token_usage.completion_tokens + tokensOfMessages(since);
}
