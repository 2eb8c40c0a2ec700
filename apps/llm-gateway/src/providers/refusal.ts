import type { ProviderError } from '../wire/turns.js';

/** An answer of a provider with a status from 300 on. */
export interface Refusal {
  readonly status: number;
  /** By their names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string;
}

/** The same in the words of OpenAI's API. */
export interface PlainRefusal {
  readonly status: number;
  readonly error: ProviderError;
  /** As the header `retry-after` has it; without it the header itself counts. */
  readonly retryAfter?: string;
}
