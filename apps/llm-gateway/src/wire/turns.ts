import type { Usage } from '../calls/usage.js';
import type { Dialect } from './dialect.js';

/**
 * Common form of the dialects. A request is read into this form from the caller's dialect and written from it in the
 * provider's; an answer comes back as `AnswerEvent`s. What only one dialect can express is in `extras` and stays in
 * that dialect.
 */

/** A request for a model. */
export interface TurnsRequest {
  /** What it was read from: only there `extras` may be written again. */
  readonly source: Dialect;
  /** As the caller named it; whoever writes takes the target's name. */
  readonly model: string;
  readonly stream: boolean;
  /**
   * Chat's `stream_options.include_usage`: the caller wants the last frame with the counts. Always true in the other
   * dialects, which count unasked.
   */
  readonly includeUsage: boolean;
  /** What stands before every turn. */
  readonly system: readonly TextPart[];
  readonly turns: readonly Turn[];
  readonly tools: readonly Tool[];
  readonly toolChoice: ToolChoice | null;
  /** `false`: at most one call an answer. `null`: not said. */
  readonly parallelToolCalls: boolean | null;
  /** Tokens, reasoning counted in. */
  readonly maxOutputTokens: number | null;
  readonly sampling: Sampling;
  readonly stop: readonly string[];
  readonly reasoning: Reasoning | null;
  readonly responseFormat: ResponseFormat | null;
  /** The caller's name for the user behind the request. */
  readonly user: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  /** As the source says it (`auto`, `default`, `flex`, `priority`; Messages' `standard_only` is `default`). */
  readonly serviceTier: string | null;
  /** Fields of the source that have no place here, by their own names. */
  readonly extras: Readonly<Record<string, unknown>>;
}

/** `system` is an instruction that came between the turns. Two turns of one role may follow each other. */
export interface Turn {
  readonly role: 'user' | 'assistant' | 'system';
  /** `user`: text, image, document, tool result. `assistant`: text, thinking, redacted, tool call. `system`: text. */
  readonly parts: readonly Part[];
}

export type Part = TextPart | ImagePart | DocumentPart | ThinkingPart | RedactedPart | ToolCallPart | ToolResultPart;

/** The provider is asked to cache all up to and including what carries it. */
export interface CacheMark {
  readonly ttl: '5m' | '1h' | null;
}

export interface TextPart {
  readonly kind: 'text';
  readonly text: string;
  readonly cache?: CacheMark;
}

export interface ImagePart {
  readonly kind: 'image';
  readonly source: Base64Source | UrlSource;
  /** Detail of the image: OpenAI's values (`low`, `high`, `auto`). */
  readonly detail?: string;
  readonly cache?: CacheMark;
}

export interface DocumentPart {
  readonly kind: 'document';
  readonly source: Base64Source | UrlSource | { readonly kind: 'text'; readonly text: string };
  readonly name?: string;
  readonly cache?: CacheMark;
}

export interface Base64Source {
  readonly kind: 'base64';
  readonly mediaType: string;
  readonly data: string;
}

export interface UrlSource {
  readonly kind: 'url';
  readonly url: string;
}

/** The model's reasoning. */
export interface ThinkingPart {
  readonly kind: 'thinking';
  /** May be empty where the provider shows only the signature. */
  readonly text: string;
  /**
   * What the provider must get back with it, opaque: Anthropic's and Bedrock's `signature`, Responses'
   * `encrypted_content`, Gemini's `thoughtSignature`.
   */
  readonly signature: string | null;
  /** Responses' id of the item. */
  readonly id?: string;
}

/** Hidden reasoning of the provider, opaque. */
export interface RedactedPart {
  readonly kind: 'redacted';
  readonly data: string;
}

export interface ToolCallPart {
  readonly kind: 'tool-call';
  readonly id: string;
  readonly name: string;
  /** JSON as the model wrote it: it may be broken, and `''` means `{}`. `argumentsOf` reads it. */
  readonly arguments: string;
  /** Gemini signs calls instead of thoughts. */
  readonly signature?: string;
  readonly cache?: CacheMark;
}

export interface ToolResultPart {
  readonly kind: 'tool-result';
  readonly callId: string;
  readonly parts: readonly (TextPart | ImagePart | DocumentPart)[];
  readonly isError: boolean;
  readonly cache?: CacheMark;
}

/** A function that the model may call. */
export interface Tool {
  readonly name: string;
  readonly description: string | null;
  /** JSON Schema of its arguments. */
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly strict: boolean | null;
  readonly cache?: CacheMark;
}

export type ToolChoice =
  | { readonly kind: 'auto' }
  | { readonly kind: 'none' }
  | { readonly kind: 'required' }
  | { readonly kind: 'tool'; readonly name: string };

/** A field that is absent was not said. */
export interface Sampling {
  readonly temperature?: number;
  readonly topP?: number;
  readonly topK?: number;
  readonly frequencyPenalty?: number;
  readonly presencePenalty?: number;
  readonly seed?: number;
}

export interface Reasoning {
  /** `false`: it is not to reason. */
  readonly on: boolean;
  /**
   * `none`, `minimal`, `low`, `medium`, `high`, `xhigh`, `max`; `null` when the caller left it to the provider or gave
   * a budget.
   */
  readonly effort: string | null;
  /** Tokens. */
  readonly budgetTokens: number | null;
  /** Responses' `reasoning.summary`, Messages' `thinking.display`. */
  readonly summary: string | null;
}

export type ResponseFormat =
  | { readonly kind: 'json-object' }
  | {
      readonly kind: 'json-schema';
      readonly name: string;
      readonly description: string | null;
      readonly schema: Readonly<Record<string, unknown>>;
      readonly strict: boolean | null;
    };

/**
 * Why an answer ended. `filter`: the provider or the model refused. `pause`: the provider wants to be asked to go on.
 */
export type FinishReason = 'stop' | 'length' | 'tool-calls' | 'filter' | 'pause';

/**
 * An answer, piece by piece, streamed or not.
 *
 * `start` is first; `usage` may come more than once, the last is right, and comes before `finish`; `finish` is last and
 * comes only when the provider said that the answer is whole. `text` and `thinking` are deltas: a part goes on as long
 * as its kind does. `signature` ends the thinking before it (without any: a part with empty text). `tool-arguments`
 * belong to the call with the same number; calls are numbered from 0 and may overlap. After `error` nothing is read any
 * more.
 */
export type AnswerEvent =
  | {
      readonly kind: 'start';
      readonly id: string;
      readonly model: string /** Seconds since 1970. */;
      readonly created?: number;
    }
  | { readonly kind: 'text'; readonly text: string }
  /** The model's own words of why it will not answer. */
  | { readonly kind: 'refusal'; readonly text: string }
  | { readonly kind: 'thinking'; readonly text: string }
  | { readonly kind: 'signature'; readonly signature: string; readonly id?: string }
  | { readonly kind: 'redacted'; readonly data: string }
  | {
      readonly kind: 'tool-begin';
      readonly call: number;
      readonly id: string;
      readonly name: string;
      readonly signature?: string;
    }
  | { readonly kind: 'tool-arguments'; readonly call: number; readonly text: string }
  | { readonly kind: 'tool-end'; readonly call: number }
  | { readonly kind: 'usage'; readonly usage: Usage }
  | { readonly kind: 'finish'; readonly reason: FinishReason; readonly stopSequence: string | null }
  | { readonly kind: 'error'; readonly error: ProviderError };

/** As the provider said it, unchecked. */
export interface ProviderError {
  readonly message?: unknown;
  readonly code?: unknown;
  readonly type?: unknown;
}

/**
 * Reads one answer of a provider. Never throws for what a provider sent; holds at most one frame. One object an answer.
 */
export interface AnswerReader {
  push(chunk: Buffer): readonly AnswerEvent[];
  /** The stream has ended. */
  end(): readonly AnswerEvent[];
  /** An answer in one piece: its events, or one `error` for what is no answer. */
  whole(body: Buffer): readonly AnswerEvent[];
}

/** Writes an answer in a caller's dialect. One object an answer. */
export interface AnswerWriter {
  /** Frames for one event; `''` when there is nothing to say yet. */
  write(event: AnswerEvent): string;
  /** The whole answer as a body. */
  whole(events: readonly AnswerEvent[]): string;
}
