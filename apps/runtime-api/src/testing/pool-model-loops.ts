import type { ModelCluster, ModelPod, WatchCache, WatchEvent } from './pool-model-cluster.js';
import type { ModelDatabase, ModelSlot } from './pool-model-database.js';
import type { Message } from './pool-model-messages.js';
import { type ModelObserver, ModelViolation } from './pool-model-observer.js';
import type { Broken } from './pool-model-variants.js';

/** What the loops read and change. */
interface LoopedParts {
  readonly database: ModelDatabase;
  readonly cluster: ModelCluster;
  readonly cache: WatchCache;
  readonly observer: ModelObserver;
  readonly network: Message[];
  readonly broken: Broken;
}

/** The loops of the pool. Runners are not distinguished: two at once are normal. */
export class ModelLoops {
  constructor(private readonly world: LoopedParts) {}

  /** @returns whether it wrote an intent. */
  plan(): boolean {
    let seen = 0;
    for (const event of this.world.cache.seen.values()) {
      const state = this.world.database.rows.slots.get(event.slot)?.state;
      if (event.phase !== 'removed' && state !== 'bound' && state !== 'active' && state !== 'releasing') seen += 1;
    }
    return this.world.database.plan(seen);
  }

  create(slot: ModelSlot, node: number): boolean {
    if (slot.uid !== null || (slot.state !== 'intent' && slot.state !== 'provisioning')) return false;
    this.world.database.begin(slot.id);
    this.world.network.push({ kind: 'create', slot: slot.id, node });
    return true;
  }

  /** Asks the sandbox itself: it must answer and be blank. */
  makeReady(slot: ModelSlot): boolean {
    if (slot.state !== 'provisioning' || slot.uid === null) return false;
    const pod = this.podOf(slot);
    if (pod === null || pod.phase === 'ended') this.world.database.doom(slot.id);
    else if (pod.phase === 'running' && pod.latch === null) this.world.database.ready(slot.id, slot.uid);
    else if (pod.latch !== null) this.world.database.doom(slot.id);
    return true;
  }

  /** A warm sandbox that does not answer or is not blank goes. */
  checkWarm(slot: ModelSlot): boolean {
    if (slot.state !== 'ready') return false;
    const pod = this.podOf(slot);
    if (pod !== null && pod.phase === 'running' && pod.latch === null) return false;
    this.world.database.doom(slot.id);
    return true;
  }

  watchDelivers(event: WatchEvent): void {
    this.world.cache.take(event);
    this.world.observer.watchDelivers(event.slot, this.world.cache.seen.get(event.slot));
  }

  relist(): void {
    const before = [...this.world.cache.seen.values()];
    this.world.cache.relist(this.world.cluster);
    this.world.observer.listed(before, this.world.cache.seen);
  }

  podEnds(pod: ModelPod, how: 'stays' | 'goes'): void {
    this.world.observer.podEnded(pod.uid);
    if (how === 'stays') this.world.cluster.move(pod, 'ended');
    else this.world.cluster.collect(pod);
  }

  seeNodes(): void {
    for (const node of [0, 1]) {
      if (this.world.cluster.cordoned.has(node)) this.world.database.avoid(node);
      else this.world.database.rows.avoided.delete(node);
    }
  }

  /** State of a warm slot's own pod from the watch, without a request. */
  believeWatch(slot: ModelSlot): boolean {
    const event = this.world.cache.seen.get(slot.id);
    if (slot.state !== 'ready' || event?.uid !== slot.uid || (event?.phase !== 'ended' && event?.phase !== 'removed'))
      return false;
    if (this.podOf(slot)?.phase === 'running')
      throw new ModelViolation('I17', `slot ${slot.id} is doomed by old news while its pod runs`);
    this.world.database.doom(slot.id);
    return true;
  }

  remove(slot: ModelSlot): boolean {
    const removable =
      slot.state === 'doomed' ||
      slot.state === 'releasing' ||
      (this.world.broken === 'delete-any-state' && slot.state === 'ready');
    if (!removable || this.world.cluster.away) return false;
    const pod = this.world.cluster.pods.get(slot.id);
    if (slot.uid === null && pod === undefined) this.world.database.gone(slot.id);
    else if (slot.uid === null && pod !== undefined) this.world.database.saveUid(slot.id, pod.uid, pod.node);
    else this.world.network.push({ kind: 'remove', slot: slot.id, uid: slot.uid ?? 0 });
    return true;
  }

  sendLabels(): boolean {
    for (const [row, { slot, uid, claim }] of this.world.database.rows.outbox)
      this.world.network.push({ kind: 'label', row, slot, uid, claim });
    return this.world.database.rows.outbox.size > 0;
  }

  podOf(slot: ModelSlot): ModelPod | null {
    const pod = this.world.cluster.pods.get(slot.id);
    return pod?.uid === slot.uid ? (pod ?? null) : null;
  }
}
