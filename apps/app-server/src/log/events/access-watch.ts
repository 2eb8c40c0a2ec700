import type { Authenticated } from '@slipway/auth';
import { type Permission, ROLE_PERMISSIONS, type Role } from '@slipway/contracts/organizations';
import { asSystem, type SqlPool } from '@slipway/db/sql';
import type { Logger } from '@slipway/telemetry';

/**
 * Interval of the access checks of all open readers. Milliseconds: the longest that events are sent after a sign-out or
 * a lost membership.
 */
const CHECK_MS = 900;
const NEEDED: Permission = 'conversation:read';

/** What an open reader was authenticated by: a session or an API key. */
export interface WatchedCredential {
  readonly kind: Authenticated['kind'];
  readonly id: string;
}

interface Watched {
  readonly proof: WatchedCredential;
  /** `null`: the session or the key alone. */
  readonly orgId: string | null;
  readonly revoked: () => void;
}

export function watchedCredential(authenticated: Authenticated): WatchedCredential {
  return authenticated.kind === 'session'
    ? { kind: 'session', id: authenticated.user.sessionId }
    : { kind: 'api-key', id: authenticated.key.keyId };
}

/**
 * Ends open sockets and streams whose user has signed out or left the organization, and those of keys that are revoked,
 * over, or whose owner has lost the right: one query for all of them. When the database does not answer they stay, as
 * nothing new can be committed either.
 */
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

  /**
   * Calls `revoked` once, when this session or key may no longer read the organization's conversations. The answer ends
   * the watch.
   */
  watch(proof: WatchedCredential, orgId: string, revoked: () => void): () => void {
    return this.add({ proof, orgId, revoked });
  }

  /** Calls `revoked` once, when this session or key has ended. The answer ends the watch. */
  watchCredential(proof: WatchedCredential, revoked: () => void): () => void {
    return this.add({ proof, orgId: null, revoked });
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
        client.query<{
          kind: WatchedCredential['kind'];
          id: string;
          org: string | null;
          role: Role | null;
          scopes: string[] | null;
        }>({
          name: 'check-access',
          text: `SELECT w.kind, w.id, w.org, m.role, NULL::text[] AS scopes FROM unnest($1::text[], $2::text[], $3::text[]) AS w(kind, id, org)
                   JOIN app.session s ON w.kind = 'session' AND s.id = w.id AND s.expires_at > now()
                   JOIN app.user_account u ON u.id = s.user_id AND u.deactivated_at IS NULL
                   LEFT JOIN (app.membership m JOIN app.org o ON o.id = m.org_id AND (o.deletes_at IS NULL OR m.role = 'owner')) ON app.session_needs(s, o) IS NULL AND m.user_id = s.user_id AND m.org_id = w.org
                 UNION ALL
                 SELECT w.kind, w.id, w.org, k.role, k.scopes FROM unnest($1::text[], $2::text[], $3::text[]) AS w(kind, id, org)
                   CROSS JOIN LATERAL app.find_api_key(w.id) k WHERE w.kind = 'api-key' AND (w.org IS NULL OR w.org = k.org_id)`,
          values: [
            pairs.map(({ proof }) => proof.kind),
            pairs.map(({ proof }) => proof.id),
            pairs.map(({ orgId }) => orgId),
          ],
        }),
      );
      const allowed = new Set(
        rows
          .filter(
            ({ org, role, scopes }) => org === null || (mayRead(role) && (scopes === null || scopes.includes(NEEDED))),
          )
          .map(({ kind, id, org }) => pairOf({ proof: { kind, id }, orgId: org })),
      );
      for (const each of asked) if (!allowed.has(pairOf(each)) && this.watched.delete(each)) each.revoked();
    } catch (error) {
      this.logger.warn({ err: error }, 'access check of open readers failed, will retry');
    } finally {
      this.checking = false;
    }
  }
}

function mayRead(role: Role | null): boolean {
  return role !== null && (ROLE_PERMISSIONS[role] as readonly Permission[]).includes(NEEDED);
}

function pairOf({ proof, orgId }: Pick<Watched, 'proof' | 'orgId'>): string {
  return `${proof.kind} ${proof.id} ${orgId ?? ''}`;
}
