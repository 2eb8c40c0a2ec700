import type { ProviderId } from '@slipway/contracts/models';
import type { Usage } from '../calls/usage.js';
import type { Dialect } from './dialect.js';
import type { RoutingFields } from './routing-fields.js';

/** One place that answers calls to a model. */
export interface Target {
  readonly provider: ProviderId;
  /** Up to and including the version (`https://host/v1`), without a slash at its end. */
  readonly baseUrl: string;
  /** Secret. For Bedrock `accessKeyId:secretAccessKey[:sessionToken]`, or a bearer token of Bedrock's own. */
  readonly apiKey: string | null;
  /** As the provider names it. */
  readonly model: string;
  /**
   * Dialects that it understands by itself: what is asked in one of them passes through untouched. Empty for Gemini and
   * Bedrock.
   */
  readonly speaks: readonly Dialect[];
  /** Azure's `api-version`. */
  readonly apiVersion?: string;
  /** Bedrock's region. */
  readonly region?: string;
  /** Longest answer of the model, for dialects that demand a limit where the caller gave none. Tokens. */
  readonly maxOutputTokens?: number;
  /** Prompt and answer together. Tokens. */
  readonly contextWindow?: number;
  /**
   * How the model takes a request to reason: not at all (the request is left out), as an effort, as a budget of tokens,
   * or (Anthropic) adaptive with an effort. Without it the name decides.
   */
  readonly reasoning?: 'none' | 'effort' | 'budget' | 'adaptive';
  /**
   * It takes what LiteLLM adds to chat (`thinking_blocks`, `reasoning_content`, `cache_control`). Without it: all but
   * hosts that are known to refuse them.
   */
  readonly chatAdditions?: boolean;
}

/** A call as the caller made it. */
export interface Asked {
  readonly dialect: Dialect;
  readonly body: Buffer;
  /** What was found in the body by one pass over its bytes, for this dialect: it is not searched again. */
  readonly fields: RoutingFields;
  readonly stream: boolean;
  /**
   * Headers of the caller that belong to the dialect (`anthropic-version`, `anthropic-beta`, `openai-beta`), by their
   * names in lower case.
   */
  readonly headers: Readonly<Record<string, string>>;
  /** Headers of the call's trace. */
  readonly trace: Readonly<Record<string, string>>;
  /**
   * Longest answer of each choice in the provider's request, overriding the body. Tokens; absent or `null`: as the body
   * says.
   */
  readonly limit?: number | null;
  /** Most searches of the provider's own tool, where the request offers it. Absent or `null`: it does not. */
  readonly searches?: number | null;
}

/**
 * The same call for one target.
 * @throws SlipwayError `request.invalid` for what the target's dialect cannot express, with the field's name; nothing
 * has been sent then.
 */
export type OpenExchange = (asked: Asked, target: Target) => Exchange;

export interface Exchange {
  readonly method: 'POST';
  readonly origin: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  readonly answer: Answer;
}

/**
 * Translates one answer of the provider into the caller's dialect. One object an attempt. Nothing in it throws for what
 * a provider sent, but `whole`.
 */
export interface Answer {
  /**
   * What the caller gets for these bytes of a stream; `null` when there is nothing to send yet. When dialects are equal
   * it is the very same buffer if a frame ends at its end, and else the same bytes as far as frames are whole: what
   * follows, such as an error, can then be parsed.
   */
  push(chunk: Buffer): Buffer | null;
  /** The stream of the provider has ended: what is still to be said. */
  end(): Buffer | null;
  /** An answer in one piece. @throws SlipwayError `model.bad-response` */
  whole(body: Buffer): Buffer;
  /** Content type of what the caller gets. */
  readonly contentType: string;
  /**
   * Content types (as a test on the header) that a streamed answer of this provider has: `text/event-stream`, or
   * Bedrock's binary one.
   */
  readonly streams: RegExp;
  /**
   * As counted last, by the provider itself; `null` until it has. Until `complete` its completion tokens may be too
   * few: Anthropic's count comes at the end.
   */
  readonly usage: Usage | null;
  /** Text, reasoning and arguments that have passed. UTF-16 code units. */
  readonly characters: number;
  /** The same as bytes of UTF-8, or more: no tokenizer makes more tokens of it. */
  readonly bytes: number;
  /** Frames that the caller has got: for Responses the next `sequence_number`. */
  readonly frames: number;
  /** It has begun to answer: something that belongs to an answer has been read. */
  readonly begun: boolean;
  /** The provider said that the answer is whole. */
  readonly complete: boolean;
  /** Of a stream that has ended: without the provider's word that the answer is whole. */
  readonly cutShort: boolean;
  /**
   * The caller gets the provider's own bytes, so that an error in them has reached it; a translated answer says nothing
   * of `error`: `errorFrame` must.
   */
  readonly passesThrough: boolean;
  /** The provider sent an error where a piece of the answer should be. */
  readonly error: { readonly message?: unknown; readonly code?: unknown; readonly type?: unknown } | null;
}
