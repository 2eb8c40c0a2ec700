import type { ConfirmationMode } from '@slipway/contracts';
import type { PoolClient } from '@slipway/db/sql';
import { orgSettingsOf } from '../org-settings/org-settings.queries.js';

/** Under the lock of the row. */
export async function setMode(client: PoolClient, orgId: string, conversationId: string, mode: ConfirmationMode): Promise<void> {
  await client.query({
    name: 'set-confirmation-mode',
    text: 'UPDATE app.conversation SET confirmation_mode = $3, confirmation_version = confirmation_version + 1 WHERE org_id = $1 AND id = $2',
    values: [orgId, conversationId, mode],
  });
}

interface AskFirst {
  readonly mode: ConfirmationMode;
  readonly floor: ConfirmationMode;
  readonly fourEyes: boolean;
  /** Of both together, as worker counts it (`AskFirst.version`). */
  readonly version: number;
}

/** The conversation's mode and the organization's part in one look: what is newer has the greater version. */
export async function askFirstOf(client: PoolClient, orgId: string, conversationId: string): Promise<AskFirst | null> {
  const { rows } = await client.query<{ mode: ConfirmationMode; settings: unknown; version: number }>({
    name: 'ask-first-of',
    text: `SELECT c.confirmation_mode AS mode, o.settings, c.confirmation_version + o.settings_version AS version
           FROM app.conversation c JOIN app.org o ON o.id = c.org_id WHERE c.org_id = $1 AND c.id = $2`,
    values: [orgId, conversationId],
  });
  if (rows[0] === undefined) return null;
  const { mode, settings, version } = rows[0];
  const { confirmation: floor, fourEyes } = orgSettingsOf(settings);
  return { mode, floor, fourEyes, version };
}

export async function modeOf(client: PoolClient, orgId: string, conversationId: string): Promise<{ mode: ConfirmationMode; head: number } | null> {
  const { rows } = await client.query<{ mode: ConfirmationMode; head: number }>({
    name: 'confirmation-mode-of',
    text: 'SELECT confirmation_mode AS mode, head FROM app.conversation WHERE org_id = $1 AND id = $2',
    values: [orgId, conversationId],
  });
  return rows[0] ?? null;
}
