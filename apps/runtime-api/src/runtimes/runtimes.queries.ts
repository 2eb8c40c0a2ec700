import { inOrg, type SqlPool } from '@slipway/db/sql';

export interface ClaimInput {
  readonly poolId: string;
  readonly claimId: string;
  readonly runtimeId: string;
  /** `null`: /resume, which has no body of its own. */
  readonly requestHash: string | null;
  readonly sealedKey: Buffer;
  readonly sealedEnvironment: Buffer | null;
  readonly deadlineMs: number;
  readonly defaultCap: number;
  /** A claim of this session that could not be activated; it ends in the same commit. */
  readonly abandon: string | null;
}

export interface BoundClaim {
  readonly claimId: string;
  readonly claimState: 'bound' | 'active';
  readonly slotId: string;
  readonly epoch: number;
  readonly podName: string;
  readonly podUid: string;
  readonly address: string;
  readonly runtimeId: string;
  readonly sealedKey: Buffer;
  readonly sealedEnvironment: Buffer;
  readonly workspaceRef: string;
}

export type ClaimOutcome =
  | { readonly outcome: 'bound' | 'replay'; readonly claim: BoundClaim }
  | { readonly outcome: 'quota'; readonly cap: number }
  | { readonly outcome: 'mismatch' | 'empty' | 'missing' };

interface ClaimRow {
  outcome: ClaimOutcome['outcome'];
  claim_id: string;
  claim_state: 'bound' | 'active';
  slot_id: string;
  epoch: number;
  pod_name: string;
  pod_uid: string;
  address: string;
  runtime_id: string;
  api_key: Buffer;
  environment: Buffer;
  workspace_ref: string;
}

/** One round trip, one commit. */
export async function claimSlot(db: SqlPool, orgId: string, sessionId: string, input: ClaimInput): Promise<ClaimOutcome> {
  const { rows } = await db.query<ClaimRow>({
    name: 'claim_slot',
    text: 'SELECT * FROM runtime.claim_slot($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)',
    values: [
      orgId,
      sessionId,
      input.poolId,
      input.claimId,
      input.runtimeId,
      input.requestHash,
      input.sealedKey,
      input.sealedEnvironment,
      input.deadlineMs,
      input.defaultCap,
      input.abandon,
    ],
  });
  const row = rows[0];
  if (row === undefined) throw new Error('claim_slot answered nothing');
  if (row.outcome === 'quota') return { outcome: 'quota', cap: row.epoch };
  if (row.outcome !== 'bound' && row.outcome !== 'replay') return { outcome: row.outcome };
  return {
    outcome: row.outcome,
    claim: {
      claimId: row.claim_id,
      claimState: row.claim_state,
      slotId: row.slot_id,
      epoch: row.epoch,
      podName: row.pod_name,
      podUid: row.pod_uid,
      address: row.address,
      runtimeId: row.runtime_id,
      sealedKey: row.api_key,
      sealedEnvironment: row.environment,
      workspaceRef: row.workspace_ref,
    },
  };
}

export interface ActiveRuntime {
  readonly url: string;
  readonly workingDir: string;
  readonly restartCount: number;
  readonly restartReasons: string[];
}

/** `null`: the claim has ended meanwhile, and its sandbox is not to be used. */
export async function activateClaim(
  db: SqlPool,
  orgId: string,
  claim: { claimId: string; epoch: number },
  address: string,
  workingDir: string,
): Promise<ActiveRuntime | null> {
  const { rows } = await db.query<ActiveRuntime>({
    name: 'activate_claim',
    text: 'SELECT url, working_dir AS "workingDir", restart_count AS "restartCount", restart_reasons AS "restartReasons" FROM runtime.activate_claim($1, $2, $3, $4, $5)',
    values: [orgId, claim.claimId, claim.epoch, address, workingDir],
  });
  return rows[0] ?? null;
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

export interface SessionRow {
  readonly sessionId: string;
  readonly runtimeId: string;
  readonly claimId: string;
  readonly status: 'starting' | 'running' | 'paused' | 'stopped' | 'error';
  readonly statusDetail: string | null;
  readonly sealedKey: Buffer;
  readonly url: string;
  readonly workingDir: string;
  readonly restartCount: number;
  readonly restartReasons: string[];
}

const SESSION = `s.session_id AS "sessionId", s.runtime_id AS "runtimeId", s.claim_id AS "claimId", s.status, s.status_detail AS "statusDetail", s.api_key AS "sealedKey", s.url, s.working_dir AS "workingDir",
  s.lost_count + coalesce(c.restart_count, 0) AS "restartCount", s.lost_reasons || coalesce(c.restart_reasons, '{}') AS "restartReasons"
  FROM runtime.session s LEFT JOIN runtime.claim c ON c.claim_id = s.claim_id`;

export function sessionsById(db: SqlPool, orgId: string, sessionIds: readonly string[]): Promise<SessionRow[]> {
  return inOrg(
    db,
    orgId,
    async (client) => (await client.query<SessionRow>(`SELECT ${SESSION} WHERE s.org_id = $1 AND s.session_id = ANY ($2)`, [orgId, sessionIds])).rows,
  );
}

export function sessionByRuntimeId(db: SqlPool, orgId: string, runtimeId: string): Promise<SessionRow | undefined> {
  return inOrg(
    db,
    orgId,
    async (client) => (await client.query<SessionRow>(`SELECT ${SESSION} WHERE s.org_id = $1 AND s.runtime_id = $2`, [orgId, runtimeId])).rows[0],
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

/** A session whose last claim, `claimId`, has ended changes its status. False: it has a newer claim, or this one lives. */
export function setSessionStatus(db: SqlPool, orgId: string, sessionId: string, claimId: string, to: 'paused' | 'stopped'): Promise<boolean> {
  return inOrg(db, orgId, async (client) => {
    const { rowCount } = await client.query(
      `UPDATE runtime.session s SET status = $4, status_detail = NULL, changed_at = now() WHERE s.org_id = $1 AND s.session_id = $2 AND s.claim_id = $3
         AND NOT EXISTS (SELECT 1 FROM runtime.claim c WHERE c.claim_id = s.claim_id AND c.state IN ('bound', 'active'))`,
      [orgId, sessionId, claimId, to],
    );
    return rowCount === 1;
  });
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
