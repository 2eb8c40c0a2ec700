import type { Usage } from '../calls/usage.js';
import type { StoredKey } from '../keys/keys.queries.js';
import { type RateLimits, type RateTaken } from '../limits/rate-limits.js';
import type { Admission, Admitter, Claim, Draw } from './admission.js';
import type { BudgetLeases } from './budget-leases.js';
import type { Reservation } from './lease-book.js';
import { toTicks, toTicksUp, toUsd } from './ticks.js';
import type { UnpricedModels } from './unpriced-models.js';

const UNDRAWN: Draw = { holder: null, accounts: [] };

/** Calls and tokens a minute first, then money: what costs least to know. */
export class KeyAdmitter implements Admitter {
  constructor(
    private readonly budgets: BudgetLeases,
    private readonly rates: RateLimits,
    private readonly unpriced: UnpricedModels,
  ) {}

  admit(key: StoredKey, claim: Claim, signal: AbortSignal): Admission | Promise<Admission> {
    const permitted = claim.maxCostUsd === null ? this.unpriced.permit(key, claim.model) : undefined;
    return permitted === undefined
      ? this.letIn(key, claim, signal)
      : permitted.then(() => this.letIn(key, claim, signal));
  }

  private letIn(key: StoredKey, claim: Claim, signal: AbortSignal): Admission | Promise<Admission> {
    const taken = this.rates.take(key, claim.model, claim.promptTokens ?? claim.maxTokens, signal);
    return taken instanceof Promise
      ? taken.then((rate) => this.reserve(key, claim, rate, signal))
      : this.reserve(key, claim, taken, signal);
  }

  private reserve(key: StoredKey, claim: Claim, rate: RateTaken, signal: AbortSignal): Admission | Promise<Admission> {
    const another = (next: AbortSignal): Admission | Promise<Admission> =>
      this.reserve(key, claim, { headers: () => rate.headers(), settle: () => {} }, next);
    if (claim.maxCostUsd === null) return new Admitted(this.budgets, rate, null, another);
    const want = toTicksUp(claim.maxCostUsd);
    const least = claim.minCostUsd === undefined || claim.minCostUsd === null ? want : toTicksUp(claim.minCostUsd);
    const reservation = this.budgets.reserve(key, want, least, signal);
    if (!(reservation instanceof Promise)) return new Admitted(this.budgets, rate, reservation, another);
    return reservation.then(
      (given) => new Admitted(this.budgets, rate, given, another),
      (refusal: unknown) => {
        rate.settle(0);
        throw refusal;
      },
    );
  }
}

class Admitted implements Admission {
  readonly ceilingUsd: number | null;
  readonly draw: Draw;
  private settled = false;

  constructor(
    private readonly budgets: BudgetLeases,
    private readonly rate: RateTaken,
    private readonly reservation: Reservation | null,
    readonly another: Admission['another'],
  ) {
    const held = reservation !== null && reservation.holder !== null;
    this.ceilingUsd = held ? toUsd(reservation.ticks) : null;
    this.draw = held
      ? { holder: reservation.holder, accounts: reservation.leases.map(({ account }) => account) }
      : UNDRAWN;
  }

  headers(): Readonly<Record<string, string>> {
    return this.rate.headers();
  }

  settle(usage: Usage, costUsd: number): void {
    if (this.settled) return;
    this.settled = true;
    if (this.reservation !== null && this.reservation.holder !== null)
      this.budgets.release(this.reservation, toTicks(costUsd));
    this.rate.settle(usage.promptTokens + usage.completionTokens);
  }
}
