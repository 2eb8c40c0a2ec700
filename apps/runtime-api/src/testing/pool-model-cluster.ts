/**
 * The cluster of the model: pods, the latch in each of them, what its API does when a call arrives, and the events that
 * a watch delivers late, twice, out of order or never.
 */
import type { Broken } from './pool-model-variants.js';

export interface ModelPod {
  readonly slot: number;
  readonly uid: number;
  readonly node: number;
  phase: 'pending' | 'running' | 'ended';
  /** The claim that activated it. Memory of the pod: nothing but its end clears it. */
  latch: number | null;
  label: number | null;
}

export interface WatchEvent {
  readonly version: number;
  readonly slot: number;
  readonly uid: number;
  readonly phase: ModelPod['phase'] | 'removed';
}

export class ModelCluster {
  /** By slot: the name follows from it. */
  readonly pods = new Map<number, ModelPod>();
  readonly cordoned = new Set<number>();
  away = false;
  version = 0;
  /** Sent by the watch, not yet seen. */
  readonly events: WatchEvent[] = [];
  private uids = 0;
  onRemoval: (pod: ModelPod, meant: number) => void = () => {};

  constructor(private readonly broken: Broken) {}

  private tell(pod: ModelPod, phase: WatchEvent['phase']): void {
    this.version += 1;
    this.events.push({ version: this.version, slot: pod.slot, uid: pod.uid, phase });
  }

  /** An existing one is as good as a new one. */
  create(slot: number, node: number): ModelPod {
    const existing = this.pods.get(slot);
    if (existing !== undefined) return existing;
    this.uids += 1;
    const pod: ModelPod = { slot, uid: this.uids, node, phase: 'pending', latch: null, label: null };
    this.pods.set(slot, pod);
    this.tell(pod, 'pending');
    return pod;
  }

  /** With the uid as precondition. */
  remove(slot: number, uid: number): void {
    const pod = this.pods.get(slot);
    if (pod === undefined || (pod.uid !== uid && this.broken !== 'delete-without-uid')) return;
    this.onRemoval(pod, uid);
    this.collect(pod);
  }

  /** Without anybody of ours having asked. */
  collect(pod: ModelPod): void {
    this.pods.delete(pod.slot);
    this.tell(pod, 'removed');
  }

  label(slot: number, uid: number, claim: number): void {
    const pod = this.pods.get(slot);
    if (pod !== undefined && (pod.uid === uid || this.broken === 'label-without-uid')) pod.label = claim;
  }

  move(pod: ModelPod, phase: 'running' | 'ended'): void {
    pod.phase = phase;
    this.tell(pod, phase);
  }

  /** The signed activation arrives at the address of a slot's pod. @returns accepted, or refused; `null`: no answer. */
  activate(slot: number, uid: number, claim: number): boolean | null {
    const pod = this.pods.get(slot);
    if (pod === undefined || pod.phase !== 'running') return null;
    if (pod.uid !== uid) return false;
    if (pod.latch !== null && pod.latch !== claim && this.broken !== 'pod-accepts-two') return false;
    pod.latch = claim;
    return true;
  }
}

/**
 * State of the pods from a watch. Old news is known by its version; after a list, everything up to the list's version
 * is old.
 */
export class WatchCache {
  readonly seen = new Map<number, WatchEvent>();
  private listed = 0;

  constructor(private readonly broken: Broken) {}

  take(event: WatchEvent): void {
    const known = Math.max(this.listed, this.seen.get(event.slot)?.version ?? 0);
    if (event.version <= known && this.broken !== 'watch-without-versions') return;
    this.seen.set(event.slot, event);
  }

  relist(cluster: ModelCluster): void {
    this.listed = cluster.version;
    this.seen.clear();
    for (const pod of cluster.pods.values())
      this.seen.set(pod.slot, { version: cluster.version, slot: pod.slot, uid: pod.uid, phase: pod.phase });
  }
}
