import type { PoolClient } from '@slipway/db/sql';

/**
 * SQL: a row `u` of `app.user_account` allows analytics now. Besides the user's own yes, the account is in use and none
 * of their browsers asks not to be tracked.
 */
export const ALLOWS_NOW = `u.analytics_since IS NOT NULL AND u.deactivated_at IS NULL
  AND NOT EXISTS (SELECT 1 FROM app.session s WHERE s.user_id = u.id AND s.refuses_tracking AND s.expires_at > now())`;

/** Events about a time before consent was possible; they are made once a user consents. */
export const MILESTONES = ['user_signed_up', 'org_created'] as const;
const MILESTONE_LIST = MILESTONES.map((name) => `'${name}'`).join(', ');

/**
 * SQL: a row `e` of events is allowed by its organization and its user, now and at its time. An event of the same
 * millisecond as the consent may precede it, and is not allowed.
 */
export const EVENT_ALLOWED = `EXISTS (SELECT 1 FROM app.org o, app.user_account u WHERE o.id = e.org_id AND u.id = e.user_id AND o.analytics_since IS NOT NULL
  AND (e.name IN (${MILESTONE_LIST}) OR e.at > greatest(o.analytics_since, u.analytics_since)) AND ${ALLOWS_NOW})`;

/** Members of an organization that allows analytics who allow it themselves, and since when both hold. */
export const ALLOWING_MEMBERS = `SELECT m.user_id, u.created_at AS user_created_at, o.created_at AS org_created_at, o.kind, m.source, greatest(o.analytics_since, u.analytics_since) AS since
  FROM app.org o JOIN app.membership m ON m.org_id = o.id JOIN app.user_account u ON u.id = m.user_id
  WHERE o.id = $1 AND o.analytics_since IS NOT NULL AND ${ALLOWS_NOW}`;

/**
 * Deletes pending events of a user who no longer allows analytics. In the transaction of the withdrawal, as the system
 * role: the events are in several organizations.
 */
export async function dropEventsOfUser(client: PoolClient, userId: string): Promise<void> {
  await client.query('DELETE FROM app.analytics_event WHERE user_id = $1', [userId]);
}

/**
 * Deletes pending events of an organization that no longer allows analytics, and the position up to which its log was
 * read.
 */
export async function dropEventsOfOrg(client: PoolClient, orgId: string): Promise<void> {
  await client.query('DELETE FROM app.analytics_event WHERE org_id = $1', [orgId]);
  await client.query('DELETE FROM app.analytics_position WHERE org_id = $1', [orgId]);
  await client.query('DELETE FROM app.analytics_conversation WHERE org_id = $1', [orgId]);
}
