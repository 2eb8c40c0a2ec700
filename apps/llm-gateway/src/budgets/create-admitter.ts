import { RateLimits } from '../limits/rate-limits.js';
import type { Admitter } from './admission.js';
import { KeyAdmitter } from './admitter.js';
import { BudgetLeases, type BudgetLeasesOptions } from './budget-leases.js';

export interface RunningAdmitter extends Admitter {
  /** Begins to listen to the other replicas and to say that this one lives. A database that is away is no error. */
  start(): Promise<void>;
  /** Gives up all that is held, after the last call, when the ledger has been stored. */
  close(): Promise<void>;
}

/** Lets calls in by all that limits their key; see `BudgetLeases` and `RateLimits`. */
export function createAdmitter(options: BudgetLeasesOptions): RunningAdmitter {
  const budgets = new BudgetLeases(options);
  const rates = new RateLimits(options);
  const admitter = new KeyAdmitter(budgets, rates);
  return {
    admit: (key, claim, signal) => admitter.admit(key, claim, signal),
    start: () => budgets.start(),
    close: async () => {
      await rates.close();
      await budgets.close();
    },
  };
}
