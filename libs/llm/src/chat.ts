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
  | { readonly role: 'tool'; readonly toolCallId: string; readonly content: string };

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

/** The request's `messages` and `tools` on the wire. */
export function toWire(request: CompletionRequest): Record<string, unknown> {
  return {
    messages: request.messages.map((message) => {
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
    }),
    ...(request.tools.length === 0 ? {} : { tools: request.tools.map((tool) => ({ type: 'function', function: tool })) }),
  };
}
