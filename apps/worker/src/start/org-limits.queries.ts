import { type AgentType, ConfirmationMode, type OrgConfirmationPolicy, OrgSettingValues } from '@slipway/contracts';
import { inOrg, type SqlPool } from '@slipway/db/sql';
import { stricterMode } from '@slipway/domain';

export interface AskFirst {
  readonly mode: ConfirmationMode;
  readonly brake: OrgConfirmationPolicy;
  /** Rises with each change of the organization's settings and of the conversation's mode: read together, so that what is newer has the greater one. */
  readonly version: number;
}

/**
 * How often the agent of a conversation asks before it acts: its own mode, or the organization's where that is stricter; and what of it the organization keeps in its own hands.
 * What cannot be read is as strict as can be: the brake holds.
 */
export async function confirmationOf(pool: SqlPool, orgId: string, conversationId: string): Promise<AskFirst> {
  const { rows } = await inOrg(pool, orgId, (client) =>
    client.query<{ own: unknown; floor: unknown; four_eyes: unknown; version: number }>({
      name: 'confirmation-of-conversation',
      text: `SELECT c.confirmation_mode AS own, o.settings -> 'confirmation' AS floor, o.settings -> 'fourEyes' AS four_eyes,
               c.confirmation_version + coalesce(o.settings_version, 0) AS version
             FROM app.conversation c LEFT JOIN app.org o ON o.id = c.org_id WHERE c.org_id = $1 AND c.id = $2`,
      values: [orgId, conversationId],
    }),
  );
  const read = (value: unknown): ConfirmationMode => ConfirmationMode.catch('always').parse(value ?? 'never');
  const floor = read(rows[0]?.floor);
  const fourEyes = OrgSettingValues.shape.fourEyes.catch(true).parse(rows[0]?.four_eyes ?? false);
  return { mode: stricterMode(read(rows[0]?.own), floor), brake: { floor, fourEyes }, version: rows[0]?.version ?? 0 };
}

/** Steps that an agent of the organization may take for one message, as its admins have set them; `null` when they have not. */
export async function maxIterationsOf(pool: SqlPool, orgId: string): Promise<number | null> {
  const { rows } = await inOrg(pool, orgId, (client) =>
    client.query<{ value: unknown }>("SELECT settings -> 'maxIterations' AS value FROM app.org WHERE id = $1", [orgId]),
  );
  return OrgSettingValues.shape.maxIterations.catch(null).parse(rows[0]?.value ?? null);
}

/** Run settings of a conversation, and the text that identifies them as acknowledged. */
export interface Terms {
  readonly agentType: AgentType;
  /** Of the conversation alone; `null`: none of its own. */
  readonly maxIterations: number | null;
  /** US dollars. */
  readonly maxBudgetUsd: number | null;
  readonly text: string;
  /** Rises with each change. */
  readonly version: number;
}

/** @throws Error when there is no such conversation. */
export async function conversationTermsOf(pool: SqlPool, orgId: string, conversationId: string): Promise<Terms> {
  const { rows } = await inOrg(pool, orgId, (client) =>
    client.query<{ agent_type: AgentType; max_iterations: number | null; max_budget_usd: string | null; text: string; terms_version: number }>({
      name: 'terms-of-conversation',
      text: `SELECT agent_type, max_iterations, max_budget_usd, terms_version, app.terms_of_conversation(agent_type, max_iterations, max_budget_usd) AS text
             FROM app.conversation WHERE org_id = $1 AND id = $2`,
      values: [orgId, conversationId],
    }),
  );
  const [row] = rows;
  if (row === undefined) throw new Error('a conversation that is held is not there');
  return {
    agentType: row.agent_type,
    maxIterations: row.max_iterations,
    maxBudgetUsd: row.max_budget_usd === null ? null : Number(row.max_budget_usd),
    text: row.text,
    version: row.terms_version,
  };
}
