import type pg from 'pg';
import type { Receipt } from '../../bench/measure/cluster-fake-pods.ts';
import type { ClusterPlace } from '../../bench/measure/cluster-place.ts';
import { SANDBOXES } from './contract-pod.ts';
import type { Load } from './faults-load.ts';
import { podsOf } from './platform-cluster.ts';

interface Pod {
  readonly metadata: { readonly name: string; readonly uid: string; readonly deletionTimestamp?: string };
  readonly status: { readonly phase: string; readonly podIP?: string };
}
interface SlotRow {
  readonly slot_id: string;
  readonly pod_name: string;
  readonly pod_uid: string | null;
  readonly pool_id: string;
  readonly state: string;
  readonly claim_id: string | null;
}
interface ClaimRow {
  readonly claim_id: string;
  readonly org_id: string;
  readonly session_id: string;
  readonly slot_id: string;
  readonly state: string;
}
interface SessionRow {
  readonly org_id: string;
  readonly session_id: string;
  readonly claim_id: string;
  readonly status: string;
  readonly status_detail: string | null;
  readonly url: string;
}
/** What a sandbox itself says of its one claim. */
type Witness = Pick<Receipt, 'name' | 'uid' | 'claimId' | 'environment' | 'refusals' | 'gone'>;

/**
 * Everything that is known at one moment, from three sides that do not ask each other: Postgres, the API server, the
 * sandboxes.
 */
interface Books {
  readonly slots: readonly SlotRow[];
  readonly claims: readonly ClaimRow[];
  readonly sessions: readonly SessionRow[];
  readonly pools: readonly {
    readonly pool_id: string;
    readonly target: number;
    readonly problem_code: string | null;
  }[];
  readonly usage: readonly { readonly org_id: string; readonly in_use: number; readonly live: number }[];
  readonly pods: readonly Pod[];
  readonly witnesses: readonly Witness[];
}

/** Longest until nothing is left over after a fault has ended. Milliseconds. */
const SETTLED_MS = 60_000;
const LOOK_MS = 500;
const LIVE = ['bound', 'active'];

/** Compares what was promised to callers with what Postgres, the API server and the sandboxes say. */
export class Ledger {
  /** Pools that cannot come up for a while. */
  readonly blocked = new Set<string>();
  private readonly place: ClusterPlace;
  private readonly loads: () => readonly Load[];

  constructor(place: ClusterPlace, loads: () => readonly Load[]) {
    this.place = place;
    this.loads = loads;
  }

  /**
   * Waits until rows and sandboxes match, then checks for what must never have happened.
   * @returns how long it took. Seconds.
   * @throws Error that lists what is wrong.
   */
  async settles(withinMs = SETTLED_MS): Promise<number> {
    const began = performance.now();
    while (true) {
      const books = await this.read();
      const never = this.neverAllowed(books);
      if (never.length > 0) throw new Error(`what must never happen:\n${never.join('\n')}`);
      const left = this.leftOver(books);
      const took = performance.now() - began;
      if (left.length === 0) return took / 1_000;
      if (took > withinMs)
        throw new Error(`still not settled after ${Math.round(took / 1_000)} s:\n${left.slice(0, 30).join('\n')}`);
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  }

  /**
   * Double allocations, and what belongs to one tenant in the hands of another; at any moment, in the middle of a fault
   * too.
   */
  async holds(): Promise<void> {
    const never = this.neverAllowed(await this.read());
    if (never.length > 0) throw new Error(`what must never happen:\n${never.join('\n')}`);
  }

  private neverAllowed({ slots, claims, sessions, usage, witnesses }: Books): string[] {
    const found: string[] = [];
    const slotOf = new Map(slots.map((slot) => [slot.slot_id, slot]));
    const claimOf = new Map(claims.map((claim) => [claim.claim_id, claim]));
    for (const [key, live] of grouped(
      claims.filter(({ state }) => LIVE.includes(state)),
      ({ org_id, session_id }) => `${org_id}/${session_id}`,
    ))
      if (live.length > 1) found.push(`${key} has ${live.length} live claims`);
    for (const [key, same] of grouped(claims, ({ slot_id }) => slot_id))
      if (same.length > 1) found.push(`the slot ${key} was given to ${same.length} claims`);
    for (const [claim, same] of grouped(
      witnesses.filter(({ claimId }) => claimId !== null),
      ({ claimId }) => claimId ?? '',
    ))
      if (same.length > 1) found.push(`${claim} activated ${same.map(({ name }) => name).join(' and ')}`);
    for (const { name, uid, claimId, environment, refusals } of witnesses) {
      if (refusals.includes(409)) found.push(`a second claim tried to activate ${name}`);
      if (claimId === null) continue;
      const claim = claimOf.get(claimId);
      if (claim === undefined) found.push(`${name} was activated by ${claimId}, which Postgres does not know`);
      else if (slotOf.get(claim.slot_id)?.pod_uid !== uid)
        found.push(`${name} was activated by ${claimId}, whose slot is another's`);
      const mark = claim === undefined ? '' : `mark-of-${claim.org_id}-${claim.session_id}`;
      const got = environment?.['SLIPWAY_OWNER'];
      if (got !== undefined && got !== mark) found.push(`${name} of ${claim?.session_id} has ${got}`);
    }
    for (const { org_id, in_use, live } of usage)
      if (in_use !== live) found.push(`${org_id} has ${live} live claims, and ${in_use} are counted`);
    found.push(...this.brokenPromises(sessions, claims, slots));
    return found;
  }

  /** What was answered holds until it is ended, or the session says why it is lost. */
  private brokenPromises(
    sessions: readonly SessionRow[],
    claims: readonly ClaimRow[],
    slots: readonly SlotRow[],
  ): string[] {
    const found: string[] = [];
    const byId = new Map(sessions.map((session) => [`${session.org_id}/${session.session_id}`, session]));
    const slotOfClaim = new Map(
      claims.map(({ claim_id, slot_id }) => [claim_id, slots.find((slot) => slot.slot_id === slot_id)]),
    );
    const owners = new Map<string, string>();
    for (const { org, id, answer, ended } of this.loads().flatMap((load) => load.sessions)) {
      if (answer === null || ended) continue;
      const row = byId.get(`${org}/${id}`);
      if (row === undefined) found.push(`${id} was answered ${answer.url} and is not in Postgres`);
      else if (row.status === 'error') {
        if (row.status_detail === null) found.push(`${id} is lost, without a reason`);
        // The mark comes beside the answer; that it does come is checked when all has settled.
      } else if (row.status === 'starting') continue;
      // An answer that its sandbox is still starting names no address yet.
      else if (row.status !== 'running' || (answer.url !== '' && row.url !== answer.url))
        found.push(`${id} was answered ${answer.url} and is ${row.status} at ${row.url}`);
      else {
        const slot = slotOfClaim.get(row.claim_id)?.slot_id ?? '';
        const other = owners.get(slot);
        if (other !== undefined) found.push(`${id} and ${other} have the same sandbox`);
        owners.set(slot, id);
      }
    }
    return found;
  }

  private leftOver({ slots, claims, sessions, pools, pods, witnesses }: Books): string[] {
    const found: string[] = [];
    const live = slots.filter(({ state }) => state !== 'gone');
    const byName = new Map(live.map((slot) => [slot.pod_name, slot]));
    const byUid = new Map(pods.map((pod) => [pod.metadata.uid, pod]));
    for (const { metadata, status } of pods) {
      const slot = byName.get(metadata.name);
      if (slot === undefined) found.push(`${metadata.name} is there and has no slot`);
      else if (slot.pod_uid !== null && slot.pod_uid !== metadata.uid)
        found.push(`${metadata.name} is not the pod of its slot`);
      if (status.phase === 'Failed' || status.phase === 'Succeeded')
        found.push(`${metadata.name} has ended and is still there`);
    }
    for (const { pod_name, pod_uid, state } of live) {
      if (state === 'doomed' || state === 'releasing') found.push(`${pod_name} is still ${state}`);
      else if (['ready', 'leased', ...LIVE].includes(state) && !byUid.has(pod_uid ?? ''))
        found.push(`${pod_name} is ${state}, and its pod is not there`);
    }
    const claimOf = new Map(claims.map((claim) => [claim.claim_id, claim]));
    for (const { claim_id, state } of claims)
      if (state === 'bound') found.push(`${claim_id} is neither active nor over`);
    for (const { session_id, status, claim_id } of sessions) {
      const isLive = claimOf.get(claim_id)?.state === 'active';
      if (status === 'starting') found.push(`${session_id} is still starting`);
      else if ((status === 'running') !== isLive)
        found.push(`${session_id} is ${status}, its claim ${claimOf.get(claim_id)?.state}`);
    }
    for (const { name, claimId, uid } of witnesses)
      if (claimId !== null && byUid.has(uid) && claimOf.get(claimId)?.state !== 'active')
        found.push(`${name} works for ${claimId}, which is over`);
    for (const { pool_id, target, problem_code } of pools) {
      if (this.blocked.has(pool_id)) continue;
      const ready = live.filter((slot) => slot.pool_id === pool_id && ['ready', 'leased'].includes(slot.state)).length;
      if (problem_code !== null) found.push(`the pool ${pool_id} says ${problem_code}`);
      else if (ready < target) found.push(`${ready} of ${target} are ready in ${pool_id}`);
    }
    return found;
  }

  /** Rows before pods: what a row names was made before, so that a pod which is missing then has gone. */
  private async read(): Promise<Books> {
    const { owner, platform } = this.place;
    const rows = await readRows(owner);
    const list = await platform.api.ask<{ items: Pod[] }>(
      `${podsOf(SANDBOXES)}?labelSelector=app.kubernetes.io%2Fmanaged-by%3Dslipway-runtime-api`,
    );
    if (list.status !== 200) throw new Error(`the pods cannot be listed: ${list.status}`);
    const pods = list.body.items;
    const receipts = this.place.hasFakePods ? await this.place.receipts() : [];
    const witnessed = new Set(receipts.map(({ uid }) => uid));
    const real = await Promise.all(
      pods.filter((pod) => !witnessed.has(pod.metadata.uid) && pod.status.phase === 'Running').map(witnessOf),
    );
    return { ...rows, pods, witnesses: [...receipts, ...real.filter((witness) => witness !== null)] };
  }
}

async function readRows(owner: pg.Client): Promise<Omit<Books, 'pods' | 'witnesses'>> {
  // One snapshot: rows of two moments contradict each other.
  await owner.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
  try {
    const all = async <T extends pg.QueryResultRow>(sql: string): Promise<T[]> => (await owner.query<T>(sql)).rows;
    return {
      slots: await all('SELECT slot_id, pod_name, pod_uid, pool_id, state, claim_id FROM runtime.slot'),
      claims: await all('SELECT claim_id, org_id, session_id, slot_id, state FROM runtime.claim'),
      sessions: await all('SELECT org_id, session_id, claim_id, status, status_detail, url FROM runtime.session'),
      pools: await all('SELECT pool_id, target, problem_code FROM runtime.pool'),
      usage: await all(
        `SELECT u.org_id, u.in_use, (SELECT count(*)::int FROM runtime.claim c WHERE c.org_id = u.org_id AND c.state IN ('bound', 'active')) AS live FROM runtime.org_usage u`,
      ),
    };
  } finally {
    await owner.query('COMMIT');
  }
}

/** A real sandbox's own word; `null` when it does not answer just now. */
async function witnessOf({ metadata, status }: Pod): Promise<Witness | null> {
  try {
    const response = await fetch(`http://${status.podIP}:8000/api/init`, { signal: AbortSignal.timeout(2_000) });
    const { claim_id } = (await response.json()) as { claim_id: string | null };
    return { name: metadata.name, uid: metadata.uid, claimId: claim_id, environment: null, refusals: [], gone: false };
  } catch {
    return null;
  }
}

function grouped<T>(items: readonly T[], key: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) groups.set(key(item), [...(groups.get(key(item)) ?? []), item]);
  return groups;
}
