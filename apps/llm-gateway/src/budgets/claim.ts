import { type ModelFacts, type ModelPrice, pricesFor, type TokenPrices } from '@slipway/llm';
import type { Claim } from './admission.js';

/** Tokens that no byte of the body stands for: what providers add for tools and roles, and an image that is given by its address. */
const HIDDEN_TOKENS = 4_096;
/** Longest answer of a model of which nobody knows it. Tokens. */
const LONGEST_ANSWER = 131_072;
/** An answer of this length is of use. Tokens. */
const SHORT_ANSWER = 256;

export interface ClaimedCall {
  readonly model: string;
  /** Of the whole body, with what it carries in base64. */
  readonly bytes: number;
  /** The longest answer that the request allows, over all its choices; `null`: it does not say. Tokens. */
  readonly maxOutput: number | null;
  /** Of the deployment that could cost most. `null`: unknown. */
  readonly facts: ModelFacts | null;
}

/**
 * What a call can come to at most.
 *
 * The prompt has at most a token for each byte of the body and `HIDDEN_TOKENS` beside (a token of every tokenizer stands for one byte of text or more), and never
 * more than the model's context, which the provider refuses. All of it is taken at the dearest price that a part of it may have. The answer is as long as the
 * request or the model allows. More than this can only come of what the body names and does not carry: documents and pictures by their address.
 */
export function claimOf({ model, bytes, maxOutput, facts }: ClaimedCall): Claim {
  const longest = facts?.maxOutput ?? LONGEST_ANSWER;
  const output = Math.max(1, maxOutput === null ? longest : Math.max(maxOutput, 1));
  const promptTokens = Math.min(bytes + HIDDEN_TOKENS, facts?.contextWindow ?? Number.POSITIVE_INFINITY);
  const maxTokens = promptTokens + output;
  const price = facts?.price ?? null;
  if (price === null) return { model, maxCostUsd: null, minCostUsd: null, promptTokens, maxTokens };
  const { input, output: outputPrice } = dearest(price, promptTokens);
  const prompt = promptTokens * input;
  return {
    model,
    maxCostUsd: (prompt + output * outputPrice) / 1_000_000,
    minCostUsd: (prompt + Math.min(output, SHORT_ANSWER) * outputPrice) / 1_000_000,
    promptTokens,
    maxTokens,
  };
}

interface Dearest {
  readonly input: number;
  readonly output: number;
}

/** Of prices that are the same for prompts of every length. */
const known = new WeakMap<ModelPrice, Dearest>();

/** The highest prices of all prompts up to this length. */
function dearest(price: ModelPrice, promptTokens: number): Dearest {
  if (price.tiers !== undefined && price.tiers.length > 0) return dearestOf(price, promptTokens);
  let found = known.get(price);
  if (found === undefined) {
    found = dearestOf(price, promptTokens);
    known.set(price, found);
  }
  return found;
}

function dearestOf(price: ModelPrice, promptTokens: number): Dearest {
  const reached: TokenPrices[] = [price, pricesFor(price, promptTokens), ...(price.tiers?.filter((tier) => promptTokens > tier.abovePromptTokens) ?? [])];
  const inputs = reached.flatMap(({ input, cachedInput, cacheWrite = input, cacheWriteHour = cacheWrite }) => [input, cachedInput, cacheWrite, cacheWriteHour]);
  return { input: Math.max(...inputs), output: Math.max(...reached.map(({ output }) => output)) };
}
