import { RateLimits } from '../limits/rate-limits.js';
import type { Admitter } from './admission.js';
import { KeyAdmitter } from './admitter.js';
import { endReplica } from './authority.queries.js';
import { BudgetLeases, type BudgetLeasesOptions } from './budget-leases.js';
import { allowsUnpriced } from './limits.queries.js';
import { PreviousProcesses } from './previous-processes.js';
import { UnpricedModels } from './unpriced-models.js';

export interface RunningAdmitter extends Admitter {
  /** Starts listening to the other replicas and sending heartbeats. A database or a disk that is away is no error. */
  start(): Promise<void>;
  /** Instance id of the process that holds budgets now. */
  replica(): string;
  /** Gives up all that is held, after the last call, when the ledger has been stored. */
  close(): Promise<void>;
}

export interface AdmitterOptions extends Omit<BudgetLeasesOptions, 'began'> {
  /**
   * Folder of this replica's instance ids, and what stores their ledger entries (answering whether all are stored).
   * Absent: what a killed process held lapses.
   */
  readonly lives?: { readonly directory: string; readonly stored: () => Promise<boolean> } | undefined;
}

/** Retry interval until a previous process's ledger is stored. Milliseconds. */
const STORED_AGAIN_MS = 1_000;

/** Lets calls in by all that limits their key; see `BudgetLeases` and `RateLimits`. */
export function createAdmitter(options: AdmitterOptions): RunningAdmitter {
  const lives = options.lives === undefined ? null : new PreviousProcesses(options.lives.directory);
  const diskFails = (error: unknown): void =>
    options.logger.warn({ err: error }, 'failed to record this process on disk, its budgets lapse if it is killed');
  let began = '';
  const budgets = new BudgetLeases({
    ...options,
    began: async (life) => {
      began = life;
      await lives?.add(life).catch(diskFails);
    },
  });
  const rates = new RateLimits(options);
  const unpriced = new UnpricedModels(
    (orgId) => allowsUnpriced(options.pool, orgId),
    () => performance.now(),
  );
  const admitter = new KeyAdmitter(budgets, rates, unpriced);
  let closed = false;

  /** What previous processes held is released as soon as all that they spent is in the ledger. */
  async function bury(former: readonly string[]): Promise<void> {
    while (!closed) {
      try {
        if (await options.lives?.stored()) {
          for (const life of former) await endReplica(options.pool, life);
          return await lives?.forget(former).catch(diskFails);
        }
      } catch (error) {
        options.logger.debug({ err: error }, 'budgets of a previous process not released yet, will retry');
      }
      await new Promise((resolve) => setTimeout(resolve, STORED_AGAIN_MS).unref());
    }
  }

  return {
    admit: (key, claim, signal) => admitter.admit(key, claim, signal),
    replica: () => budgets.replica,
    start: async () => {
      const former = (await lives?.read()) ?? [];
      await budgets.start();
      if (former.length > 0) void bury(former);
    },
    close: async () => {
      closed = true;
      await rates.close();
      await budgets.close();
      if (began !== '') await lives?.forget([began]).catch(diskFails);
    },
  };
}
