import { type AgentSettings, type AgentType, type ApplySettings } from '@slipway/contracts/agent';
import { ConfirmationMode } from '@slipway/contracts/conversations';
import { OrgSettingValues } from '@slipway/contracts/organizations';
import { settingsOfMode, stricterMode } from '@slipway/domain';
import type { PoolClient } from '../sql/index.js';

/** The settings that an agent of the conversation has to have, and their version. */
export interface StoredSettings {
  /** Without the model: whoever sends it may have to make a key first. */
  readonly settings: Omit<AgentSettings, 'model'>;
  /** As the conversation names it. */
  readonly model: string;
  /**
   * Sum of the conversation's and the organization's counters, read in one statement: of two documents the newer one
   * has the higher version.
   */
  readonly version: number;
  readonly earlierVersions: NonNullable<ApplySettings['earlierVersions']>;
}

interface Row {
  readonly model: string;
  readonly agent_type: AgentType;
  readonly max_iterations: number | null;
  readonly max_budget_usd: string | null;
  readonly own_mode: unknown;
  readonly floor: unknown;
  readonly four_eyes: unknown;
  readonly version: number;
  readonly earlier_run_settings: number;
  readonly earlier_confirmation: number;
}

/** `null` when there is no such conversation. A confirmation mode that cannot be read counts as the strictest. */
export async function readAgentSettings(
  client: PoolClient,
  orgId: string,
  conversationId: string,
): Promise<StoredSettings | null> {
  const { rows } = await client.query<Row>({
    name: 'agent-settings',
    text: `SELECT c.model, c.agent_type, c.max_iterations, c.max_budget_usd, c.confirmation_mode AS own_mode,
             o.settings -> 'confirmation' AS floor, o.settings -> 'fourEyes' AS four_eyes,
             c.settings_version + coalesce(o.settings_version, 0) AS version,
             c.terms_version AS earlier_run_settings, c.confirmation_version + coalesce(o.settings_version, 0) AS earlier_confirmation
           FROM app.conversation c LEFT JOIN app.org o ON o.id = c.org_id WHERE c.org_id = $1 AND c.id = $2`,
    values: [orgId, conversationId],
  });
  const [row] = rows;
  if (row === undefined) return null;
  const floor = modeOf(row.floor);
  const fourEyes = OrgSettingValues.shape.fourEyes.catch(true).parse(row.four_eyes ?? false);
  return {
    settings: {
      agentType: row.agent_type,
      limits: {
        maxIterations: row.max_iterations,
        maxBudgetUsd: row.max_budget_usd === null ? null : Number(row.max_budget_usd),
      },
      confirmation: { ...settingsOfMode(stricterMode(modeOf(row.own_mode), floor)), organization: { floor, fourEyes } },
    },
    model: row.model,
    version: row.version,
    earlierVersions: { runSettings: row.earlier_run_settings, confirmation: row.earlier_confirmation },
  };
}

function modeOf(value: unknown): ConfirmationMode {
  return ConfirmationMode.catch('always').parse(value ?? 'never');
}

/** Of the row `c` of `app.conversation`. */
export const SETTINGS_VERSION =
  'c.settings_version + coalesce((SELECT o.settings_version FROM app.org o WHERE o.id = c.org_id), 0)';

/**
 * The agent has this version, so that the worker need not apply it. No-op when the conversation has a newer one by now,
 * another start, or a model that its agent does not have: only the worker gives an agent its model.
 */
export async function markSettingsAcknowledged(
  client: PoolClient,
  orgId: string,
  conversationId: string,
  { version, epoch }: { readonly version: number; readonly epoch: number },
): Promise<void> {
  await client.query(
    `UPDATE app.conversation c SET checkpoint = checkpoint || jsonb_build_object('settingsVersion', $3::integer)
     WHERE org_id = $1 AND id = $2 AND epoch = $4 AND ${SETTINGS_VERSION} = $3
       AND coalesce(checkpoint ->> 'model', model) = model AND NOT checkpoint ? 'modelsTried'`,
    [orgId, conversationId, version, epoch],
  );
}
