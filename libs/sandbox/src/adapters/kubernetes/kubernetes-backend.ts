import { type KeyObject, randomBytes } from 'node:crypto';
import { SlipwayError } from '@slipway/errors';
import type { Logger } from '@slipway/telemetry';
import { readActivation } from '../../activation.js';
import type {
  ListedSandbox,
  RemoveOptions,
  SandboxBackend,
  SandboxKind,
  SandboxObservation,
  SandboxOwner,
  SandboxSpec,
} from '../../sandbox-backend.js';
import type { WorkspaceStore } from './archive/workspace-store.js';
import { ArchiveTransfer } from './archive-transfer.js';
import type { ClusterAccess } from './cluster-access.js';
import { CLAIM_LABEL, OWN_PREFIX, type PodView, WORKSPACE_ANNOTATION } from './cluster-objects.js';
import { type ClusterHealth, ClusterPods } from './cluster-pods.js';
import { type Budgets, KubeApi } from './kube-api.js';
import { namesOf, type SandboxNames } from './sandbox-names.js';
import { type PodSettings, sandboxPod, templateHash } from './sandbox-pod.js';
import { SandboxRemoval } from './sandbox-removal.js';
import { readTemplates, type SandboxTemplate, templateFor } from './sandbox-template.js';
import { SYSTEM_TIMING, type Timing } from './timing.js';

export interface KubernetesBackendConfig {
  readonly access: ClusterAccess;
  /** The namespace of sandboxes, and of nothing else. */
  readonly namespace: string;
  /** Read with `SandboxTemplate`. */
  readonly templates: unknown;
  /** Where workspaces are while no pod has them. */
  readonly store: WorkspaceStore;
  /** Ed25519. Signs what moves archives; its public half is in every pod. */
  readonly activationKey: KeyObject;
  /** SPKI DER, base64. */
  readonly activationPublicKey: string;
  readonly nodeEnv: 'development' | 'test' | 'production';
  /** Of the servers in the sandbox. */
  readonly logLevel: string;
  /**
   * Read for each pod. What `hosts` throws is why none is made that needs them. Not given: no resolver and no names.
   */
  readonly names?: SandboxNames;
  readonly logger: Logger;
  readonly budgets?: Budgets;
  readonly timing?: Timing;
}

const NO_NAMES: SandboxNames = { dns: 'none', hosts: [] };
/** Hashes that are kept: one for each kind of sandbox, and again when an address of the platform changes. */
const MOST_HASHES = 1_000;
const NAME = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;
/** Longest wait for the first probe of agent-server. Milliseconds. */
const FIRST_LOOK_MS = 1_000;
/**
 * An agent-server that runs without answering for so long is reported as running anyway: its caller then decides how
 * long to wait, and the slot is not held for good. Milliseconds.
 */
const MUTE_MS = 10_000;
/** Longest wait of a list for the first sync after a start. Milliseconds. */
const FIRST_SYNC_MS = 5_000;
/**
 * How long the store's list of workspaces is cached. Milliseconds; it is read every few seconds, and only lists what
 * may be deleted.
 */
const WORKSPACES_KEPT_MS = 30_000;

/**
 * Sandboxes as pods. The cluster is the truth: nothing of a sandbox is kept here that is not in its pod or in the
 * store, so any replica, and one that was just started, goes on with what is there.
 *
 * Two watches keep a cache of pods and nodes; `list` and `observe` answer from it, but that a sandbox is gone is
 * believed only from the API server. A pod is never moved or revived. While a session is paused its workspace is in the
 * store, and the next pod gets it before it is activated.
 */
export class KubernetesBackend implements SandboxBackend {
  private readonly api: KubeApi;
  private readonly pods: ClusterPods;
  private readonly removal: SandboxRemoval;
  private readonly transfer: ArchiveTransfer;
  private readonly templates: ReadonlyMap<string, SandboxTemplate>;
  private readonly hashes = new Map<string, string>();
  /** Pods whose agent-server has answered once, by uid: whether it still does is for those who talk to it. */
  private readonly heard = new Set<string>();
  private readonly firstLooks = new Map<string, Promise<boolean>>();
  /** Since when others have been asked in vain, by uid. */
  private readonly mute = new Map<string, number>();
  private readonly closed = new AbortController();
  private workspaces: { readonly names: Set<string>; readonly readAt: number } | null = null;

  /**
   * Begins to watch the cluster at once. @throws SlipwayError `config.invalid` that names every wrong field of the
   * templates.
   */
  constructor(private readonly config: KubernetesBackendConfig) {
    const { access, namespace, store, activationKey, logger, budgets, timing = SYSTEM_TIMING } = config;
    this.templates = readTemplates(config.templates, config.nodeEnv);
    this.api = new KubeApi(access, timing, budgets);
    this.pods = new ClusterPods(this.api, namespace, timing, logger);
    this.transfer = new ArchiveTransfer(store, activationKey);
    this.removal = new SandboxRemoval(this.api, this.pods, store, this.transfer, logger, this.closed.signal);
  }

  /** How well the cluster is known; for readiness and metrics. */
  get health(): ClusterHealth {
    return this.pods.health;
  }

  /** Ends the watches and saves under way; pods stay as they are. */
  async close(): Promise<void> {
    this.closed.abort();
    await this.pods.close();
    this.api.close();
  }

  templateOf({ image, size = 1 }: SandboxKind): string {
    const settings = this.settings();
    const template = templateFor(this.templates, image, size);
    const kind = `${image} ${size} ${JSON.stringify(namesOf(template.egress, settings.names))}`;
    const known = this.hashes.get(kind);
    if (known !== undefined) return known;
    const hash = templateHash(template, size, settings);
    if (this.hashes.size >= MOST_HASHES) this.hashes.clear();
    this.hashes.set(kind, hash);
    return hash;
  }

  async ensure(spec: SandboxSpec, signal: AbortSignal): Promise<void> {
    stopAt(signal);
    const { name, slotId, image, size = 1 } = spec;
    const template = templateFor(this.templates, image, size);
    if (this.pods.get(checked(name)) !== undefined) return;
    const identity = { name, slotId, token: randomBytes(32).toString('base64url') };
    const pod = sandboxPod({ template, size, identity, settings: this.settings(), hash: this.templateOf(spec) });
    const made = await this.api.create({
      budget: 'refill',
      path: this.pods.path,
      body: pod,
      doing: 'make the sandbox',
      signal,
    });
    if (made !== 'exists') this.pods.learn(made);
  }

  async observe(name: string, signal: AbortSignal): Promise<SandboxObservation> {
    stopAt(signal);
    const pod = this.pods.get(checked(name)) ?? (await this.pods.fetch(name, signal));
    if (pod === null) return { state: 'gone' };
    const observation = this.pods.observe(pod);
    if (observation.state !== 'running' || (await this.hasAnswered(pod, observation.address))) return observation;
    return { state: 'pending', message: 'agent-server does not answer yet' };
  }

  async list(signal: AbortSignal): Promise<readonly ListedSandbox[]> {
    stopAt(signal);
    const end = performance.now() + FIRST_SYNC_MS;
    while (!this.pods.health.synced && performance.now() < end && !signal.aborted)
      await this.pods.nextChange(50, signal);
    const { synced, problem } = this.pods.health;
    if (!synced)
      throw new SlipwayError(
        problem?.code ?? 'sandbox.cluster-unavailable',
        problem?.detail ?? 'The pods of the cluster have not been read yet.',
      );
    return [...this.pods.values()].map((pod) => ({
      name: pod.name,
      uid: pod.uid,
      observation: this.pods.observe(pod),
    }));
  }

  async remove(name: string, uid: string, signal: AbortSignal, options: RemoveOptions = {}): Promise<'gone' | 'kept'> {
    stopAt(signal);
    const workspace = this.pods.get(checked(name))?.workspace ?? name;
    const result = await ofStore(this.removal.remove(name, uid, signal, options));
    this.workspaces?.names.add(workspace);
    if (this.heard.size > 2 * this.health.pods + 100) this.forgetOld();
    return result;
  }

  async attachWorkspace(name: string, workspace: string, signal: AbortSignal): Promise<void> {
    stopAt(signal);
    const { store } = this.config;
    if (!(await ofStore(store.exists(checked(workspace), signal))))
      throw new SlipwayError('sandbox.start-failed', 'The workspace of this session is no longer kept anywhere.', {
        extensions: { workspace: 'missing' },
      });
    const pod = this.pods.get(checked(name)) ?? (await this.pods.fetch(name, signal));
    const observation = pod === null ? null : this.pods.observe(pod);
    if (pod === null || observation?.state !== 'running')
      throw new SlipwayError('sandbox.start-failed', 'The sandbox ended before it got its workspace.');
    // First of all: whoever removes this pod must know which workspace is in it.
    const named =
      pod.workspace === workspace ||
      (await this.write(pod, { annotations: { [WORKSPACE_ANNOTATION]: workspace } }, 'name the workspace', signal));
    if (!named) throw new SlipwayError('sandbox.start-failed', 'The sandbox ended before it got its workspace.');
    await ofStore(
      this.transfer.restore({ slotId: pod.slotId, uid: pod.uid, address: observation.address }, workspace, signal),
    );
  }

  async listWorkspaces(signal: AbortSignal): Promise<readonly string[]> {
    stopAt(signal);
    if (this.workspaces === null || performance.now() - this.workspaces.readAt > WORKSPACES_KEPT_MS) {
      const readAt = performance.now();
      this.workspaces = { names: new Set(await ofStore(this.config.store.list(signal))), readAt };
    }
    return [...new Set([...this.workspaces.names, ...[...this.pods.values()].map((pod) => pod.workspace)])];
  }

  async deleteWorkspace(workspace: string, signal: AbortSignal): Promise<void> {
    stopAt(signal);
    await ofStore(this.config.store.delete(checked(workspace), signal));
    this.workspaces?.names.delete(workspace);
  }

  async note(name: string, uid: string, owner: SandboxOwner, signal: AbortSignal): Promise<void> {
    const labels = { [CLAIM_LABEL]: owner.claimId };
    const annotations = {
      [`${OWN_PREFIX}org`]: owner.orgId,
      [`${OWN_PREFIX}session`]: owner.sessionId,
      'cluster-autoscaler.kubernetes.io/safe-to-evict': 'false',
    };
    await this.write({ name: checked(name), uid }, { labels, annotations }, 'note whose the sandbox is', signal);
  }

  /** The kubelet does it. */
  async tend(): Promise<void> {}

  onChange(listener: () => void): () => void {
    return this.pods.onChange(listener);
  }

  private settings(): PodSettings {
    const { namespace, activationPublicKey, logLevel, names } = this.config;
    return { namespace, activationPublicKey, logLevel, names: names ?? NO_NAMES };
  }

  /** One merge patch of a pod's metadata. @returns `false` when the pod has gone or has another uid. */
  private async write(
    pod: Pick<PodView, 'name' | 'uid'>,
    metadata: object,
    doing: string,
    signal: AbortSignal,
  ): Promise<boolean> {
    const path = `${this.pods.path}/${encodeURIComponent(pod.name)}`;
    const written = await this.api.patch({
      budget: 'claim',
      path,
      body: { metadata: { ...metadata, uid: pod.uid } },
      doing,
      signal,
    });
    if (written === null) return false;
    this.pods.learn(written);
    return true;
  }

  /** Whether agent-server has ever answered, or has had its time to. Callers during a probe share it. */
  private async hasAnswered({ uid }: PodView, address: string): Promise<boolean> {
    if (this.heard.has(uid)) return true;
    const known = this.firstLooks.get(uid);
    if (known !== undefined) return known;
    const look = readActivation(address, this.closed.signal, FIRST_LOOK_MS).then((state) => {
      this.firstLooks.delete(uid);
      const now = performance.now();
      const muteSince = this.mute.get(uid) ?? now;
      if (state === null) this.mute.set(uid, muteSince);
      if (state === null && now - muteSince < MUTE_MS) return false;
      this.mute.delete(uid);
      this.heard.add(uid);
      return true;
    });
    this.firstLooks.set(uid, look);
    return look;
  }

  private forgetOld(): void {
    const live = new Set([...this.pods.values()].map((pod) => pod.uid));
    for (const uid of this.heard) if (!live.has(uid)) this.heard.delete(uid);
    for (const uid of this.mute.keys()) if (!live.has(uid)) this.mute.delete(uid);
  }
}

/** Names become parts of paths and keys. */
function checked(name: string): string {
  if (!NAME.test(name)) throw new SlipwayError('sandbox.start-failed', `"${name}" is not a name of a sandbox.`);
  return name;
}

function stopAt(signal: AbortSignal): void {
  if (signal.aborted)
    throw new SlipwayError('sandbox.unreachable', 'The sandbox took too long.', { cause: signal.reason });
}

/** Stores reject with the signal's own reason when they are stopped. */
async function ofStore<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof SlipwayError) throw error;
    const words = error instanceof Error ? error.message : String(error);
    throw new SlipwayError('sandbox.archive-unavailable', `The store of workspaces did not answer in time: ${words}`, {
      cause: error,
    });
  }
}
