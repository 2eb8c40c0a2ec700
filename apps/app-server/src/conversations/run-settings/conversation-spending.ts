import { Inject, Injectable } from '@nestjs/common';
import type { ConversationSpending } from '@slipway/contracts/models';
import { inOrg, type SqlPool } from '@slipway/db/sql';
import type { Config } from '../../config.js';
import { CONFIG, SQL_POOL } from '../../platform/tokens.js';

/** Longest wait for the gateway. Milliseconds; worker tells it when it does not answer. */
const TIMEOUT_MS = 2_000;
/** Changes that overtake each other while one is sent. More in a row are left to worker. */
const MAX_ATTEMPTS = 5;

/** Brings a conversation's own limit to the gateway, which keeps it for whoever has the conversation's key. */
@Injectable()
export class ConversationSpendingService {
  constructor(
    @Inject(SQL_POOL) private readonly pool: SqlPool,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /**
   * What was committed last, also when worker names another author meanwhile: what was sent is compared with what holds
   * after it, so an older author never stays.
   * @throws Error when the gateway does not take it.
   */
  async apply(orgId: string, id: string): Promise<void> {
    let sent: string | null = null;
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      const spending = await this.read(orgId, id);
      const text = JSON.stringify(spending);
      if (spending === null || text === sent) return;
      await this.put(id, text);
      sent = text;
    }
  }

  private read(orgId: string, id: string): Promise<ConversationSpending | null> {
    return inOrg(this.pool, orgId, async (client) => {
      const { rows } = await client.query<ConversationSpending>(
        `SELECT c.org_id AS org, coalesce(s.user_id, c.created_by) AS user, left(coalesce(s.user_label, c.created_by_label), 200) AS "userLabel",
           trim_scale(c.max_budget_usd)::text AS "limitUsd"
         FROM app.conversation c LEFT JOIN app.conversation_spender s ON s.conversation_id = c.id WHERE c.org_id = $1 AND c.id = $2`,
        [orgId, id],
      );
      return rows[0] ?? null;
    });
  }

  private async put(id: string, body: string): Promise<void> {
    const response = await fetch(new URL(`/internal/spending/${id}`, this.config.LLM_GATEWAY_URL), {
      method: 'PUT',
      headers: { authorization: `Bearer ${this.config.LLM_GATEWAY_MASTER_KEY}`, 'content-type': 'application/json' },
      body,
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    await response.body?.cancel();
    if (!response.ok) throw new Error(`llm-gateway answered ${response.status}`);
  }
}
