import type { ConfirmationMode } from '@slipway/contracts/conversations';
import type { Columns, PoolClient } from '@slipway/db/sql';

/** Under the lock of the row. A trigger counts the change in `settings_version`. */
export async function setMode(
  client: PoolClient,
  orgId: string,
  conversationId: string,
  mode: ConfirmationMode,
): Promise<void> {
  await client.query({
    name: 'set-confirmation-mode',
    text: 'UPDATE app.conversation SET confirmation_mode = $3 WHERE org_id = $1 AND id = $2',
    values: [orgId, conversationId, mode],
  });
}

export async function modeOf(
  client: PoolClient,
  orgId: string,
  conversationId: string,
): Promise<{ mode: ConfirmationMode; head: number } | null> {
  const { rows } = await client.query<Columns<'app.conversation', 'head'> & { mode: ConfirmationMode }>({
    name: 'confirmation-mode-of',
    text: 'SELECT confirmation_mode AS mode, head FROM app.conversation WHERE org_id = $1 AND id = $2',
    values: [orgId, conversationId],
  });
  return rows[0] ?? null;
}
