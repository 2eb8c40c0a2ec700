import { inOrg, type SqlPool } from '@slipway/db/sql';
import { type ActiveRuntime, activateBatch } from '../claims/bind.queries.js';

/**
 * As a batch of one, by whoever has not the session at hand. `null`: the claim has ended meanwhile, and its sandbox is
 * not to be used.
 */
export async function activateClaim(
  db: SqlPool,
  orgId: string,
  {
    claim,
    address,
    workingDir,
  }: { readonly claim: { claimId: string; epoch: number }; readonly address: string; readonly workingDir: string },
): Promise<ActiveRuntime | null> {
  const { rows } = await inOrg(db, orgId, (client) =>
    client.query<{ sessionId: string }>(
      'SELECT session_id AS "sessionId" FROM runtime.claim WHERE org_id = $1 AND claim_id = $2',
      [orgId, claim.claimId],
    ),
  );
  const sessionId = rows[0]?.sessionId;
  if (sessionId === undefined) return null;
  const [active = null] = await activateBatch(db, [{ orgId, sessionId, ...claim, address, workingDir }]);
  return active;
}

export interface ClaimEnd {
  /** End it only if no sandbox is known to have accepted it. */
  readonly only: 'bound' | 'bound-or-active';
  readonly end: 'released' | 'lost';
  readonly session: 'paused' | 'stopped' | 'error';
  readonly detail: string | null;
}

/** False: it had ended before, and nothing was changed. */
export async function releaseClaim(db: SqlPool, orgId: string, claimId: string, end: ClaimEnd): Promise<boolean> {
  const { rows } = await db.query<{ done: boolean }>({
    name: 'release_claim',
    text: 'SELECT runtime.release_claim($1, $2, $3, $4, $5, $6) AS done',
    values: [orgId, claimId, end.only === 'bound', end.end, end.session, end.detail],
  });
  return rows[0]?.done === true;
}

/**
 * The workspace that a bound claim should have had is lost: its sandbox keeps the blank one. False: the claim is not
 * bound any more.
 */
export async function replaceWorkspace(
  db: SqlPool,
  orgId: string,
  sessionId: string,
  { claim, detail }: { readonly claim: { claimId: string; podName: string }; readonly detail: string },
): Promise<boolean> {
  const { rows } = await db.query<{ done: boolean }>({
    text: 'SELECT runtime.replace_workspace($1, $2, $3, $4, $5) AS done',
    values: [orgId, sessionId, claim.claimId, claim.podName, detail],
  });
  return rows[0]?.done === true;
}

export interface HeldRestore {
  readonly claimId: string;
  readonly restorer: string;
  readonly seconds: number;
  readonly detail: string | null;
}

/**
 * Marks this replica as restorer of a bound claim for `seconds` more. False: it is not bound any more, or another
 * replica restores it.
 */
export async function holdRestore(
  db: SqlPool,
  orgId: string,
  sessionId: string,
  { claimId, restorer, seconds, detail }: HeldRestore,
): Promise<boolean> {
  const { rows } = await db.query<{ held: boolean }>({
    text: 'SELECT runtime.hold_restore($1, $2, $3, $4, $5, $6) AS held',
    values: [orgId, sessionId, claimId, restorer, seconds, detail],
  });
  return rows[0]?.held === true;
}

export interface SessionRow {
  readonly sessionId: string;
  readonly runtimeId: string;
  readonly claimId: string;
  /** The pool of its last sandbox; `null` for a session from before there was a choice. */
  readonly poolId: string | null;
  readonly status: 'starting' | 'running' | 'paused' | 'stopped' | 'error';
  readonly statusDetail: string | null;
  readonly sealedKey: Buffer;
  readonly url: string;
  readonly workingDir: string;
  readonly restartCount: number;
  readonly restartReasons: string[];
  /** Of the sandbox that it had last; absent when not read. */
  readonly workspace?: SessionWorkspace | undefined;
}

/** What became of the workspace of a session's last sandbox. */
export interface SessionWorkspace {
  readonly slotState: string | null;
  readonly problem: string | null;
  readonly lost: boolean;
  readonly isKnown: boolean;
}

const SESSION = `s.session_id AS "sessionId", s.runtime_id AS "runtimeId", s.claim_id AS "claimId", s.pool_id AS "poolId", s.status, s.status_detail AS "statusDetail", s.api_key AS "sealedKey", s.url, s.working_dir AS "workingDir",
  s.lost_count + coalesce(c.restart_count, 0) AS "restartCount", s.lost_reasons || coalesce(c.restart_reasons, '{}') AS "restartReasons",
  json_build_object('slotState', v.state, 'problem', v.workspace_problem, 'lost', coalesce(v.workspace_lost, false), 'isKnown', s.workspace_ref IS NOT NULL) AS workspace
  FROM runtime.session s LEFT JOIN runtime.claim c ON c.claim_id = s.claim_id LEFT JOIN runtime.slot v ON v.slot_id = c.slot_id`;

export function sessionsById(db: SqlPool, orgId: string, sessionIds: readonly string[]): Promise<SessionRow[]> {
  return inOrg(
    db,
    orgId,
    async (client) =>
      (
        await client.query<SessionRow>(`SELECT ${SESSION} WHERE s.org_id = $1 AND s.session_id = ANY ($2)`, [
          orgId,
          sessionIds,
        ])
      ).rows,
  );
}

export function sessionByRuntimeId(db: SqlPool, orgId: string, runtimeId: string): Promise<SessionRow | undefined> {
  return inOrg(
    db,
    orgId,
    async (client) =>
      (
        await client.query<SessionRow>(`SELECT ${SESSION} WHERE s.org_id = $1 AND s.runtime_id = $2`, [
          orgId,
          runtimeId,
        ])
      ).rows[0],
  );
}

/** Newest first, at most `limit`; sessions stopped longer ago than `stoppedSeconds` have disappeared. */
export function listSessions(db: SqlPool, orgId: string, limit: number, stoppedSeconds: number): Promise<SessionRow[]> {
  return inOrg(
    db,
    orgId,
    async (client) =>
      (
        await client.query<SessionRow>(
          `SELECT ${SESSION} WHERE s.org_id = $1 AND NOT (s.status = 'stopped' AND s.changed_at < now() - $3 * interval '1 second') ORDER BY s.created_at DESC LIMIT $2`,
          [orgId, limit, stoppedSeconds],
        )
      ).rows,
  );
}

/**
 * A session whose last claim, `claimId`, has ended changes its status. False: it has a newer claim, or this one is
 * live.
 */
export async function setSessionStatus(
  db: SqlPool,
  orgId: string,
  sessionId: string,
  { claimId, to }: { readonly claimId: string; readonly to: 'paused' | 'stopped' },
): Promise<boolean> {
  const { rows } = await db.query<{ done: boolean }>({
    text: 'SELECT runtime.set_session_status($1, $2, $3, $4) AS done',
    values: [orgId, sessionId, claimId, to],
  });
  return rows[0]?.done === true;
}

export interface OldSandbox {
  readonly slotId: string;
  readonly podName: string;
  readonly podUid: string;
}

/** Sandboxes of a session's ended claims that have not been removed yet. */
export function unremovedSandboxes(db: SqlPool, orgId: string, sessionId: string): Promise<OldSandbox[]> {
  return inOrg(
    db,
    orgId,
    async (client) =>
      (
        await client.query<OldSandbox>(
          `SELECT v.slot_id AS "slotId", v.pod_name AS "podName", v.pod_uid AS "podUid" FROM runtime.claim c JOIN runtime.slot v USING (slot_id)
           WHERE c.org_id = $1 AND c.session_id = $2 AND v.state = 'releasing'`,
          [orgId, sessionId],
        )
      ).rows,
  );
}
