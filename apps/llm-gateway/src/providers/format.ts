import type { EmbeddingsRequest, Vectors } from '../wire/embeddings-request.js';
import type { Asked, Exchange, Target } from '../wire/exchange.js';
import type { JsonObject } from '../wire/json.js';
import type { SignatureOrigin } from '../wire/signatures.js';
import type { AnswerReader, TurnsRequest } from '../wire/turns.js';

/** How a provider with a format of its own is spoken to. */
export interface ProviderFormat {
  /** Who signs what its models reasoned. */
  readonly signedBy: SignatureOrigin;
  /** Content types that a streamed answer has. */
  readonly streams: RegExp;
  /**
   * @param headers of the caller that belong to its dialect.
   * @throws SlipwayError `request.invalid` for what it cannot express, `config.invalid` for a target that is set up
   * wrong.
   */
  write(request: TurnsRequest, target: Target, headers: Asked['headers']): WrittenRequest;
  read(target: Target): AnswerReader;
  /**
   * The same for embeddings; `null`: this model gives none.
   * @throws SlipwayError `request.invalid`, `config.invalid` as `write`.
   */
  embed(
    request: EmbeddingsRequest,
    target: Target,
  ): { readonly written: WrittenRequest; readonly read: (answer: JsonObject) => Vectors | null } | null;
}

export interface WrittenRequest extends Pick<Exchange, 'origin' | 'path' | 'body'> {
  /** What this provider wants beside what every call carries. */
  readonly headers: Readonly<Record<string, string>>;
}
