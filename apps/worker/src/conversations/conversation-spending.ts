import { inOrg, type SqlPool } from '@slipway/db/sql';
import { SlipwayError } from '@slipway/errors';
import type { LlmGatewayClient } from '../clients/llm-gateway.client.js';

export interface Author {
  readonly id: string;
  readonly label: string;
}

interface Spending {
  readonly user: string;
  readonly userLabel: string;
  readonly limitUsd: string | null;
  /** What the gateway has acknowledged; `null`: unknown. */
  readonly applied: string | null;
}

/** Attempts at once when the spender changes while the gateway acknowledges an earlier one. */
const MAX_ROUNDS = 5;

/**
 * Sends to the gateway the spender of a conversation's model calls, and the conversation's own limit.
 *
 * A message counts for its author. The sandbox cannot choose: the gateway maps its key to the spender. Of two authors
 * whose messages one run reads, the later pays from the moment at which theirs is delivered.
 */
export class ConversationSpendings {
  constructor(
    private readonly pool: SqlPool,
    private readonly gateway: Pick<LlmGatewayClient, 'putSpending'>,
  ) {}

  /**
   * Before a message is handed over. @throws SlipwayError `service.unavailable`: the gateway does not know, so the
   * message must wait.
   */
  async charge(orgId: string, id: string, author: Author, signal: AbortSignal): Promise<void> {
    await inOrg(this.pool, orgId, (client) =>
      client.query(
        `INSERT INTO app.conversation_spender AS s (conversation_id, org_id, user_id, user_label) VALUES ($1, $2, $3, $4)
         ON CONFLICT (conversation_id) DO UPDATE SET user_id = excluded.user_id, user_label = excluded.user_label, applied = NULL
           WHERE (s.user_id, s.user_label) IS DISTINCT FROM (excluded.user_id, excluded.user_label)`,
        [id, orgId, author.id, author.label],
      ),
    );
    await this.apply(orgId, id, signal);
  }

  /**
   * Does nothing while the gateway has acknowledged what holds. @param fresh its keys are new: they know nothing yet.
   * @throws SlipwayError `service.unavailable`.
   */
  async apply(orgId: string, id: string, signal: AbortSignal, fresh = false): Promise<void> {
    let isKnown = !fresh;
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const spending = await this.read(orgId, id);
      if (spending === null) return;
      const { user, userLabel, limitUsd } = spending;
      const text = JSON.stringify([user, userLabel, limitUsd]);
      if (isKnown && spending.applied === text) return;
      await this.gateway.putSpending(id, { org: orgId, user, userLabel: userLabel.slice(0, 200), limitUsd }, signal);
      // The limit may have changed by now, too: checked once more.
      isKnown = await this.acknowledged(orgId, id, spending, text);
    }
    throw new SlipwayError(
      'service.unavailable',
      'The spender of this conversation changes too often to be acknowledged.',
      { retryAfterSeconds: 1 },
    );
  }

  /** False: the spender has changed. The gateway may have got the two in the wrong order, so it is sent again. */
  private acknowledged(orgId: string, id: string, { user, userLabel }: Spending, text: string): Promise<boolean> {
    return inOrg(this.pool, orgId, async (client) => {
      const { rowCount } = await client.query(
        `INSERT INTO app.conversation_spender AS s (conversation_id, org_id, user_id, user_label, applied) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (conversation_id) DO UPDATE SET applied = excluded.applied WHERE (s.user_id, s.user_label) = (excluded.user_id, excluded.user_label)`,
        [id, orgId, user, userLabel, text],
      );
      return rowCount === 1;
    });
  }

  private read(orgId: string, id: string): Promise<Spending | null> {
    return inOrg(this.pool, orgId, async (client) => {
      const { rows } = await client.query<Spending>({
        name: 'conversation-spending',
        text: `SELECT coalesce(s.user_id, c.created_by) AS user, coalesce(s.user_label, c.created_by_label) AS "userLabel",
                 trim_scale(c.max_budget_usd)::text AS "limitUsd", s.applied
               FROM app.conversation c LEFT JOIN app.conversation_spender s ON s.conversation_id = c.id WHERE c.org_id = $1 AND c.id = $2`,
        values: [orgId, id],
      });
      return rows[0] ?? null;
    });
  }
}
