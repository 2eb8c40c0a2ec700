import type { SqlPool } from '@slipway/db/sql';
import type { Clock } from '@slipway/domain';
import type { Logger } from '@slipway/telemetry';
import type { LlmGatewayClient } from '../../clients/llm-gateway.client.js';
import type { ConversationLocks } from '../../conversations/conversation-locks.js';
import { Lead } from '../leads/lead.js';
import { SweepRuns } from '../leads/sweep-runs.js';
import { PromptPolicySync } from './prompt-policies.js';
import {
  foldLedger,
  ledgerPosition,
  limitsOf,
  markAcknowledged,
  markLimitsAcknowledged,
  noteRead,
  orgsWithBudget,
  settleBudget,
  stopsOf,
  unacknowledgedLimits,
  unacknowledgedOrgs,
} from './usage.queries.js';

/** Between two rounds. What is spent is counted, and stopped, this much later. Milliseconds. */
const ROUND_MS = 2_000;
/** Pages of one round; the next one goes on. */
const PAGES_AT_ONCE = 20;
/**
 * All budgets are checked this often, also where nothing was spent: a cycle that begins brings new stops for limits of
 * 0. Milliseconds.
 */
const SETTLE_ALL_MS = 60_000;

/**
 * Rolls the gateway's ledger up into `app.usage_day`, updates budgets, and sends the gateway limits, stops and prompt
 * policies.
 *
 * Every step may be repeated and may be left out once: the cursor moves with the rows that it counts,
 * `app.settle_budget` works from the current rows, and what the gateway did not get stays unacknowledged in
 * `app.budget`. A gateway that does not answer leaves all as it is: what was stopped stays stopped until the end of its
 * cycle, nothing new is stopped.
 */
export class UsageSweep {
  private settledAllAt = Number.NEGATIVE_INFINITY;
  private readonly lead: Lead;
  private readonly runs: SweepRuns;
  private readonly policies: PromptPolicySync;

  constructor(
    private readonly pool: SqlPool,
    private readonly gateway: Pick<
      LlmGatewayClient,
      'ledger' | 'replaceBudgetStops' | 'replaceLimits' | 'replacePromptPolicies'
    >,
    private readonly clock: Clock,
    locks: Pick<ConversationLocks, 'tryLock'>,
    private readonly logger: Logger,
  ) {
    this.policies = new PromptPolicySync(pool, gateway);
    this.runs = new SweepRuns(pool);
    this.lead = new Lead({
      name: 'usage',
      everyMs: ROUND_MS,
      locks,
      logger,
      round: async (signal) => {
        await this.run(signal);
        await this.runs.completed('usage');
      },
    });
  }

  /** Round after round, in one worker at a time: more would do no harm, but ask for the same. */
  start(): void {
    this.lead.start();
  }

  close(): Promise<void> {
    return this.lead.close();
  }

  /** One round. Rejects when the database or the gateway does not answer; what it had done by then stays done. */
  async run(signal: AbortSignal): Promise<void> {
    // First of all: from then on nothing more than that can be spent, whatever is counted late.
    for (const orgId of await unacknowledgedLimits(this.pool)) await this.applyLimits(orgId, signal);
    const spent = await this.rollUp(signal);
    const now = this.clock.now();
    const all = now.getTime() - this.settledAllAt >= SETTLE_ALL_MS;
    if (all || spent.size > 0) {
      for (const orgId of await orgsWithBudget(this.pool, all ? null : [...spent]))
        await settleBudget(this.pool, orgId, now);
      if (all) this.settledAllAt = now.getTime();
    }
    for (const orgId of await unacknowledgedOrgs(this.pool)) await this.tell(orgId, signal);
    // Last: a gateway that does not know of it must not keep anything else from being done.
    await this.policies.tell(now.getTime(), signal);
  }

  /** @returns organizations for which something was added. */
  private async rollUp(signal: AbortSignal): Promise<Set<string>> {
    const spent = new Set<string>();
    for (let pages = 0; pages < PAGES_AT_ONCE; pages += 1) {
      const after = await ledgerPosition(this.pool);
      const page = await this.gateway.ledger(after, signal);
      if (page.upto < after) {
        this.logger.error(
          { after, upto: page.upto },
          'ledger ends before the counted position: was one database alone restored from a backup?',
        );
        break;
      }
      if (page.upto > after && (await foldLedger(this.pool, after, page)))
        for (const { org } of page.rows) spent.add(org);
      if (!page.more) {
        if (page.upto === after) await noteRead(this.pool);
        break;
      }
    }
    return spent;
  }

  private async applyLimits(orgId: string, signal: AbortSignal): Promise<void> {
    const { version, limits } = await limitsOf(this.pool, orgId);
    await this.gateway.replaceLimits(orgId, limits, signal);
    await markLimitsAcknowledged(this.pool, orgId, version);
    this.logger.info({ org_id: orgId, overrides: limits.overrides.length }, 'limits acknowledged by llm-gateway');
  }

  private async tell(orgId: string, signal: AbortSignal): Promise<void> {
    const { version, stops } = await stopsOf(this.pool, orgId);
    await this.gateway.replaceBudgetStops(orgId, stops, signal);
    await markAcknowledged(this.pool, orgId, version);
    this.logger.info({ org_id: orgId, stopped: stops.length }, 'spent budgets acknowledged by llm-gateway');
  }
}
