/** OpenAI's chat-completions shapes, as far as Slipway reads and writes them. */

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** As the model wrote them: may be anything but JSON. */
  readonly arguments: string;
}

export type ChatMessage =
  | { readonly role: 'system' | 'user'; readonly content: string }
  | { readonly role: 'assistant'; readonly content: string | null; readonly toolCalls: readonly ToolCall[] }
  /** `images`: what the tool showed beside its text, as data URLs. */
  | { readonly role: 'tool'; readonly toolCallId: string; readonly content: string; readonly images?: readonly string[] };

export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  /** A JSON schema of an object. */
  readonly parameters: Readonly<Record<string, unknown>>;
}

export interface CompletionUsage {
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly cacheReadTokens: number;
  readonly reasoningTokens: number;
  /** US dollars when the gateway says what the call cost; else `null`. */
  readonly costUsd: number | null;
}

export interface Completion {
  /** The provider's id of this response, or one of ours when it sent none. */
  readonly id: string;
  readonly model: string;
  readonly content: string;
  readonly reasoning: string;
  readonly toolCalls: readonly ToolCall[];
  readonly finishReason: string | null;
  readonly usage: CompletionUsage;
}

export interface CompletionRequest {
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly ToolDefinition[];
}

export interface CompletionDelta {
  readonly responseId: string;
  readonly channel: 'content' | 'reasoning';
  /** Where `text` begins in the whole text so far. UTF-16 code units. */
  readonly offset: number;
  readonly text: string;
}

export interface CompletionOptions {
  /** Aborting ends the call at once; the promise then rejects with the signal's reason. */
  readonly signal: AbortSignal;
  readonly onDelta?: (delta: CompletionDelta) => void;
  readonly traceparent?: string;
}

/** Most pictures of one request: the newest. Each is sent again with every step, and providers have limits. */
const MAX_PICTURES = 6;

/**
 * The request's `messages` and `tools` on the wire. Pictures of tools follow the results of a step as a message of the user's: that is where the shape has room for them.
 * @param seesPictures only then are they sent: a model that reads text alone refuses the whole request.
 */
export function toWire(request: CompletionRequest, seesPictures = false): Record<string, unknown> {
  const messages: unknown[] = [];
  const shown = seesPictures ? newestPictures(request.messages) : new Set<string>();
  let pictures: string[] = [];
  const flush = (): void => {
    if (pictures.length > 0)
      messages.push({
        role: 'user',
        content: [{ type: 'text', text: 'What the tool results above show:' }, ...pictures.map((url) => ({ type: 'image_url', image_url: { url } }))],
      });
    pictures = [];
  };
  for (const message of request.messages) {
    if (message.role !== 'tool') flush();
    messages.push(onWire(message));
    if (message.role === 'tool') pictures.push(...(message.images ?? []).filter((url) => shown.delete(url)));
  }
  flush();
  return { messages, ...(request.tools.length === 0 ? {} : { tools: request.tools.map((tool) => ({ type: 'function', function: tool })) }) };
}

function newestPictures(messages: readonly ChatMessage[]): Set<string> {
  return new Set(messages.flatMap((message) => (message.role === 'tool' ? (message.images ?? []) : [])).slice(-MAX_PICTURES));
}

function onWire(message: ChatMessage): Record<string, unknown> {
  switch (message.role) {
    case 'assistant':
      return {
        role: 'assistant',
        content: message.content,
        ...(message.toolCalls.length === 0
          ? {}
          : { tool_calls: message.toolCalls.map((call) => ({ id: call.id, type: 'function', function: { name: call.name, arguments: call.arguments } })) }),
      };
    case 'tool':
      return { role: 'tool', tool_call_id: message.toolCallId, content: message.content };
    default:
      return { role: message.role, content: message.content };
  }
}
