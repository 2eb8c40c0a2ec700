import type { ConversationApp } from '../../apps/app-server/dist/testing/conversation-app.js';

/** What is broken on purpose, to see that the property finds it. */
export type Broken =
  | 'run-accepts'
  | 'no-key-means-app'
  | 'last-author-only'
  | 'log-is-believed'
  | 'entry-with-event'
  | 'files-steer-nobody'
  | 'any-approval-ends-asking'
  | 'one-step-of-makers';

type Owner = ConversationApp['owner'];

/** Makes of what app-server counts by what it would be without one of its rules; before each approval. */
export async function breakAskers(owner: Owner, id: string, broken: Broken | null): Promise<void> {
  if (broken === 'last-author-only') await forgetAllButTheLastAuthor(owner, id);
  if (broken === 'files-steer-nobody')
    await owner.query('DELETE FROM app.sandbox_steering WHERE conversation_id = $1', [id]);
  if (broken === 'one-step-of-makers') await forgetWhoIsBehindMakers(owner);
  if (broken === 'any-approval-ends-asking')
    await owner.query(
      `UPDATE app.audit_entry SET detail = detail || '{"fourEyes": true}' WHERE target = $1 AND action = 'conversation.approve'`,
      [id],
    );
}

/**
 * `entry-with-event`: approvals are written down only with the event that a sandbox makes of them, as it was before.
 */
export async function breakAudit(owner: Owner, id: string, broken: Broken | null): Promise<void> {
  if (broken !== 'entry-with-event') return;
  await owner.query(
    `DELETE FROM app.audit_entry a WHERE target = $1 AND action = 'conversation.approve' AND NOT EXISTS (SELECT 1 FROM app.event e
       WHERE e.conversation_id = $1::uuid AND e.event->>'key' = 'confirmation' AND (e.event->'value'->'action_ids')::jsonb = a.detail->'actions')`,
    [id],
  );
}

/**
 * Who stands behind what a service account has made is followed no further than to that account. For good: the last
 * variant.
 */
async function forgetWhoIsBehindMakers(owner: Owner): Promise<void> {
  await owner.query(`UPDATE app.service_account SET created_by = id WHERE created_by LIKE 'svc%'`);
  await owner.query(
    `UPDATE app.api_key SET created_by = owner_id WHERE owner_kind = 'service-account' AND created_by LIKE 'svc%'`,
  );
}

/** As app-server counted before: the owner and the last author of the app's own inbox. */
async function forgetAllButTheLastAuthor(owner: Owner, id: string): Promise<void> {
  await owner.query(
    `UPDATE app.inbox_message SET created_by = (SELECT created_by FROM app.inbox_message WHERE conversation_id = $1 ORDER BY position DESC LIMIT 1) WHERE conversation_id = $1`,
    [id],
  );
  await owner.query(
    `UPDATE app.event SET event = (event::jsonb - 'sender_id')::json WHERE conversation_id = $1 AND kind = 'MessageEvent'`,
    [id],
  );
}
