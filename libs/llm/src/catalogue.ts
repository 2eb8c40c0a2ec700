import { DEMO_MODEL } from '@slipway/contracts';

/** USD for a million tokens. */
export interface ModelPrice {
  readonly input: number;
  /** The part of the input that the provider read from its cache. */
  readonly cachedInput: number;
  readonly output: number;
}

interface PriceList {
  /** The provider's own page. */
  readonly source: string;
  /** When the prices were as they stand here. */
  readonly asOf: string;
  /** By the model's name at its provider, without date or `-latest`. */
  readonly models: Readonly<Record<string, ModelPrice>>;
}

const price = (input: number, cachedInput: number, output: number): ModelPrice => ({ input, cachedInput, output });

/**
 * List prices of common models at standard speed. A model whose price depends on the length of the prompt is left out on purpose:
 * an unknown cost is shown as unknown, a wrong one would be believed.
 */
export const PRICE_LISTS: readonly PriceList[] = [
  { source: 'apps/llm-gateway/src/demo-model', asOf: '2026-11-21', models: { [DEMO_MODEL]: price(0, 0, 0) } },
  {
    source: 'https://platform.claude.com/docs/en/about-claude/pricing',
    asOf: '2026-11-21',
    models: {
      'claude-fable-5-1': price(10, 0.25, 50),
      'claude-fable-5': price(10, 1, 50),
      'claude-opus-5': price(5, 0.5, 25),
      'claude-opus-4-8': price(5, 0.5, 25),
      'claude-opus-4-7': price(5, 0.5, 25),
      'claude-opus-4-6': price(5, 0.5, 25),
      'claude-opus-4-5': price(5, 0.5, 25),
      'claude-opus-4-1': price(15, 1.5, 75),
      'claude-sonnet-4-6': price(3, 0.3, 15),
      'claude-sonnet-4-5': price(3, 0.3, 15),
      'claude-haiku-4-5': price(1, 0.1, 5),
    },
  },
  {
    source: 'https://openai.com/api/pricing',
    asOf: '2026-03-21',
    models: {
      'gpt-5.1': price(1.25, 0.125, 10),
      'gpt-5': price(1.25, 0.125, 10),
      'gpt-5-mini': price(0.25, 0.025, 2),
      'gpt-5-nano': price(0.05, 0.005, 0.4),
      'gpt-4.1': price(2, 0.5, 8),
      'gpt-4.1-mini': price(0.4, 0.1, 1.6),
      'gpt-4.1-nano': price(0.1, 0.025, 0.4),
      'gpt-4o': price(2.5, 1.25, 10),
      'gpt-4o-mini': price(0.15, 0.075, 0.6),
      o3: price(2, 0.5, 8),
      'o4-mini': price(1.1, 0.275, 4.4),
    },
  },
];
