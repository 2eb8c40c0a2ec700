import type { ProviderKind } from '../exchange.js';
import type { ProviderError } from '../turns.js';
import { azureRefusal } from './azure/refusal.js';
import { bedrockRefusal } from './bedrock/refusal.js';
import { geminiRefusal } from './gemini/refusal.js';

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

const REFUSALS: Partial<Record<ProviderKind, (refusal: Refusal) => PlainRefusal>> = { azure: azureRefusal, bedrock: bedrockRefusal, gemini: geminiRefusal };

/** A refusal of a provider with errors of its own, in OpenAI's words; `null` for those whose errors are read as they are. Never throws. */
export function plainRefusal(provider: ProviderKind, refusal: Refusal): PlainRefusal | null {
  return REFUSALS[provider]?.(refusal) ?? null;
}
