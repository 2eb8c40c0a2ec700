import type { ProviderId } from '@slipway/contracts/models';
import type { Address } from '../wire/address.js';
import type { Dialect } from '../wire/dialect.js';
import type { ProviderFormat } from './format.js';
import type { PlainRefusal, Refusal } from './refusal.js';

/** Every fact about a provider. No other file compares provider ids. */
export interface Provider {
  readonly id: ProviderId;
  /** Its public API, up to and including the version; empty for one whose customers have addresses of their own. */
  readonly baseUrl: (region: string | undefined) => string;
  /** Dialects that it serves at an address unless a deployment says otherwise. Empty: it has a format of its own. */
  readonly dialects: (baseUrl: string) => readonly Dialect[];
  /** One that serves our dialects has an address; requests and answers of another are translated. */
  readonly upstream: Address | ProviderFormat;
  /** Its errors in the words of OpenAI's API; `null`: they are in them. Never throws. */
  readonly refusal: ((refusal: Refusal) => PlainRefusal) | null;
  /** Where it serves `messages`, it also serves `messages/count_tokens`. */
  readonly countsTokens: boolean;
  /** Dialects in which its own tool searches the web. */
  readonly searches: readonly Dialect[];
  /** What a deployment in LLM_MODELS_FILE cannot leave out, and why. */
  readonly requires: Partial<Record<'baseUrl' | 'region', string>>;
}
