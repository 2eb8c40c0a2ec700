import { costUsd, type ModelPrice, pricesFor, type TokenPrices } from '@slipway/llm';
import type { Usage } from '../calls/usage.js';
import { NO_USAGE } from '../calls/usage.js';
import type { Claim } from './admission.js';

/** Tokens that no byte of the body stands for: what providers add for tools and roles. */
const HIDDEN_TOKENS = 4_096;
/** A picture, however few bytes it has. The largest models count up to 4,784 tokens for one. */
const IMAGE_TOKENS = 5_000;
/** Assumed context of an unknown model, for a document of unknown length. Tokens. */
const LONGEST_PROMPT = 1_048_576;
/** Assumed longest answer of an unknown model. Tokens. */
const LONGEST_ANSWER = 131_072;
/**
 * Limit of an answer for which neither the caller nor the file of models names one; an abort costs this much at most.
 * Tokens.
 */
export const DEFAULT_ANSWER = 32_768;
const LEAST_ROOM = 1_024;
/** Of code and of English. */
const BYTES_PER_TOKEN = 3;
/** Searches of the web by the provider in one call, where neither the caller nor the file of models says. */
export const DEFAULT_SEARCHES = 5;
/** An answer of this length is of use, and one of the second that begins with reasoning. Tokens. */
const SHORT_ANSWER = 256;
const SHORT_REASONED_ANSWER = 2_048;

/** Whether the request may have its prompt written into the provider's cache, which costs more at some. */
export type Caching = 'no' | 'minutes' | 'hour';

export interface BoundedCall {
  readonly model: string;
  /** Of the whole body, with what it carries in base64. */
  readonly bytes: number;
  readonly images: number;
  readonly documents: number;
  readonly caching: Caching;
  /** The longest answer that the request allows for each choice; `null`: it does not say. Tokens. */
  readonly maxOutput: number | null;
  readonly choices: number;
  /** The request sets a budget for reasoning, which must stay below the limit. */
  readonly reasons: boolean;
  readonly serviceTier: string | null;
  /** Most searches of the web by the provider; 0: it is not offered. */
  readonly searches: number;
  /** Of every place that may be asked; `null`: one of them has no price. */
  readonly prices: readonly ModelPrice[] | null;
  /** Of the place that could take the most. `null`: unknown. */
  readonly contextWindow: number | null;
  readonly longestAnswer: number | null;
  /** Limit where the caller names none (`facts.defaultOutput`); `null`: `DEFAULT_ANSWER`. */
  readonly defaultAnswer: number | null;
  /** Tokens of a picture where the model takes more than others. */
  readonly imageTokens: number | null;
}

/**
 * Limits in the provider's request: the longest answer of each choice (tokens; `null`: no limit) and the most searches
 * of the web (`null`: none).
 */
export interface Granted {
  readonly limit: number | null;
  readonly searches: number | null;
}

/**
 * Upper bound of a call's cost, before it and, without counts, after it.
 *
 * The prompt has at most a token for each byte of the body (a token of every tokenizer stands for one byte of text or
 * more), `HIDDEN_TOKENS` beside, and as many for each picture as the largest models take; documents may fill the
 * context. The prompt never exceeds the context, which the provider refuses. All of it is charged at the highest price
 * that it may have. The answer is as long as the limit that is written into the request.
 *
 * A provider that may search the web reads the whole once more after each search, with what it found, which may fill
 * the context; it may write it into its cache by itself.
 */
export class CallBound {
  /** Of all that the model reads, after each search again. */
  readonly promptTokens: number;
  /** Of what the request itself says. */
  private readonly saidTokens: number;
  /** Of what it reads first. */
  private readonly firstTokens: number;
  /** Of what it reads after a search. */
  private readonly againTokens: number;
  private readonly searches: number;
  /** USD; of the dearest place. */
  private readonly searchUsd: number;
  /** Of each choice. Tokens. */
  readonly maxOutput: number;
  readonly choices: number;
  readonly serviceTier: string | null;
  readonly claim: Claim;
  private readonly caching: Caching;
  /** The shortest answer of each choice that is of use. Tokens. */
  private readonly least: number;
  /** USD for a million tokens; `null`: no price. */
  private readonly dearest: { readonly input: number; readonly output: number } | null;

  constructor(call: BoundedCall) {
    this.searches = call.searches;
    this.caching = call.searches > 0 && call.caching === 'no' ? 'minutes' : call.caching;
    this.choices = call.choices;
    this.serviceTier = call.serviceTier;
    const read = call.documents > 0 ? (call.contextWindow ?? LONGEST_PROMPT) : 0;
    const tokens = call.bytes + HIDDEN_TOKENS + call.images * Math.max(IMAGE_TOKENS, call.imageTokens ?? 0) + read;
    this.saidTokens = Math.min(tokens - HIDDEN_TOKENS, call.contextWindow ?? Number.POSITIVE_INFINITY);
    this.firstTokens = Math.min(tokens, call.contextWindow ?? Number.POSITIVE_INFINITY);
    this.againTokens = Math.max(this.firstTokens, call.contextWindow ?? LONGEST_PROMPT);
    this.promptTokens = this.readTokens(call.searches);
    this.searchUsd = Math.max(0, ...(call.prices?.map((price) => (price.perThousand?.webSearch ?? 0) / 1_000) ?? []));
    const longest = call.longestAnswer ?? LONGEST_ANSWER;
    this.maxOutput = Math.max(
      1,
      call.maxOutput ??
        (call.prices === null ? longest : Math.min(call.defaultAnswer ?? DEFAULT_ANSWER, longest, roomFor(call))),
    );
    const prices =
      call.prices?.map((price) => dearestOf(atTier(price, call.serviceTier), this.promptTokens, this.caching)) ?? [];
    this.dearest =
      call.prices === null || prices.length === 0
        ? null
        : {
            input: Math.max(...prices.map(({ input }) => input)),
            output: Math.max(...prices.map(({ output }) => output)),
          };
    const least = Math.min(this.maxOutput, call.reasons ? SHORT_REASONED_ANSWER : SHORT_ANSWER);
    this.claim = {
      model: call.model,
      maxCostUsd: this.cost(this.maxOutput, this.searches),
      minCostUsd: this.cost(least, Math.min(1, this.searches)),
      promptTokens: this.firstTokens,
      maxTokens: this.firstTokens + this.maxOutput * this.choices,
    };
    this.least = least;
  }

  /**
   * The limit that is written into the request, for each choice: the grant pays for no more. `null`: none, since the
   * price is unknown or an answer is free.
   * @param ceilingUsd `null`: no budget limits the call.
   */
  limitFor(ceilingUsd: number | null): number | null {
    const { dearest, claim } = this;
    if (dearest === null || dearest.output === 0) return null;
    if (ceilingUsd === null || claim.maxCostUsd === null || ceilingUsd >= claim.maxCostUsd) return this.maxOutput;
    const searches = this.searchesFor(ceilingUsd) ?? 0;
    const left = (ceilingUsd - searches * this.searchUsd) * 1_000_000 - this.readTokens(searches) * dearest.input;
    return Math.max(1, Math.min(this.maxOutput, Math.floor(left / (dearest.output * this.choices))));
  }

  /**
   * The most searches that are written into the request: what was granted pays for no more, with an answer of use after
   * them. `null`: none are offered.
   */
  searchesFor(ceilingUsd: number | null): number | null {
    if (this.searches === 0) return null;
    let searches = this.searches;
    while (searches > 1 && ceilingUsd !== null && (this.cost(this.least, searches) ?? 0) > ceilingUsd) searches -= 1;
    return searches;
  }

  /**
   * What a call may have used whose end the provider did not count: the answer is as long as its limit allowed, the
   * prompt as counted, or else as long as the bytes allow.
   * @param limit as `limitFor` said. @param searches as `searchesFor` said: a count that came before them knows nothing
   * of what was read after them.
   */
  worst(
    price: ModelPrice | null,
    { limit, searches }: Granted,
    counted: Usage | null,
    passedTokens: number,
  ): { readonly usage: Usage; readonly costUsd: number } {
    const answer = Math.max((limit ?? 0) * this.choices, counted?.completionTokens ?? 0, passedTokens);
    if (counted !== null && counted.promptTokens > 0 && searches === null) {
      const usage = { ...counted, completionTokens: answer };
      return { usage, costUsd: price === null ? 0 : costUsd(price, usage) };
    }
    const promptTokens = this.readTokens(searches ?? 0);
    const usage = {
      ...NO_USAGE,
      promptTokens,
      completionTokens: answer,
      ...(searches === null ? {} : { webSearches: searches }),
    };
    if (price === null) return { usage, costUsd: 0 };
    const { input, output } = dearestOf(price, promptTokens, this.caching);
    const fees = ((searches ?? 0) * (price.perThousand?.webSearch ?? 0)) / 1_000;
    return { usage, costUsd: fees + (promptTokens * input + answer * output) / 1_000_000 };
  }

  /**
   * Usage of a call that ended well at a provider without counts: a token for each byte of the request and of the
   * received answer, which dense scripts and base64 come near to, at the highest price. Hidden reasoning is not in it.
   * @param bytes of UTF-8 that the caller received.
   */
  heard(
    price: ModelPrice | null,
    { limit }: Granted,
    bytes: number,
  ): { readonly usage: Usage; readonly costUsd: number } {
    const completionTokens = Math.min(bytes, limit === null ? Number.POSITIVE_INFINITY : limit * this.choices);
    const usage = { ...NO_USAGE, promptTokens: this.saidTokens, completionTokens };
    if (price === null) return { usage, costUsd: 0 };
    const { input, output } = dearestOf(price, this.saidTokens, this.caching);
    return { usage, costUsd: (this.saidTokens * input + completionTokens * output) / 1_000_000 };
  }

  private readTokens(searches: number): number {
    return this.firstTokens + searches * this.againTokens;
  }

  private cost(output: number, searches: number): number | null {
    if (this.dearest === null) return null;
    const { input, output: perOutput } = this.dearest;
    return (
      searches * this.searchUsd + (this.readTokens(searches) * input + output * this.choices * perOutput) / 1_000_000
    );
  }
}

/**
 * Providers refuse a prompt that leaves no room for the limit: near the end of the context the limit is what is left by
 * a guess at the prompt.
 */
function roomFor({ contextWindow, bytes }: BoundedCall): number {
  return contextWindow === null
    ? Number.POSITIVE_INFINITY
    : Math.max(LEAST_ROOM, contextWindow - Math.ceil(bytes / BYTES_PER_TOKEN));
}

/** Whether a cache may make this dearer than its input. */
export function pricesCaching({ tiers = [], ...price }: ModelPrice): boolean {
  return [price, ...tiers].some(
    ({ input, cacheWrite = input, cacheWriteHour = cacheWrite }) => cacheWrite > input || cacheWriteHour > input,
  );
}

/** The price at a service tier; standard where the price has none for it. */
export function atTier(price: ModelPrice, tier: string | null): ModelPrice {
  const factor = tier === null ? undefined : price.serviceTiers?.[tier];
  if (factor === undefined || factor === 1) return price;
  const times = (one: TokenPrices): TokenPrices => ({
    input: one.input * factor,
    cachedInput: one.cachedInput * factor,
    output: one.output * factor,
    ...(one.cacheWrite === undefined ? {} : { cacheWrite: one.cacheWrite * factor }),
    ...(one.cacheWriteHour === undefined ? {} : { cacheWriteHour: one.cacheWriteHour * factor }),
  });
  const tiers = price.tiers?.map((one) => ({ ...times(one), abovePromptTokens: one.abovePromptTokens }));
  const { perThousand } = price;
  return {
    ...times(price),
    ...(tiers === undefined ? {} : { tiers }),
    ...(perThousand === undefined ? {} : { perThousand }),
  };
}

/** The highest prices of all prompts up to this length. */
function dearestOf(
  price: ModelPrice,
  promptTokens: number,
  caching: Caching,
): { readonly input: number; readonly output: number } {
  const reached: TokenPrices[] = [
    price,
    pricesFor(price, promptTokens),
    ...(price.tiers?.filter((tier) => promptTokens > tier.abovePromptTokens) ?? []),
  ];
  const inputs = reached.flatMap(({ input, cachedInput, cacheWrite = input, cacheWriteHour = cacheWrite }) => [
    input,
    cachedInput,
    ...(caching === 'no' ? [] : [cacheWrite]),
    ...(caching === 'hour' ? [cacheWriteHour] : []),
  ]);
  return { input: Math.max(...inputs), output: Math.max(...reached.map(({ output }) => output)) };
}
