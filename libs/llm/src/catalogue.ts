import { DEMO_MODEL } from '@slipway/contracts/models';

/** USD for a million tokens. */
export interface TokenPrices {
  readonly input: number;
  /** The part of the input that the provider read from its cache. */
  readonly cachedInput: number;
  /** The part of the input that it wrote into its cache, for minutes; as other input when absent. */
  readonly cacheWrite?: number;
  /** The part of the input that it wrote into its cache for an hour; as `cacheWrite` when absent. */
  readonly cacheWriteHour?: number;
  /** Reasoning is output. */
  readonly output: number;
}

export interface ModelPrice extends TokenPrices {
  /**
   * Prices of calls with longer prompts: the whole call is charged by the last tier that it is above. By length, the
   * shortest first.
   */
  readonly tiers?: ReadonlyArray<TokenPrices & { readonly abovePromptTokens: number }>;
  /** What a `service_tier` of the request multiplies all of it by. A tier that is not here has no price. */
  readonly serviceTiers?: Readonly<Record<string, number>>;
  /**
   * USD for a thousand uses of what is no token. What is not here costs nothing where it is no choice of the caller's,
   * and is refused where it is.
   */
  readonly perThousand?: { readonly countTokens?: number; readonly webSearch?: number };
}

/** What a model takes beside text. */
export const MODEL_CAPABILITIES = ['tools', 'vision', 'reasoning', 'caching'] as const;
export type ModelCapability = (typeof MODEL_CAPABILITIES)[number];

/** What is known of a model. `null` is unknown: an unknown cost is shown as unknown, a wrong one would be believed. */
export interface ModelFacts {
  readonly price: ModelPrice | null;
  /** Prompt and answer together. Tokens. */
  readonly contextWindow: number | null;
  /** Longest answer. Tokens. */
  readonly maxOutput: number | null;
  /** Limit of an answer for which the caller names none, as the installation has it. Tokens. */
  readonly defaultOutput?: number;
  /** Most searches of the web by the provider in one call, as the installation has it. */
  readonly maxSearches?: number;
  readonly capabilities: readonly ModelCapability[] | null;
  /** Most tokens of one picture; absent where it is not more than other models take. */
  readonly imageTokens?: number;
}

interface ModelList {
  /** The provider's own pages. */
  readonly source: string;
  /** When they said what stands here. */
  readonly asOf: string;
  /** By the model's name at its provider, without date or `-latest`. */
  readonly models: Readonly<Record<string, ModelFacts>>;
}

const ALL: readonly ModelCapability[] = MODEL_CAPABILITIES;
const NOT_REASONING: readonly ModelCapability[] = ['tools', 'vision', 'caching'];

/** Anthropic's: written for five minutes at 1.25 and for an hour at 2 times the input's price. */
const claude = (
  [input, cachedInput, output]: readonly [number, number, number],
  contextWindow: number | null = null,
  maxOutput: number | null = null,
): ModelFacts => ({
  price: { input, cachedInput, cacheWrite: input * 1.25, cacheWriteHour: input * 2, output },
  contextWindow,
  maxOutput,
  capabilities: ALL,
});
/** Claude Haiku 5.5: a prompt above 100,000 tokens makes the whole call five times as dear. */
const haiku55 = claude([0.1, 0.01, 0.5], 1_000_000, 128_000);
const longHaiku55 = {
  abovePromptTokens: 100_000,
  input: 0.5,
  cachedInput: 0.05,
  cacheWrite: 0.625,
  cacheWriteHour: 1,
  output: 2.5,
};
/** OpenAI's: what is written into the cache costs as other input. */
const openai = (
  [input, cachedInput, output]: readonly [number, number, number],
  contextWindow: number,
  maxOutput: number,
  capabilities: readonly ModelCapability[],
): ModelFacts => ({ price: { input, cachedInput, output }, contextWindow, maxOutput, capabilities });

/** Common models at list price and standard speed. An installation adds to it and overrides it in `LLM_MODELS_FILE`. */
export const MODEL_LISTS: readonly ModelList[] = [
  {
    source: 'apps/llm-gateway/src/demo-model',
    asOf: '2026-11-21',
    models: {
      [DEMO_MODEL]: {
        price: { input: 0, cachedInput: 0, output: 0 },
        contextWindow: null,
        maxOutput: null,
        capabilities: ['tools'],
      },
    },
  },
  {
    source: 'https://platform.claude.com/docs/en/about-claude/pricing and https://platform.claude.com/docs/en/models',
    asOf: '2026-11-23',
    models: {
      'claude-fable-5-1': claude([10, 0.25, 50], 1_000_000, 128_000),
      'claude-fable-5': claude([10, 1, 50], 1_000_000, 128_000),
      'claude-opus-5': claude([5, 0.5, 25], 1_000_000, 128_000),
      'claude-opus-5-5': claude([4, 0.2, 20], 1_000_000, 128_000),
      'claude-sonnet-5-5': claude([2, 0.1, 10], 1_000_000, 128_000),
      'claude-haiku-5-5': {
        ...haiku55,
        price: haiku55.price === null ? null : { ...haiku55.price, tiers: [longHaiku55] },
      },
      'claude-sonnet-5': claude([2, 0.2, 10], 1_000_000, 128_000),
      'claude-opus-4-8': claude([5, 0.5, 25]),
      'claude-opus-4-7': claude([5, 0.5, 25]),
      'claude-opus-4-6': claude([5, 0.5, 25]),
      'claude-opus-4-5': claude([5, 0.5, 25], 200_000, 64_000),
      'claude-opus-4-1': claude([15, 1.5, 75], 200_000, 32_000),
      'claude-sonnet-4-6': claude([3, 0.3, 15]),
      'claude-sonnet-4-5': claude([3, 0.3, 15], 200_000, 64_000),
      'claude-haiku-4-5': claude([1, 0.1, 5], 200_000, 64_000),
    },
  },
  {
    source: 'https://openai.com/api/pricing and https://developers.openai.com/api/docs/models',
    asOf: '2026-03-21',
    models: {
      'gpt-5.1': openai([1.25, 0.125, 10], 400_000, 128_000, ALL),
      'gpt-5': openai([1.25, 0.125, 10], 400_000, 128_000, ALL),
      'gpt-5-mini': openai([0.25, 0.025, 2], 400_000, 128_000, ALL),
      'gpt-5-nano': openai([0.05, 0.005, 0.4], 400_000, 128_000, ALL),
      'gpt-4.1': openai([2, 0.5, 8], 1_047_576, 32_768, NOT_REASONING),
      'gpt-4.1-mini': openai([0.4, 0.1, 1.6], 1_047_576, 32_768, NOT_REASONING),
      'gpt-4.1-nano': openai([0.1, 0.025, 0.4], 1_047_576, 32_768, NOT_REASONING),
      'gpt-4o': openai([2.5, 1.25, 10], 128_000, 16_384, NOT_REASONING),
      // 2,833 for a picture and 5,667 for each of its tiles, of which there are eight at most.
      'gpt-4o-mini': { ...openai([0.15, 0.075, 0.6], 128_000, 16_384, NOT_REASONING), imageTokens: 48_169 },
      o3: openai([2, 0.5, 8], 200_000, 100_000, ALL),
      'o4-mini': openai([1.1, 0.275, 4.4], 200_000, 100_000, ALL),
    },
  },
];
