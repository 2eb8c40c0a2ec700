import type { SqlPool } from '@slipway/db/sql';
import type { LeasedSlot } from './lease.queries.js';

export interface BindRequest {
  readonly orgId: string;
  readonly sessionId: string;
  readonly poolId: string;
  /** What it counts in the organization's cap. */
  readonly cost: number;
  readonly lane: 'interactive' | 'batch';
  readonly claimId: string;
  readonly runtimeId: string;
  /** `null`: /resume, which has no body of its own. */
  readonly requestHash: string | null;
  readonly sealedKey: Buffer;
  readonly sealedEnvironment: Buffer | null;
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
  /** `null`: a new session, which has what was sent. */
  readonly sealedKey: Buffer | null;
  readonly sealedEnvironment: Buffer | null;
  readonly workspaceRef: string;
}

/** `lost`: the leased slot that was sent with the request was not its own any more. */
export type BindOutcome =
  | { readonly outcome: 'bound' | 'replay'; readonly claim: BoundClaim; readonly lost: boolean }
  | { readonly outcome: 'quota'; readonly cap: number; readonly lost: boolean }
  /** Waits for its turn, as this claim. */
  | { readonly outcome: 'queued'; readonly claimId: string; readonly lost: boolean }
  | { readonly outcome: 'mismatch' | 'missing'; readonly lost: boolean };

interface BindRow {
  n: number;
  outcome: BindOutcome['outcome'];
  lost: boolean;
  cap: number;
  claim_id: string;
  claim_state: 'bound' | 'active';
  slot_id: string;
  epoch: number;
  pod_name: string;
  pod_uid: string;
  address: string;
  runtime_id: string;
  api_key: Buffer | null;
  environment: Buffer | null;
  workspace_ref: string;
}

export interface BindLimits {
  /** How long a claim may stay bound before the reaper takes its slot back. Milliseconds. */
  readonly deadlineMs: number;
  /** Cap of organizations whose row names none. */
  readonly defaultCap: number;
}

/**
 * One round trip, one commit, whatever the number of organizations. No session may be in it twice. @returns outcomes in
 * the order of the requests.
 */
export async function bindBatch(
  db: SqlPool,
  replicaId: string,
  requests: ReadonlyArray<{ readonly request: BindRequest; readonly slot: LeasedSlot | null }>,
  limits: BindLimits,
): Promise<BindOutcome[]> {
  const order = inOrderOfLocks(requests.map(({ request }) => request));
  const column = <T>(of: (request: BindRequest, slot: LeasedSlot | null) => T): T[] =>
    order.map((index) => {
      const { request, slot } = requests[index] as (typeof requests)[number];
      return of(request, slot);
    });
  const { rows } = await db.query<BindRow>({
    name: 'bind_batch',
    text: 'SELECT * FROM runtime.bind_batch($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)',
    values: [
      replicaId,
      column((request) => request.orgId),
      column((request) => request.sessionId),
      column((request) => request.poolId),
      column((request) => request.claimId),
      column((request) => request.runtimeId),
      column((request) => request.requestHash),
      column((request) => request.sealedKey),
      column((request) => request.sealedEnvironment),
      column((request) => request.cost),
      column((request) => request.lane),
      column((_request, slot) => slot?.slotId ?? null),
      column((_request, slot) => slot?.epoch ?? null),
      column((request) => request.abandon),
      limits.deadlineMs,
      limits.defaultCap,
    ],
  });
  if (rows.length !== requests.length)
    throw new Error(`bind_batch answered ${rows.length} of ${requests.length} requests`);
  const outcomes: BindOutcome[] = [];
  for (const row of rows) outcomes[order[row.n - 1] as number] = outcomeOf(row);
  return outcomes;
}

/** Indexes in the order in which the database takes its locks: by organization, then session, in bytes. */
function inOrderOfLocks(sessions: ReadonlyArray<{ readonly orgId: string; readonly sessionId: string }>): number[] {
  const indexes = sessions.map((_session, index) => index);
  if (indexes.length === 1) return indexes;
  const keys = sessions.map(({ orgId, sessionId }) => [Buffer.from(orgId), Buffer.from(sessionId)] as const);
  return indexes.sort((left, right) => {
    const [a, b] = [keys[left], keys[right]] as [(typeof keys)[number], (typeof keys)[number]];
    return a[0].compare(b[0]) || a[1].compare(b[1]);
  });
}

function outcomeOf(row: BindRow): BindOutcome {
  const { outcome, lost } = row;
  if (outcome === 'quota') return { outcome, cap: row.cap, lost };
  if (outcome === 'queued') return { outcome, claimId: row.claim_id, lost };
  if (outcome !== 'bound' && outcome !== 'replay') return { outcome, lost };
  return {
    outcome,
    lost,
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

export interface MarkRequest {
  readonly orgId: string;
  readonly sessionId: string;
  readonly claimId: string;
  readonly epoch: number;
  readonly address: string;
  readonly workingDir: string;
}

export interface ActiveRuntime {
  readonly url: string;
  readonly workingDir: string;
  readonly restartCount: number;
  readonly restartReasons: string[];
  /** What was lost on the way, as a sentence. */
  readonly statusDetail: string | null;
}

/**
 * Marks claims active, one round trip, not waited for to reach the disk. @returns in their order; `null`: the claim has
 * ended meanwhile, and its sandbox is not to be used.
 */
export async function activateBatch(db: SqlPool, marks: readonly MarkRequest[]): Promise<Array<ActiveRuntime | null>> {
  const order = inOrderOfLocks(marks);
  const column = <T>(of: (mark: MarkRequest) => T): T[] => order.map((index) => of(marks[index] as MarkRequest));
  const { rows } = await db.query<ActiveRuntime & { n: number }>({
    name: 'activate_batch',
    text: `SELECT n, url, working_dir AS "workingDir", restart_count AS "restartCount", restart_reasons AS "restartReasons", status_detail AS "statusDetail"
           FROM runtime.activate_batch($1, $2, $3, $4, $5, $6)`,
    values: [
      column((mark) => mark.orgId),
      column((mark) => mark.sessionId),
      column((mark) => mark.claimId),
      column((mark) => mark.epoch),
      column((mark) => mark.address),
      column((mark) => mark.workingDir),
    ],
  });
  const active: Array<ActiveRuntime | null> = marks.map(() => null);
  for (const { n, ...runtime } of rows) active[order[n - 1] as number] = runtime;
  return active;
}
