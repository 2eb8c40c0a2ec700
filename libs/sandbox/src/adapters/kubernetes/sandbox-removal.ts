import { SlipwayError } from '@slipway/errors';
import type { Logger } from '@slipway/telemetry';
import { readActivation } from '../../activation.js';
import type { WorkspaceStore } from './archive/workspace-store.js';
import type { ArchiveTransfer } from './archive-transfer.js';
import type { PodView } from './cluster-objects.js';
import type { ClusterPods } from './cluster-pods.js';
import type { KubeApi } from './kube-api.js';

/** Longest save of one workspace. Milliseconds. */
const SAVE_TIMEOUT_MS = 600_000;
/** After saves have failed for this long the sandbox goes without: a pod that cannot be removed holds a place for ever. Milliseconds. */
const SAVE_GIVE_UP_MS = 600_000;
const RECEIPT_TIMEOUT_MS = 2_000;
const RECEIPT_TRIES = 3;
/** A node that has not been ready for this long will not end its pods: they are taken off the API server without it. Milliseconds. */
const LOST_NODE_MS = 60_000;
/** How often the API server is asked whether a pod has gone, in case that the watch does not tell. Milliseconds. */
const POLL_MS = 1_000;

interface Save {
  /** The one under way, or that which succeeded. */
  promise: Promise<void> | null;
  firstFailedAt: number | null;
}

/**
 * Ends a sandbox: its workspace goes to the store, then its pod is deleted, and nothing is said before it has gone.
 * Whoever asks again while a workspace is saved joins that save: callers may be short of time, a large workspace is not.
 */
export class SandboxRemoval {
  private readonly saves = new Map<string, Save>();
  /** Pods, by uid, whose deletion was ordered from here: whoever else removes them only waits for it. */
  private readonly ordered = new Set<string>();

  constructor(
    private readonly api: KubeApi,
    private readonly pods: ClusterPods,
    private readonly store: WorkspaceStore,
    private readonly transfer: ArchiveTransfer,
    private readonly logger: Logger,
    /** Ends saves under way when the backend closes; they begin anew with the next `remove`. */
    private readonly closed: AbortSignal,
  ) {}

  async remove(name: string, uid: string, signal: AbortSignal): Promise<'gone' | 'kept'> {
    const pod = await this.pods.fetch(name, signal);
    if (pod === null) return this.forget(uid, 'gone');
    if (pod.uid !== uid) return this.forget(uid, 'kept');
    await orAborted(this.saved(pod), signal, 'The workspace of the sandbox is still being saved.');
    return this.forget(uid, await this.delete(pod, signal));
  }

  private forget<T>(uid: string, result: T): T {
    this.saves.delete(uid);
    this.ordered.delete(uid);
    return result;
  }

  private saved(pod: PodView): Promise<void> {
    const save = this.saves.get(pod.uid) ?? { promise: null, firstFailedAt: null };
    this.saves.set(pod.uid, save);
    save.promise ??= this.save(pod, AbortSignal.any([this.closed, AbortSignal.timeout(SAVE_TIMEOUT_MS)])).catch((error: unknown) => {
      save.promise = null;
      const now = performance.now();
      save.firstFailedAt ??= now;
      const isHopeless = error instanceof SlipwayError && error.code === 'sandbox.archive-too-large';
      if (!isHopeless && (this.closed.aborted || now - save.firstFailedAt < SAVE_GIVE_UP_MS)) throw error;
      this.logger.error({ err: error, sandbox: pod.name, workspace: pod.workspace }, 'the workspace of a sandbox could not be saved and is lost with it');
      save.promise = Promise.resolve();
    });
    return save.promise;
  }

  private async save(pod: PodView, signal: AbortSignal): Promise<void> {
    const { name, workspace, uid, slotId } = pod;
    const isOwn = workspace === name;
    const observation = this.pods.observe(pod);
    if (observation.state !== 'running' || this.isOnLostNode(pod)) {
      const reason = observation.state === 'ended' ? observation.reason : observation.state === 'pending' ? observation.message : 'its node is lost';
      if (pod.noted)
        this.logger.warn({ sandbox: name, workspace, reason }, 'a sandbox cannot be asked for its workspace any more: what was kept before counts');
      else if (isOwn) await this.store.mark(workspace, signal);
      return;
    }
    const receipt = await this.receipt(observation.address, signal);
    if (receipt === 'silent' && (pod.noted || !isOwn))
      throw new SlipwayError('sandbox.unreachable', 'The sandbox does not answer, so its workspace cannot be saved yet.');
    if (receipt === 'owned') {
      const { bytes } = await this.transfer.save({ slotId, uid, address: observation.address }, workspace, signal);
      this.logger.info({ sandbox: name, workspace, bytes }, 'the workspace of a sandbox is saved');
    } else if (isOwn) await this.store.mark(workspace, signal);
  }

  /** `silent`: no proper answer, three times. */
  private async receipt(address: string, signal: AbortSignal): Promise<'owned' | 'blank' | 'silent'> {
    for (let tries = 0; tries < RECEIPT_TRIES; tries += 1) {
      const state = await readActivation(address, signal, RECEIPT_TIMEOUT_MS);
      if (state !== null) return state.claim_id === null && state.state === 'dormant' ? 'blank' : 'owned';
    }
    return 'silent';
  }

  private async delete(pod: PodView, signal: AbortSignal): Promise<'gone' | 'kept'> {
    const path = `${this.pods.path}/${encodeURIComponent(pod.name)}`;
    let isOurs = false;
    let isForced = false;
    for (let seen: PodView | null = pod; ; seen = await this.aMomentLater(pod, signal)) {
      if (seen === null) return 'gone';
      if (seen.uid !== pod.uid) return isOurs ? 'gone' : 'kept';
      const force = this.isOnLostNode(seen);
      const isOrdered = seen.deleting || this.ordered.has(pod.uid);
      if (isForced || (isOrdered && !force)) continue;
      if (force) this.logger.warn({ sandbox: pod.name, node: pod.node }, 'a pod is deleted without its node, which is lost; its processes may still run there');
      this.ordered.add(pod.uid);
      try {
        const result = await this.api.delete('claim', path, { uid: pod.uid, ...(force ? { graceSeconds: 0 } : {}) }, 'delete the sandbox', signal);
        if (result === 'accepted') isOurs = true;
        else this.ordered.delete(pod.uid);
        isForced = force && result === 'accepted';
      } catch (error) {
        this.ordered.delete(pod.uid);
        throw error;
      }
    }
  }

  /** The pod as the API server has it when the watch tells of its end, or after a while. @throws SlipwayError at `signal`. */
  private async aMomentLater(pod: PodView, signal: AbortSignal): Promise<PodView | null> {
    const end = performance.now() + POLL_MS;
    while (this.pods.get(pod.name)?.uid === pod.uid && performance.now() < end) {
      await this.pods.nextChange(end - performance.now(), signal);
      if (signal.aborted) throw new SlipwayError('sandbox.unreachable', 'The sandbox is still ending.', { cause: signal.reason });
    }
    return this.pods.fetch(pod.name, signal);
  }

  private isOnLostNode(pod: PodView): boolean {
    const node = this.pods.node(pod);
    if (node === 'lost') return true;
    return node !== 'unknown' && !node.ready && Date.now() - node.readySince > LOST_NODE_MS;
  }
}

/** The promise, or an error at `signal`; the work goes on. */
function orAborted<T>(work: Promise<T>, signal: AbortSignal, detail: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(new SlipwayError('sandbox.unreachable', detail, { cause: signal.reason }));
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
