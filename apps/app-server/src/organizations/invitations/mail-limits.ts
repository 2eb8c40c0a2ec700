import type { PoolClient } from '@slipway/db/sql';
import { SlipwayError } from '@slipway/errors';
import type { Config } from '../../config.js';

/** As the configuration has them. */
export type MailLimits = Pick<
  Config,
  | 'INVITATION_MAILS_PER_DAY'
  | 'INVITATION_MAILS_PER_DAY_NEW'
  | 'INVITATION_MAILS_PER_ADDRESS'
  | 'INVITATION_PAUSE_SECONDS'
>;
/** An organization is new for so long. Days. */
const NEW_DAYS = 7;
const DAY_SECONDS = 86_400;

interface Sent {
  /** Mails of the organization in the last 24 hours, and when the first of them leaves the window. Seconds. */
  readonly sent: number;
  readonly free_in: number | null;
  readonly is_new: boolean;
}

/**
 * Whether the organization may write to these addresses now. Counted in the rows of outgoing mail, so that it holds for
 * all replicas, resends included; the locks hold until the transaction ends. The caller holds the organization's row.
 *
 * @throws SlipwayError `invitation.mail-limit` with the seconds until it may; nothing has been sent then.
 */
export async function assertMayMail(
  client: PoolClient,
  orgId: string,
  addresses: readonly string[],
  limits: MailLimits,
): Promise<void> {
  if (addresses.length === 0) return;
  const org = await mailsOfOrg(client, orgId);
  const most = org.is_new ? limits.INVITATION_MAILS_PER_DAY_NEW : limits.INVITATION_MAILS_PER_DAY;
  if (org.sent + addresses.length > most)
    throw limited(
      `Your organization may send ${most} invitations in 24 hours, and has sent ${org.sent}.`,
      org.free_in ?? DAY_SECONDS,
    );
  await lockAddresses(client, addresses);
  for (const { address, reason, seconds } of await addressesTooSoon(client, orgId, addresses, limits))
    throw limited(
      `${address} had ${reason === 'pause' ? `a mail of your organization within ${Math.ceil(limits.INVITATION_PAUSE_SECONDS / 60)} minutes` : 'too many invitations today'}.`,
      seconds,
    );
}

async function mailsOfOrg(client: PoolClient, orgId: string): Promise<Sent> {
  const { rows } = await client.query<Sent>(
    `SELECT (SELECT count(*)::int FROM app.outgoing_mail WHERE org_id = $1 AND created_at > now() - interval '1 day') AS sent,
       (SELECT ceil(extract(epoch FROM min(created_at) + interval '1 day' - now()))::int FROM app.outgoing_mail
         WHERE org_id = $1 AND created_at > now() - interval '1 day') AS free_in,
       o.created_at > now() - $2 * interval '1 day'
         AND NOT EXISTS (SELECT 1 FROM app.org_domain WHERE org_id = $1 AND verified_at IS NOT NULL) AS is_new
     FROM app.org o WHERE o.id = $1`,
    [orgId, NEW_DAYS],
  );
  return rows[0] ?? { sent: 0, free_in: null, is_new: true };
}

/** In one global order, so that two who write to the same addresses do not wait for each other. */
async function lockAddresses(client: PoolClient, addresses: readonly string[]): Promise<void> {
  await client.query(
    `SELECT pg_advisory_xact_lock(hashtextextended('mail to ' || address, 0)) FROM (SELECT address FROM unnest($1::text[]) address ORDER BY address) AS ordered`,
    [addresses],
  );
}

/**
 * Across organizations, which one organization's own role does not see: the role for that holds for this one statement.
 */
async function addressesTooSoon(
  client: PoolClient,
  orgId: string,
  addresses: readonly string[],
  limits: MailLimits,
): Promise<Array<{ address: string; reason: 'pause' | 'day'; seconds: number }>> {
  await client.query('SET LOCAL ROLE slipway_app_system');
  const { rows } = await client.query<{ address: string; reason: 'pause' | 'day'; seconds: number }>(
    `SELECT recipient AS address,
       CASE WHEN bool_or(org_id = $1 AND created_at > now() - $3 * interval '1 second') THEN 'pause' ELSE 'day' END AS reason,
       CASE WHEN bool_or(org_id = $1 AND created_at > now() - $3 * interval '1 second')
         THEN ceil($3 - extract(epoch FROM now() - max(created_at) FILTER (WHERE org_id = $1)))::int
         ELSE ceil(extract(epoch FROM min(created_at) + interval '1 day' - now()))::int END AS seconds
     FROM app.outgoing_mail WHERE recipient = ANY ($2) AND created_at > now() - interval '1 day'
     GROUP BY recipient
     HAVING count(*) >= $4 OR bool_or(org_id = $1 AND created_at > now() - $3 * interval '1 second')`,
    [orgId, addresses, limits.INVITATION_PAUSE_SECONDS, limits.INVITATION_MAILS_PER_ADDRESS],
  );
  await client.query('RESET ROLE');
  return rows;
}

function limited(detail: string, seconds: number): SlipwayError {
  return new SlipwayError('invitation.mail-limit', detail, { retryAfterSeconds: Math.max(1, seconds) });
}
