import { type Permission, ROLE_PERMISSIONS, type Role } from '@slipway/contracts';
import { asSystem, type SqlPool } from '@slipway/db/sql';
import type { Logger } from '@slipway/telemetry';

/** How often every open reader's right to read is looked at. Milliseconds: after a sign-out or a lost membership nothing is sent for longer. */
const CHECK_MS = 900;
const NEEDED: Permission = 'conversation:read';

interface Watched {
  readonly sessionId: string;
  /** `null`: the session alone. */
  readonly orgId: string | null;
  readonly revoked: () => void;
}

/** Ends open sockets and streams whose person has signed out or left the organization: one query for all of them. When the database does not answer they stay, as nothing new can be committed either. */
export class AccessWatch {
  private readonly watched = new Set<Watched>();
  private readonly timer: NodeJS.Timeout;
  private checking = false;

  constructor(
    private readonly pool: SqlPool,
    private readonly logger: Logger,
  ) {
    this.timer = setInterval(() => void this.check(), CHECK_MS);
    this.timer.unref();
  }

  /** Calls `revoked` once, when this session may no longer read the organization's conversations. The answer ends the watch. */
  watch(sessionId: string, orgId: string, revoked: () => void): () => void {
    return this.add({ sessionId, orgId, revoked });
  }

  /** Calls `revoked` once, when this session has ended. The answer ends the watch. */
  watchSession(sessionId: string, revoked: () => void): () => void {
    return this.add({ sessionId, orgId: null, revoked });
  }

  private add(watched: Watched): () => void {
    this.watched.add(watched);
    return () => void this.watched.delete(watched);
  }

  close(): void {
    clearInterval(this.timer);
    this.watched.clear();
  }

  private async check(): Promise<void> {
    if (this.checking || this.watched.size === 0) return;
    this.checking = true;
    try {
      const asked = [...this.watched];
      const pairs = [...new Map(asked.map((each) => [pairOf(each), each])).values()];
      const { rows } = await asSystem(this.pool, 'slipway_app_system', 'may open readers still read', (client) =>
        client.query<{ session: string; org: string | null; role: Role | null }>({
          name: 'check-access',
          text: `SELECT w.session, w.org, m.role FROM unnest($1::text[], $2::text[]) AS w(session, org)
                 JOIN app.session s ON s.id = w.session AND s.expires_at > now() JOIN app.user_account u ON u.id = s.user_id AND u.deactivated_at IS NULL
                 LEFT JOIN app.membership m ON m.user_id = s.user_id AND m.org_id = w.org`,
          values: [pairs.map(({ sessionId }) => sessionId), pairs.map(({ orgId }) => orgId)],
        }),
      );
      const allowed = new Set(
        rows
          .filter(({ org, role }) => org === null || (role !== null && (ROLE_PERMISSIONS[role] as readonly Permission[]).includes(NEEDED)))
          .map(({ session, org }) => pairOf({ sessionId: session, orgId: org })),
      );
      for (const each of asked) if (!allowed.has(pairOf(each)) && this.watched.delete(each)) each.revoked();
    } catch (error) {
      this.logger.warn({ err: error }, 'rights of open readers could not be looked at; the next look tries again');
    } finally {
      this.checking = false;
    }
  }
}

function pairOf({ sessionId, orgId }: { sessionId: string; orgId: string | null }): string {
  return `${sessionId} ${orgId ?? ''}`;
}
