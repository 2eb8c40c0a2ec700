/** The reaper of the model, one read or write at a time: anything may happen between two of its steps. */
import { isLive, type ModelClaim } from './pool-model-database.js';
import type { ModelWorld } from './pool-model-world.js';

interface Listed {
  readonly slot: number;
  readonly uid: number;
  readonly hasEnded: boolean;
}

export class ModelReaper {
  private step: 'rows' | 'list' | 'claims' | 'orphans' = 'rows';
  private claims: ModelClaim[] = [];
  private names = new Set<number>();
  private listed: Listed[] = [];
  private suspects = new Set<number>();

  constructor(private readonly world: ModelWorld) {}

  /** @returns whether it could do its step. */
  advance(): boolean {
    const { broken } = this.world;
    switch (this.step) {
      case 'rows':
        if (broken === 'rows-after-list') {
          if (!this.list()) return false;
        } else this.readRows();
        this.step = 'list';
        return true;
      case 'list':
        if (broken === 'rows-after-list') this.readRows();
        else if (!this.list()) return false;
        this.step = 'claims';
        return true;
      case 'claims': {
        const claim = this.claims.pop();
        if (claim === undefined) this.step = 'orphans';
        else this.checkClaim(claim);
        return true;
      }
      case 'orphans':
        this.removeOrphans();
        this.step = 'rows';
        return true;
    }
  }

  private readRows(): void {
    const { rows } = this.world.database;
    this.claims = [...rows.claims.values()].filter(isLive);
    this.names = new Set(rows.slots.keys());
  }

  private list(): boolean {
    const { cluster } = this.world;
    if (cluster.away) {
      this.step = 'rows';
      return false;
    }
    this.listed = [...cluster.pods.values()].map((pod) => ({
      slot: pod.slot,
      uid: pod.uid,
      hasEnded: pod.phase === 'ended',
    }));
    return true;
  }

  private checkClaim(claim: ModelClaim): void {
    const { database, cluster, broken } = this.world;
    const slot = database.rows.slots.get(claim.slot);
    const pod = this.listed.find((each) => each.slot === claim.slot);
    if (pod === undefined || pod.hasEnded || (slot !== undefined && pod.uid !== slot.uid)) {
      database.release(claim.id, 'bound-or-active', 'lost');
      return;
    }
    if (claim.state !== 'bound' || claim.deadline > database.now) return;
    // The sandbox's own receipt. One that does not answer is asked again at the next pass.
    const asked = cluster.pods.get(claim.slot);
    if (broken !== 'freed-by-time' && asked?.uid === pod.uid && asked.latch === claim.id)
      database.activate(claim.id, claim.epoch);
    else database.release(claim.id, 'bound', 'lost');
  }

  private removeOrphans(): void {
    const { database, network, broken } = this.world;
    const names = broken === 'orphans-by-old-rows' ? this.names : new Set(database.rows.slots.keys());
    const orphans = this.listed.filter((pod) => !names.has(pod.slot));
    for (const { slot, uid } of orphans)
      if (this.suspects.has(uid) || broken === 'orphans-by-old-rows') network.push({ kind: 'remove', slot, uid });
    this.suspects = new Set(orphans.map((pod) => pod.uid));
  }
}
