import { CAP, type PoolWorld, TARGET } from './pool-world.js';

/** A broken invariant of facts/warm-pool.md 5.3. */
export class Violation extends Error {
  constructor(
    readonly invariant: string,
    message: string,
  ) {
    super(`${invariant}: ${message}`);
  }
}

interface SlotRow {
  slot_id: string;
  pod_name: string;
  pod_uid: string | null;
  state: string;
  claim_id: string | null;
}

/** Watches one history of a world. `check` may be called at any moment at which no operation runs. */
export class InvariantWatch {
  /** First claim seen of each slot. */
  private readonly owners = new Map<string, string>();
  /** Sessions whose start was answered, and which have not ended since. */
  readonly answered = new Map<string, { org: string; session: string; url: string }>();
  readonly during: Violation[] = [];
  /** Workspaces that were lost with a node. */
  readonly lost = new Set<string>();

  constructor(private readonly world: PoolWorld) {
    world.farm.beforeEffect = async (call, body) => {
      if (call === 'remove') await this.checkRemoval(body['name'] ?? '', body['uid'] ?? '');
      if (call === 'ensure') await this.checkPopulation('while a sandbox is made');
      if (call === 'init') await this.checkCommitted(body['name'] ?? '');
    };
  }

  async check(isSettled = false): Promise<void> {
    const [first] = this.during;
    if (first !== undefined) throw first;
    const slots = (await this.world.owner.query<SlotRow>('SELECT * FROM runtime.slot')).rows;
    for (const slot of slots) {
      if (slot.claim_id === null) continue;
      const owner = this.owners.get(slot.slot_id) ?? slot.claim_id;
      this.owners.set(slot.slot_id, owner);
      if (owner !== slot.claim_id)
        throw new Violation('I1', `slot ${slot.slot_id} was ${owner}'s and is ${slot.claim_id}'s`);
    }
    const claimed = slots.filter((slot) => slot.claim_id !== null && ['bound', 'active'].includes(slot.state));
    if (new Set(claimed.map((slot) => slot.claim_id)).size !== claimed.length)
      throw new Violation('I3', 'a claim has two live slots');
    const lives = (
      await this.world.owner.query<{ n: number }>(
        `SELECT count(*)::int AS n FROM runtime.claim WHERE state IN ('bound', 'active') GROUP BY org_id, session_id`,
      )
    ).rows;
    if (lives.some(({ n }) => n > 1)) throw new Violation('I3', 'a session has two live claims');
    this.checkActivations();
    await this.checkPopulation('afterwards');
    await this.checkUsage();
    await this.checkAnswered(isSettled);
  }

  /** What must hold once every process has recovered. */
  async checkSettled(): Promise<void> {
    await this.check(true);
    const { owner, farm } = this.world;
    const fail = (message: string): never => {
      throw new Violation('I12', message);
    };
    const slots = (await owner.query<SlotRow>(`SELECT * FROM runtime.slot WHERE state <> 'gone'`)).rows;
    const states = slots.map((slot) => slot.state);
    if (states.some((state) => state !== 'ready' && state !== 'active')) fail(`slots are left ${states.join(', ')}`);
    if (states.filter((state) => state === 'ready').length !== TARGET)
      fail(`${states.filter((state) => state === 'ready').length} slots are ready, not ${TARGET}`);
    const existing = [...farm.sandboxes].map(([name, { uid }]) => `${name} ${uid}`).sort();
    const expected = slots.map((slot) => `${slot.pod_name} ${slot.pod_uid}`).sort();
    if (existing.join() !== expected.join()) fail(`sandboxes ${existing.join(', ')} for slots ${expected.join(', ')}`);
    for (const slot of slots) {
      const owned = farm.sandboxes.get(slot.pod_name)?.latch.claimId ?? null;
      if (owned !== slot.claim_id) fail(`slot ${slot.slot_id} is ${slot.claim_id}'s, its sandbox ${owned}'s`);
    }
    const stuck = await owner.query(
      `SELECT s.session_id FROM runtime.session s LEFT JOIN runtime.claim c ON c.claim_id = s.claim_id AND c.state = 'active' WHERE s.status = 'starting' OR (s.status = 'running') <> (c.claim_id IS NOT NULL)`,
    );
    if (stuck.rowCount !== 0) fail(`sessions whose status is not what their claim says: ${JSON.stringify(stuck.rows)}`);
    const workspaces = await owner.query<{ ref: string }>(
      `SELECT workspace_ref AS ref FROM runtime.session WHERE workspace_ref IS NOT NULL`,
    );
    for (const { ref } of workspaces.rows)
      if (!farm.workspaces.has(ref) && !this.lost.has(ref)) fail(`the workspace ${ref} of a session is gone`);
    const queued = await owner.query(
      'SELECT session_id FROM runtime.waiting UNION ALL SELECT org_id FROM runtime.fair_share',
    );
    if (queued.rowCount !== 0) fail(`${queued.rowCount} places in the queue are left`);
    await this.checkNotes();
  }

  private checkActivations(): void {
    const claims = new Map<string, string>();
    for (const event of this.world.farm.history) {
      if (event.kind === 'refused' && event.status === 409)
        throw new Violation('I2', `a second claim tried ${event.name}`);
      if (event.kind !== 'activated') continue;
      const before = claims.get(event.uid) ?? event.claimId;
      claims.set(event.uid, before);
      if (before !== event.claimId)
        throw new Violation('I2', `${event.name} was activated by ${before} and ${event.claimId}`);
    }
  }

  private async checkRemoval(name: string, uid: string): Promise<void> {
    if (this.world.farm.sandboxes.get(name)?.uid !== uid) return;
    const { rows } = await this.world.owner.query<SlotRow>('SELECT * FROM runtime.slot WHERE pod_name = $1', [name]);
    const slot = rows[0];
    // Without a row, or after its end, it is a sandbox without an owner.
    if (slot === undefined || slot.state === 'gone') return;
    if (!['doomed', 'releasing'].includes(slot.state) || slot.pod_uid !== uid)
      this.during.push(
        new Violation('I7', `${name} was removed while its slot was ${slot.state} with uid ${slot.pod_uid}`),
      );
  }

  /** Secrets may leave only for a claim that other connections see. */
  private async checkCommitted(name: string): Promise<void> {
    const { rows } = await this.world.owner.query(
      'SELECT 1 FROM runtime.slot JOIN runtime.claim USING (claim_id) WHERE pod_name = $1',
      [name],
    );
    if (rows.length !== 1) this.during.push(new Violation('I14', `${name} got its secrets before it was claimed`));
  }

  private async checkNotes(): Promise<void> {
    const { owner, farm } = this.world;
    const left = await owner.query('SELECT slot_id FROM runtime.sandbox_note');
    if (left.rowCount !== 0) throw new Violation('I18', `${left.rowCount} notes are left`);
    const { rows } = await owner.query<SlotRow>(`SELECT * FROM runtime.slot WHERE state = 'active'`);
    for (const { pod_name, claim_id } of rows) {
      const note = farm.sandboxes.get(pod_name)?.note;
      if (note !== claim_id)
        throw new Violation('I18', `${pod_name} is ${claim_id}'s, and the note on it says ${note}`);
    }
  }

  private async checkPopulation(when: string): Promise<void> {
    const { rows } = await this.world.owner.query<{ n: number }>(
      `SELECT count(*)::int AS n FROM runtime.slot WHERE state IN ('intent', 'provisioning', 'ready', 'doomed')`,
    );
    if ((rows[0]?.n ?? 0) > TARGET)
      this.during.push(new Violation('I8', `${rows[0]?.n} blank slots ${when}, target ${TARGET}`));
  }

  private async checkUsage(): Promise<void> {
    const { rows } = await this.world.owner.query<{ org_id: string; in_use: number; live: number }>(
      `SELECT u.org_id, u.in_use, (SELECT coalesce(sum(c.cost), 0)::int FROM runtime.claim c WHERE c.org_id = u.org_id AND c.state IN ('bound', 'active')) AS live FROM runtime.org_usage u`,
    );
    for (const row of rows)
      if (row.in_use !== row.live || row.live > CAP)
        throw new Violation('I9', `${row.org_id} has ${row.live} live claims, ${row.in_use} counted, cap ${CAP}`);
  }

  /**
   * Until recovery a claim whose mark was lost appears as not activated yet; it is the same claim on the same sandbox.
   */
  private async checkAnswered(isSettled: boolean): Promise<void> {
    for (const { org, session, url } of this.answered.values()) {
      const { rows } = await this.world.owner.query<{ status: string; url: string; claim_id: string }>(
        'SELECT status, url, claim_id FROM runtime.session WHERE org_id = $1 AND session_id = $2',
        [org, session],
      );
      const row = rows[0];
      if (!(row?.status === 'running' || (!isSettled && row?.status === 'starting')) || row.url !== url)
        throw new Violation('I11', `${org}/${session} was answered ${url} and is ${row?.status} at ${row?.url}`);
      const sandbox = this.world.farm.sandboxes.get(url.split('/').at(-1) ?? '');
      if (sandbox?.latch.claimId !== row.claim_id)
        throw new Violation(
          'I11',
          `${org}/${session} was answered ${url}, which is ${sandbox?.latch.claimId ?? 'nobody'}'s`,
        );
    }
  }
}
