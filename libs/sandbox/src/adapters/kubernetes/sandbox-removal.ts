import { SlipwayError } from '@slipway/errors';
import type { Logger } from '@slipway/telemetry';
import { readActivation } from '../../activation.js';
import type { RemoveOptions } from '../../sandbox-backend.js';
import type { WorkspaceStore } from './archive/workspace-store.js';
import type { ArchiveTransfer } from './archive-transfer.js';
import type { PodView } from './cluster-objects.js';
import type { ClusterPods } from './cluster-pods.js';
import type { KubeApi } from './kube-api.js';

/** Longest save of one workspace. Milliseconds. */
const SAVE_TIMEOUT_MS = 600_000;
/** How long a sandbox may take to end once its workspace is kept. Seconds. */
const END_SECONDS = 5;
/**
 * Pauses after saves that failed, doubling. Milliseconds: each try reads the workspace again, and callers meanwhile get
 * the last failure.
 */
const RETRY_FIRST_MS = 1_000;
const RETRY_MOST_MS = 30_000;
const RECEIPT_TIMEOUT_MS = 2_000;
const RECEIPT_TRIES = 3;
/**
 * A node that has not been ready for this long will not end its pods: they are taken off the API server without it.
 * Milliseconds.
 */
const LOST_NODE_MS = 60_000;
/** How often the API server is asked whether a pod has gone, in case the watch misses it. Milliseconds. */
const POLL_MS = 1_000;

/**
 * `lost`: there is nothing to save any more, or never will be. `bytes`: of what was written; `null`: nothing had to be.
 */
type Saved = { readonly bytes: number | null } | 'lost';

interface Save {
  /** The one under way, or that which succeeded. */
  promise: Promise<Saved> | null;
  failures: number;
  /** What failed last, and until when that is the answer. By `performance.now()`. */
  failed: { readonly error: unknown; readonly until: number } | null;
}

/**
 * Ends a sandbox: its workspace goes to the store, then its pod is deleted, and nothing is said before it has gone.
 * Whoever asks again while a workspace is saved joins that save: callers may be short of time, a large workspace is
 * not.
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
    /** Ends saves under way when the backend closes; they start again with the next `remove`. */
    private readonly closed: AbortSignal,
  ) {}

  async remove(
    name: string,
    uid: string,
    signal: AbortSignal,
    { evenUnkept = false, owned = false, onKept }: RemoveOptions = {},
  ): Promise<'gone' | 'kept'> {
    const pod = await this.pods.fetch(name, signal);
    if (pod === null) return this.forget(uid, 'gone');
    if (pod.uid !== uid) return this.forget(uid, 'kept');
    // A note on the sandbox may come after its removal, or be taken from it.
    const noted = pod.noted || owned;
    const saved = await this.savedOr({ ...pod, noted }, evenUnkept, signal);
    if (saved !== 'lost') await onKept?.(saved.bytes);
    return this.forget(uid, await this.delete(pod, signal));
  }

  private forget<T>(uid: string, result: T): T {
    this.saves.delete(uid);
    this.ordered.delete(uid);
    return result;
  }

  private async savedOr(pod: PodView, evenUnkept: boolean, signal: AbortSignal): Promise<Saved> {
    try {
      return await orAborted(this.saved(pod), signal, 'The workspace of the sandbox is still being saved.');
    } catch (error) {
      if (!evenUnkept || signal.aborted) throw error;
      this.logger.error(
        { err: error, sandbox: pod.name, workspace: pod.workspace },
        'workspace given up and lost with its sandbox',
      );
      return 'lost';
    }
  }

  private saved(pod: PodView): Promise<Saved> {
    const save = this.saves.get(pod.uid) ?? { promise: null, failures: 0, failed: null };
    this.saves.set(pod.uid, save);
    if (save.promise !== null) return save.promise;
    if (save.failed !== null && performance.now() < save.failed.until) return Promise.reject(save.failed.error);
    save.promise = this.save(pod, AbortSignal.any([this.closed, AbortSignal.timeout(SAVE_TIMEOUT_MS)])).catch(
      (error: unknown) => {
        save.promise = null;
        // More than a workspace may hold: no other try will do.
        if (error instanceof SlipwayError && error.code === 'sandbox.archive-too-large') {
          this.logger.error(
            { err: error, sandbox: pod.name, workspace: pod.workspace },
            'workspace too large to keep, lost with its sandbox',
          );
          save.promise = Promise.resolve('lost');
          return 'lost';
        }
        if (!this.closed.aborted) {
          const pause = Math.min(RETRY_MOST_MS, RETRY_FIRST_MS * 2 ** save.failures);
          save.failures += 1;
          save.failed = { error, until: performance.now() + pause };
          this.logger.warn(
            { err: error, sandbox: pod.name, workspace: pod.workspace, retry_in_ms: pause },
            'workspace not saved, will retry',
          );
        }
        throw error;
      },
    );
    return save.promise;
  }

  private async save(pod: PodView, signal: AbortSignal): Promise<Saved> {
    const { name, workspace, uid, slotId } = pod;
    const isOwn = workspace === name;
    const address = this.addressOf(pod);
    if (address === null) {
      if (pod.noted) {
        this.logger.warn(
          { sandbox: name, workspace },
          'sandbox cannot be asked for its workspace any more, the stored one counts',
        );
        return 'lost';
      }
      if (isOwn) await this.store.mark(workspace, signal);
      return { bytes: null };
    }
    const receipt = await this.receipt(address, signal);
    if (receipt === 'silent' && (pod.noted || !isOwn))
      throw new SlipwayError(
        'sandbox.unreachable',
        'The sandbox does not answer, so its workspace cannot be saved yet.',
      );
    if (receipt === 'owned') {
      const { bytes } = await this.transfer.save({ slotId, uid, address }, workspace, signal);
      this.logger.info({ sandbox: name, workspace, bytes }, 'workspace of a sandbox saved');
      return { bytes };
    }
    if (isOwn) await this.store.mark(workspace, signal);
    return { bytes: null };
  }

  /**
   * Where the sandbox can be asked for its workspace: also while its pod is being deleted, until its grace period ends.
   */
  private addressOf(pod: PodView): string | null {
    if (this.isOnLostNode(pod)) return null;
    return this.pods.addressOf(pod);
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
      // Nothing is left to wait for, nor the remainder of another deletion's grace period.
      if (isForced || (this.ordered.has(pod.uid) && !force)) continue;
      if (force)
        this.logger.warn(
          { sandbox: pod.name, node: pod.node },
          'pod deleted without its lost node, its processes may still run there',
        );
      this.ordered.add(pod.uid);
      try {
        const result = await this.api.delete({
          budget: 'claim',
          path,
          options: { uid: pod.uid, graceSeconds: force ? 0 : END_SECONDS },
          doing: 'delete the sandbox',
          signal,
        });
        if (result === 'accepted') isOurs = true;
        else this.ordered.delete(pod.uid);
        isForced = force && result === 'accepted';
      } catch (error) {
        this.ordered.delete(pod.uid);
        throw error;
      }
    }
  }

  /**
   * The pod as the API server has it when the watch reports its end, or after a while. @throws SlipwayError at
   * `signal`.
   */
  private async aMomentLater(pod: PodView, signal: AbortSignal): Promise<PodView | null> {
    const end = performance.now() + POLL_MS;
    while (this.pods.get(pod.name)?.uid === pod.uid && performance.now() < end) {
      await this.pods.nextChange(end - performance.now(), signal);
      if (signal.aborted)
        throw new SlipwayError('sandbox.unreachable', 'The sandbox is still ending.', { cause: signal.reason });
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
