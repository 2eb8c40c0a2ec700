import { type ModelPrice, PRICE_LISTS } from './catalogue.js';

const PRICES: ReadonlyMap<string, ModelPrice> = new Map(PRICE_LISTS.flatMap((list) => Object.entries(list.models)));

/**
 * The list price of a model, or `null` when the catalogue does not know it. Reads `provider/model`, a date or `-latest` at the end
 * (`openai/gpt-4o-2024-11-20`), and `4.5` for `4-5`. Never guesses from a family's name.
 */
export function priceOf(model: string): ModelPrice | null {
  const name = model
    .toLowerCase()
    .slice(model.lastIndexOf('/') + 1)
    .replace(/[-@](\d{4}-\d{2}-\d{2}|\d{8}|latest)$/, '');
  return PRICES.get(name) ?? PRICES.get(name.replaceAll('.', '-')) ?? null;
}

/** Cost of one call in USD. `cachedTokens` are part of `promptTokens`; reasoning is part of `completionTokens`. */
export function costUsd(price: ModelPrice, usage: { readonly promptTokens: number; readonly completionTokens: number; readonly cachedTokens: number }): number {
  const cached = Math.min(usage.cachedTokens, usage.promptTokens);
  return ((usage.promptTokens - cached) * price.input + cached * price.cachedInput + usage.completionTokens * price.output) / 1_000_000;
}
