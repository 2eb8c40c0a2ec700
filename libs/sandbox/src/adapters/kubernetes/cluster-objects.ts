/**
 * Stored fields of a pod and of a node: ten thousand pods fit in a small heap. Other fields are dropped as soon as its
 * line is read.
 */

export interface Tracked {
  readonly name: string;
  readonly uid: string;
  /** resourceVersion. */
  readonly version: string;
}

export interface EndedContainer {
  /** Unique to one start of the container. */
  readonly id: string;
  readonly exitCode: number;
  readonly reason: string;
  readonly message: string;
  readonly finishedAt: string;
}

export interface ContainerView {
  readonly state: 'waiting' | 'running' | 'ended';
  /** Of a waiting container. */
  readonly reason: string;
  readonly message: string;
  /** How it ended: this time, or the last time before it was started again. */
  readonly end: EndedContainer | null;
  readonly restarts: number;
}

export interface Toleration {
  readonly key?: string;
  readonly operator?: string;
  readonly value?: string;
  readonly effect?: string;
}

export interface PodView extends Tracked {
  readonly phase: string;
  readonly reason: string;
  readonly message: string;
  readonly ip: string | null;
  readonly node: string | null;
  readonly deleting: boolean;
  /** Why no node takes it, in the scheduler's words. */
  readonly unschedulable: string | null;
  readonly agent: ContainerView | null;
  readonly tools: ContainerView | null;
  /** How the tool process ended each time, oldest first; sentences. */
  readonly toolEnds: readonly string[];
  readonly tolerations: readonly Toleration[];
  readonly slotId: string;
  /** The workspace in it: its own, until another was attached. */
  readonly workspace: string;
  /** The owner is recorded on it. Some time after the claim. */
  readonly noted: boolean;
}

export interface Taint {
  readonly key: string;
  readonly value: string;
  readonly effect: string;
}

export interface NodeView extends Tracked {
  readonly ready: boolean;
  /** Nothing has been heard of it for a while, so the cluster takes it for not ready. */
  readonly silent: boolean;
  /** Since when it is ready, or is not. Milliseconds since 1970; 0 when it never said. */
  readonly readySince: number;
  readonly cordoned: boolean;
  readonly deleting: boolean;
  readonly taints: readonly Taint[];
}

/** The containers of a sandbox. */
export const AGENT_SERVER = 'agent-server';
export const ACTION_SERVER = 'action-server';
/** Labels and annotations that are ours; a template may not use them. */
export const OWN_PREFIX = 'slipway.dev/';
export const SLOT_LABEL = `${OWN_PREFIX}slot`;
/** `none`: the pod asks no resolver, and no policy lets it reach one. Never changes. */
export const DNS_LABEL = `${OWN_PREFIX}dns`;
export const CLAIM_LABEL = `${OWN_PREFIX}claim`;
export const WORKSPACE_ANNOTATION = `${OWN_PREFIX}workspace`;

interface RawMetadata {
  readonly name?: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly deletionTimestamp?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}
interface RawCondition {
  readonly type?: string;
  readonly status?: string;
  readonly reason?: string;
  readonly message?: string;
  readonly lastTransitionTime?: string;
}
interface RawContainerStatus {
  readonly name?: string;
  readonly restartCount?: number;
  readonly state?: RawContainerState;
  readonly lastState?: RawContainerState;
}
interface RawContainerState {
  readonly waiting?: { readonly reason?: string; readonly message?: string };
  readonly running?: object;
  readonly terminated?: {
    readonly exitCode?: number;
    readonly reason?: string;
    readonly message?: string;
    readonly finishedAt?: string;
    readonly containerID?: string;
  };
}
interface RawPod {
  readonly metadata?: RawMetadata;
  readonly spec?: { readonly nodeName?: string; readonly tolerations?: readonly Toleration[] };
  readonly status?: {
    readonly phase?: string;
    readonly reason?: string;
    readonly message?: string;
    readonly podIP?: string;
    readonly conditions?: readonly RawCondition[];
    readonly containerStatuses?: readonly RawContainerStatus[];
    readonly initContainerStatuses?: readonly RawContainerStatus[];
  };
}
interface RawNode {
  readonly metadata?: RawMetadata;
  readonly spec?: {
    readonly unschedulable?: boolean;
    readonly taints?: ReadonlyArray<{ key?: string; value?: string; effect?: string }>;
  };
  readonly status?: { readonly conditions?: readonly RawCondition[] };
}

export function readPod(object: unknown): PodView {
  const { metadata, spec, status } = object as RawPod;
  const scheduled = status?.conditions?.find((condition) => condition.type === 'PodScheduled');
  const tools = readContainer(status?.initContainerStatuses, ACTION_SERVER);
  return {
    ...readMetadata(metadata),
    phase: status?.phase ?? 'Pending',
    reason: status?.reason ?? '',
    message: status?.message ?? '',
    ip: status?.podIP ?? null,
    node: spec?.nodeName ?? null,
    deleting: metadata?.deletionTimestamp !== undefined,
    unschedulable: scheduled?.status === 'False' ? (scheduled.message ?? scheduled.reason ?? '') : null,
    agent: readContainer(status?.containerStatuses, AGENT_SERVER),
    tools,
    toolEnds: tools?.end == null ? [] : [`${tools.end.finishedAt} ${ACTION_SERVER} ${howItEnded(tools.end)}`.trim()],
    tolerations: sharedTolerations(spec?.tolerations ?? []),
    slotId: metadata?.labels?.[SLOT_LABEL] ?? '',
    workspace: metadata?.annotations?.[WORKSPACE_ANNOTATION] ?? metadata?.name ?? '',
    noted: metadata?.labels?.[CLAIM_LABEL] !== undefined,
  };
}

export function readNode(object: unknown): NodeView {
  const { metadata, spec, status } = object as RawNode;
  const ready = status?.conditions?.find((condition) => condition.type === 'Ready');
  return {
    ...readMetadata(metadata),
    ready: ready?.status === 'True',
    silent: ready?.status === 'Unknown',
    readySince: Date.parse(ready?.lastTransitionTime ?? '') || 0,
    cordoned: spec?.unschedulable === true,
    deleting: metadata?.deletionTimestamp !== undefined,
    taints: (spec?.taints ?? []).map(({ key = '', value = '', effect = '' }) => ({ key, value, effect })),
  };
}

const ENDS_KEPT = 10;

/** The cluster remembers only the last end of a container: what was seen of the ends before is carried over. */
export function carryEnds(before: PodView, after: PodView): PodView {
  if (before.uid !== after.uid || before.toolEnds.length === 0) return after;
  // By what ended, not by the words: two ends within one second read the same, and one end is reported in several
  // states.
  const anew = after.tools?.end != null && after.tools.end.id !== before.tools?.end?.id;
  return { ...after, toolEnds: anew ? [...before.toolEnds, ...after.toolEnds].slice(-ENDS_KEPT) : before.toolEnds };
}

/** As in `agent-server was killed (SIGKILL)`. */
export function howItEnded({ exitCode, reason, message }: EndedContainer): string {
  const words = message.trim().split('\n').at(-1)?.slice(0, 500) ?? '';
  if (reason === 'OOMKilled') return 'ran out of memory and was killed (OOMKilled)';
  if (exitCode === 137) return 'was killed (SIGKILL)';
  if (exitCode === 143) return 'was killed (SIGTERM)';
  if (exitCode > 128 && exitCode < 160) return `was killed (signal ${exitCode - 128})`;
  const cause = reason === 'Error' || reason === 'Completed' || reason === '' ? '' : ` (${reason})`;
  return `ended with code ${exitCode}${cause}${words === '' ? '' : `: ${words}`}`;
}

function readMetadata(metadata: RawMetadata | undefined): Tracked {
  return { name: metadata?.name ?? '', uid: metadata?.uid ?? '', version: metadata?.resourceVersion ?? '' };
}

function readContainer(statuses: readonly RawContainerStatus[] | undefined, name: string): ContainerView | null {
  const status = statuses?.find((candidate) => candidate.name === name);
  if (status === undefined) return null;
  const { waiting, running, terminated } = status.state ?? {};
  const ended = terminated ?? status.lastState?.terminated;
  return {
    state: terminated !== undefined ? 'ended' : running !== undefined ? 'running' : 'waiting',
    reason: waiting?.reason ?? '',
    message: waiting?.message ?? '',
    end:
      ended === undefined
        ? null
        : {
            id: ended.containerID ?? ended.finishedAt ?? '',
            exitCode: ended.exitCode ?? 0,
            reason: ended.reason ?? '',
            message: ended.message ?? '',
            finishedAt: ended.finishedAt ?? '',
          },
    restarts: status.restartCount ?? 0,
  };
}

/** The pods of a template tolerate the same: one list for all of them. */
const tolerationLists = new Map<string, readonly Toleration[]>();
const TOLERATION_LISTS_KEPT = 1_000;
function sharedTolerations(tolerations: readonly Toleration[]): readonly Toleration[] {
  const text = JSON.stringify(tolerations);
  const known = tolerationLists.get(text);
  if (known !== undefined) return known;
  if (tolerationLists.size >= TOLERATION_LISTS_KEPT) tolerationLists.clear();
  tolerationLists.set(text, tolerations);
  return tolerations;
}
