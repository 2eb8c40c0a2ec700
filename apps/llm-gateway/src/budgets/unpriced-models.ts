import { SlipwayError } from '@slipway/errors';
import type { StoredKey } from '../keys/keys.queries.js';
import { away } from './refusals.js';

/** How long an answer of Postgres is believed. Milliseconds. */
const FRESH_MS = 4_000;
/** More organizations than call models without a price within that time. */
const MAX_KNOWN = 10_000;

/**
 * Refuses models without a price where a budget in USD limits the call: it would not see what they cost. An admin may
 * say otherwise.
 */
export class UnpricedModels {
  private readonly known = new Map<string, { readonly allowed: boolean; readonly until: number }>();

  /** @param allows asks Postgres. @param now milliseconds of a clock that only goes on. */
  constructor(
    private readonly allows: (orgId: string) => Promise<boolean>,
    private readonly now: () => number,
  ) {}

  /**
   * At once where no budget limits the key, or the answer is known. @throws (rejects) SlipwayError `budget.unpriced`,
   * `service.unavailable`.
   */
  permit(key: StoredKey, model: string): void | Promise<void> {
    if ((key.budgets ?? []).length === 0) return;
    const known = this.known.get(key.orgId);
    if (known === undefined || known.until < this.now()) return this.ask(key.orgId, model);
    if (!known.allowed) throw unpriced(model);
  }

  private async ask(orgId: string, model: string): Promise<void> {
    let allowed: boolean;
    try {
      allowed = await this.allows(orgId);
    } catch (error) {
      throw away(error);
    }
    if (this.known.size >= MAX_KNOWN) this.known.clear();
    this.known.set(orgId, { allowed, until: this.now() + FRESH_MS });
    if (!allowed) throw unpriced(model);
  }
}

function unpriced(model: string): SlipwayError {
  return new SlipwayError(
    'budget.unpriced',
    `The model "${model.slice(0, 200)}" has no price here, so the budget that limits this call could not see what it costs. An admin can allow such models on the Budgets page; who runs the installation can give it a price in LLM_MODELS_FILE.`,
  );
}
