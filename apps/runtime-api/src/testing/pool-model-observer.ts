/**
 * Watches one history of the model and says which invariant of the pool is broken. What it remembers is nowhere in the
 * algorithm.
 */

import type { ModelCluster, ModelPod, WatchEvent } from './pool-model-cluster.js';
import {
  type BindItem,
  CAP,
  isLive,
  type ModelClaim,
  type ModelDatabase,
  type ModelSlot,
  TARGET,
} from './pool-model-database.js';

export class ModelViolation extends Error {
  constructor(
    readonly invariant: string,
    message: string,
  ) {
    super(`${invariant}: ${message}`);
  }
}

interface Answer {
  readonly claim: number;
  readonly session: string;
  readonly slot: number;
  readonly uid: number;
}

export class ModelObserver {
  /** First claim of each slot, ever. */
  private readonly owners = new Map<number, number>();
  /** Claim that each pod accepted first, ever. */
  private readonly accepted = new Map<number, number>();
  /** Confirmed to a client, and not ended by it or by the end of the pod. */
  private readonly answers = new Map<number, Answer>();
  /** Pods whose end the watch has reported. */
  private readonly removedPods = new Set<number>();
  /** Claims that their client stopped. */
  private readonly stopped = new Set<number>();

  /**
   * @param isLossy an acknowledged suffix of the database may be lost: then only what does not depend on rows can hold.
   */
  constructor(
    private readonly database: ModelDatabase,
    private readonly cluster: ModelCluster,
    private readonly isLossy: boolean,
  ) {
    database.onBind = (slot, item, by) => this.bound(slot, item, by);
    cluster.onRemoval = (pod, meant) => this.removed(pod, meant);
  }

  private bound(slot: ModelSlot, item: BindItem, by: number): void {
    const { now, rows } = this.database;
    const owner = this.owners.get(slot.id);
    if (owner !== undefined && !this.isLossy)
      throw new ModelViolation('I1', `slot ${slot.id} was claim ${owner}'s and is bound to ${item.claim}`);
    this.owners.set(slot.id, item.claim);
    if (slot.holder !== by || slot.epoch !== item.epoch || slot.leaseUntil <= now)
      throw new ModelViolation('I6', `slot ${slot.id} was bound under a lease that is over`);
    if (rows.avoided.has(slot.node ?? -1))
      throw new ModelViolation('I13', `slot ${slot.id} was bound on a node that was seen cordoned`);
  }

  private removed(pod: ModelPod, meant: number): void {
    if (pod.uid !== meant) throw new ModelViolation('I7', `pod ${pod.uid} was removed where ${meant} was meant`);
    if (this.isLossy) return;
    const slot = this.database.rows.slots.get(pod.slot);
    if (slot !== undefined && slot.state !== 'doomed' && slot.state !== 'releasing')
      throw new ModelViolation('I7', `pod ${pod.uid} was removed while its slot was ${slot.state}`);
  }

  /** Secrets leave for a pod. */
  sends(claim: number): void {
    if (!this.isLossy && !this.database.wasCommitted(claim))
      throw new ModelViolation('I14', `secrets of claim ${claim} leave before its bind is on the disk`);
  }

  activated(uid: number, claim: number): void {
    const first = this.accepted.get(uid) ?? claim;
    this.accepted.set(uid, first);
    if (first !== claim) throw new ModelViolation('I2', `pod ${uid} accepted claim ${first} and claim ${claim}`);
  }

  /** What is now believed of a slot's pod, after an event. The end of a pod is final. */
  watchDelivers(slot: number, believed: WatchEvent | undefined): void {
    if (believed === undefined) return;
    const isOver = believed.phase === 'removed';
    if (!isOver && this.removedPods.has(believed.uid))
      throw new ModelViolation(
        'I17',
        `pod ${believed.uid} of slot ${slot} was reported removed and is believed ${believed.phase}`,
      );
    if (isOver) this.removedPods.add(believed.uid);
  }

  /** After a list: what is not in it is known to be gone. */
  listed(before: Iterable<WatchEvent>, after: ReadonlyMap<number, WatchEvent>): void {
    for (const event of before) if (after.get(event.slot)?.uid !== event.uid) this.removedPods.add(event.uid);
  }

  labelled(pod: ModelPod | undefined, meant: number): void {
    if (pod !== undefined && pod.label !== null && pod.uid !== meant)
      throw new ModelViolation('I18', `pod ${pod.uid} has the label meant for ${meant}`);
  }

  /** A client gets its active sandbox. */
  answered(claim: ModelClaim, body: number, uid: number): void {
    if (claim.body !== body) throw new ModelViolation('I4', `body ${body} got the sandbox of body ${claim.body}`);
    // An answer that was long on its way was true when the database gave it.
    if (this.stopped.has(claim.id) || this.isLossy || !isLive(this.database.rows.claims.get(claim.id))) return;
    for (const answer of this.answers.values())
      if (answer.session === claim.session && answer.claim !== claim.id)
        throw new ModelViolation('I4', `${claim.session} got claim ${answer.claim} and claim ${claim.id}`);
    // A pod that ended while the answer was on its way is the client's to find out.
    if (this.cluster.pods.get(claim.slot)?.uid === uid && this.cluster.pods.get(claim.slot)?.phase === 'running')
      this.answers.set(claim.id, { claim: claim.id, session: claim.session, slot: claim.slot, uid });
  }

  hasStopped(claim: number): void {
    this.stopped.add(claim);
    this.answers.delete(claim);
  }

  podEnded(uid: number): void {
    for (const answer of this.answers.values()) if (answer.uid === uid) this.answers.delete(answer.claim);
  }

  /** After each step. */
  check(): void {
    const { rows } = this.database;
    const population = this.database.population();
    if (population > TARGET) throw new ModelViolation('I8', `${population} blank slots for a target of ${TARGET}`);
    const live = [0, 0];
    const held = new Set<string>();
    for (const claim of rows.claims.values()) {
      if (!isLive(claim)) continue;
      live[claim.org] = (live[claim.org] ?? 0) + 1;
      if (held.has(claim.session)) throw new ModelViolation('I3', `${claim.session} has two live claims`);
      held.add(claim.session);
      const slot = rows.slots.get(claim.slot);
      if (slot?.claim !== claim.id)
        throw new ModelViolation('I3', `claim ${claim.id} lives and slot ${claim.slot} is ${slot?.claim}'s`);
    }
    for (let org = 0; org < live.length; org += 1)
      if (rows.usage[org] !== live[org] || (live[org] ?? 0) > CAP)
        throw new ModelViolation('I9', `org ${org} has ${live[org]} claims and ${rows.usage[org]} counted`);
    if (this.isLossy) return;
    for (const slot of rows.slots.values())
      if (slot.state === 'ready' && this.owners.has(slot.id))
        throw new ModelViolation('I5', `slot ${slot.id} is warm again`);
    for (const answer of this.answers.values()) {
      if (!isLive(rows.claims.get(answer.claim)))
        throw new ModelViolation(
          'I11',
          `claim ${answer.claim} was answered and is ${rows.claims.get(answer.claim)?.state}`,
        );
      const pod = this.cluster.pods.get(answer.slot);
      if (pod?.uid !== answer.uid || pod.latch !== answer.claim)
        throw new ModelViolation('I11', `claim ${answer.claim} was answered and its pod is ${pod?.latch}'s`);
    }
  }

  /** What is not yet as it must be when all have recovered; `null` when nothing is. */
  unsettled(): string | null {
    const { rows } = this.database;
    const { pods } = this.cluster;
    let ready = 0;
    for (const slot of rows.slots.values()) {
      const pod = pods.get(slot.id);
      if (slot.state !== 'ready' && slot.state !== 'active') return `slot ${slot.id} is ${slot.state}`;
      if (pod?.uid !== slot.uid || pod?.phase !== 'running') return `slot ${slot.id} has no pod that runs`;
      if (pod.latch !== slot.claim) return `slot ${slot.id} is ${slot.claim}'s and its pod ${pod.latch}'s`;
      if (slot.state === 'active' && pod.label !== slot.claim) return `pod ${pod.uid} is not labelled`;
      if (slot.state === 'ready') ready += 1;
    }
    if (ready !== TARGET) return `${ready} slots are ready`;
    if (pods.size !== rows.slots.size) return `${pods.size} pods for ${rows.slots.size} slots`;
    for (const [session, id] of rows.sessions)
      if (rows.claims.get(id)?.state === 'bound') return `${session} is not active`;
    return rows.outbox.size > 0 ? 'labels are missing' : null;
  }
}
