import { createHash } from 'node:crypto';

/** OpenAI's chat-completions shapes, as far as Slipway reads and writes them. */

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** As the model wrote them: may be anything but JSON. */
  readonly arguments: string;
}

/** A picture in the sandbox. */
export interface PictureFile {
  readonly path: string;
  readonly mediaType: string;
}

export type ChatMessage =
  | { readonly role: 'system'; readonly content: string }
  /** `images`: pictures that came with the message, as data URLs; `pictures`: the same, as files to be read. */
  | {
      readonly role: 'user';
      readonly content: string;
      readonly images?: readonly string[];
      readonly pictures?: readonly PictureFile[];
    }
  | { readonly role: 'assistant'; readonly content: string | null; readonly toolCalls: readonly ToolCall[] }
  /** `images`: what the tool showed beside its text, as data URLs. */
  | {
      readonly role: 'tool';
      readonly toolCallId: string;
      readonly content: string;
      readonly images?: readonly string[];
    };

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
  /** Goes with the call: headers of who it is for. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Most pictures of one request: the newest. Each is sent again with every step, and providers have limits. */
export const MAX_PICTURES = 6;

/**
 * The request's `messages` and `tools` on the wire. Pictures of tools follow the results of a step as a message of the
 * user's: that is where the shape has room for them.
 * @param seesPictures only then are they sent: a model that reads text alone refuses the whole request.
 */
export function toWire(request: CompletionRequest, seesPictures = false): Record<string, unknown> {
  const messages: unknown[] = [];
  const shown = seesPictures ? newestPictures(request.messages) : new Set<string>();
  const ids = new WireIds();
  let pictures: string[] = [];
  const flush = (): void => {
    if (pictures.length > 0)
      messages.push({
        role: 'user',
        content: [{ type: 'text', text: 'What the tool results above show:' }, ...pictures.map(asPart)],
      });
    pictures = [];
  };
  for (const message of request.messages) {
    if (message.role !== 'tool') flush();
    const own = message.role === 'user' ? (message.images ?? []).filter((url) => shown.delete(url)) : [];
    messages.push(own.length === 0 ? onWire(message, ids) : withPictures(message.content ?? '', own));
    if (message.role === 'tool') pictures.push(...(message.images ?? []).filter((url) => shown.delete(url)));
  }
  flush();
  return {
    messages,
    ...(request.tools.length === 0
      ? {}
      : { tools: request.tools.map((tool) => ({ type: 'function', function: tool })) }),
  };
}

function asPart(url: string): Record<string, unknown> {
  return { type: 'image_url', image_url: { url } };
}

function withPictures(text: string, urls: readonly string[]): Record<string, unknown> {
  return { role: 'user', content: [{ type: 'text', text }, ...urls.map(asPart)] };
}

function newestPictures(messages: readonly ChatMessage[]): Set<string> {
  return new Set(
    messages
      .flatMap((message) => (message.role === 'tool' || message.role === 'user' ? (message.images ?? []) : []))
      .slice(-MAX_PICTURES),
  );
}

/** Ids of calls that every provider takes. */
const WIRE_ID = /^[A-Za-z0-9_-]{1,40}$/;

/**
 * Ids of calls as every provider takes them: those of one provider may be too long for another, of other letters, or
 * the same in every answer, and a conversation goes on with another model. An id that is good and new stays as it is.
 */
class WireIds {
  readonly #taken = new Set<string>();
  /** Of the answer before the results. */
  #latest = new Map<string, string>();

  ofAnswer(calls: readonly ToolCall[]): ReadonlyArray<{ readonly id: string; readonly call: ToolCall }> {
    this.#latest = new Map();
    return calls.map((call) => {
      let id = WIRE_ID.test(call.id) ? call.id : shortened(call.id);
      for (let again = 1; this.#taken.has(id); again += 1) id = shortened(`${call.id} ${again}`);
      this.#taken.add(id);
      this.#latest.set(call.id, id);
      return { id, call };
    });
  }

  ofResult(id: string): string {
    return this.#latest.get(id) ?? id;
  }
}

function shortened(id: string): string {
  return `call_${createHash('sha256').update(id).digest('hex').slice(0, 24)}`;
}

function onWire(message: ChatMessage, ids: WireIds): Record<string, unknown> {
  switch (message.role) {
    case 'assistant':
      return {
        role: 'assistant',
        content: message.content,
        ...(message.toolCalls.length === 0
          ? {}
          : {
              tool_calls: ids.ofAnswer(message.toolCalls).map(({ id, call }) => ({
                id,
                type: 'function', // A call without arguments is one with none of them: not every provider reads an empty text as that.
                function: { name: call.name, arguments: call.arguments.trim() === '' ? '{}' : call.arguments },
              })),
            }),
      };
    case 'tool':
      return { role: 'tool', tool_call_id: ids.ofResult(message.toolCallId), content: message.content };
    default:
      return { role: message.role, content: message.content };
  }
}
