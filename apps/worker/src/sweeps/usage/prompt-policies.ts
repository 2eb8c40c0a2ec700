import type { PromptPolicies } from '@slipway/contracts/models';
import type { SqlPool } from '@slipway/db/sql';
import type { LlmGatewayClient } from '../../clients/llm-gateway.client.js';
import { system } from '../../conversations/conversation.queries.js';

/** Poll interval: an owner's change applies this much later. Milliseconds. */
const LOOK_MS = 5_000;
/** Sent again this often without a change: the gateway may have been given another database. Milliseconds. */
const SEND_MS = 600_000;

/**
 * Sends the gateway the organizations whose prompts are stored, all at once: those not listed, and deleted ones, store
 * none.
 */
export class PromptPolicySync {
  private lookedAt = Number.NEGATIVE_INFINITY;
  private sentAt = Number.NEGATIVE_INFINITY;
  private lastSent = '';

  constructor(
    private readonly pool: SqlPool,
    private readonly gateway: Pick<LlmGatewayClient, 'replacePromptPolicies'>,
  ) {}

  /**
   * @param now milliseconds of a clock. @throws when the database or the gateway does not answer; the next one goes on.
   */
  async tell(now: number, signal: AbortSignal): Promise<void> {
    if (now - this.lookedAt < LOOK_MS) return;
    const policies = await this.read();
    this.lookedAt = now;
    const found = JSON.stringify(policies);
    if (found === this.lastSent && now - this.sentAt < SEND_MS) return;
    await this.gateway.replacePromptPolicies(policies, signal);
    this.lastSent = found;
    this.sentAt = now;
  }

  private read(): Promise<PromptPolicies['policies']> {
    return system(this.pool, 'whose prompts are kept', async (client) => {
      const { rows } = await client.query<{ org: string; days: number }>(
        `SELECT id AS org, (settings ->> 'promptLogDays')::int AS days FROM app.org WHERE jsonb_typeof(settings -> 'promptLogDays') = 'number' ORDER BY id`,
      );
      return rows;
    });
  }
}
