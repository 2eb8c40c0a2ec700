import { MODEL_LISTS, type ModelFacts, type ModelPrice, type TokenPrices } from './catalogue.js';

const MODELS: ReadonlyMap<string, ModelFacts> = new Map(MODEL_LISTS.flatMap((list) => Object.entries(list.models)));

/**
 * What the catalogue knows of a model, or `null`. Reads `provider/model`, a date or `-latest` at the end
 * (`openai/gpt-4o-2024-11-20`), and `4.5` for `4-5`. Never guesses from a family's name.
 */
export function factsOf(model: string): ModelFacts | null {
  const name = model
    .toLowerCase()
    .slice(model.lastIndexOf('/') + 1)
    .replace(/[-@](\d{4}-\d{2}-\d{2}|\d{8}|latest)$/, '');
  return MODELS.get(name) ?? MODELS.get(name.replaceAll('.', '-')) ?? null;
}

/** The list price of a model, or `null` when the catalogue does not know it. */
export function priceOf(model: string): ModelPrice | null {
  return factsOf(model)?.price ?? null;
}

/**
 * In which llm-gateway says, at the head of a stream, the price by which it counts the call: `ModelPrice` as JSON, USD
 * for a million tokens.
 */
export const PRICE_HEADER = 'x-slipway-price';
/** Longest price that is read. Characters. */
const MAX_PRICE = 4_096;

/**
 * The price of a call as its gateway says it; `null` when it says none, or nothing that can be counted with: a wrong
 * cost would be believed.
 */
export function priceSaid(header: string | null): ModelPrice | null {
  if (header === null || header.length > MAX_PRICE) return null;
  try {
    const price = JSON.parse(header) as ModelPrice;
    const tiers = price.tiers ?? [];
    return isPrice(price) &&
      Array.isArray(tiers) &&
      tiers.every((tier) => isPrice(tier) && isAmount(tier.abovePromptTokens))
      ? price
      : null;
  } catch {
    return null;
  }
}

function isPrice({ input, cachedInput, cacheWrite = 0, cacheWriteHour = 0, output }: TokenPrices): boolean {
  return [input, cachedInput, cacheWrite, cacheWriteHour, output].every(isAmount);
}

function isAmount(value: unknown): boolean {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}

/**
 * `cachedTokens` and `cacheWriteTokens` are parts of `promptTokens`, `cacheWriteHourTokens` of `cacheWriteTokens`;
 * reasoning is part of `completionTokens`.
 */
export interface CountedTokens {
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly cachedTokens: number;
  readonly cacheWriteTokens?: number;
  readonly cacheWriteHourTokens?: number;
  /** Searches of the provider's own tool. */
  readonly webSearches?: number;
}

/** Cost of one call in USD. Never below zero: parts that are larger than their whole are cut to it. */
export function costUsd(price: ModelPrice, usage: CountedTokens): number {
  const {
    input,
    cachedInput,
    cacheWrite = input,
    cacheWriteHour = cacheWrite,
    output,
  } = pricesFor(price, usage.promptTokens);
  const cached = Math.min(usage.cachedTokens, usage.promptTokens);
  const written = Math.min(usage.cacheWriteTokens ?? 0, usage.promptTokens - cached);
  const writtenForHour = Math.min(usage.cacheWriteHourTokens ?? 0, written);
  const searches = ((usage.webSearches ?? 0) * (price.perThousand?.webSearch ?? 0)) / 1_000;
  return (
    searches +
    ((usage.promptTokens - cached - written) * input +
      cached * cachedInput +
      (written - writtenForHour) * cacheWrite +
      writtenForHour * cacheWriteHour +
      usage.completionTokens * output) /
      1_000_000
  );
}

/** The prices that hold for a prompt of this length. */
export function pricesFor(price: ModelPrice, promptTokens: number): TokenPrices {
  return price.tiers?.findLast((tier) => promptTokens > tier.abovePromptTokens) ?? price;
}
