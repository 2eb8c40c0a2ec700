import type { SandboxObservation, SandboxProblem } from '../../sandbox-backend.js';
import {
  ACTION_SERVER,
  AGENT_SERVER,
  type ContainerView,
  howItEnded,
  type NodeView,
  type PodView,
  type Taint,
  type Toleration,
} from './cluster-objects.js';

type Seen = Exclude<SandboxObservation, { state: 'gone' }>;

const IMAGE_PROBLEMS: ReadonlySet<string> = new Set([
  'ErrImagePull',
  'ImagePullBackOff',
  'InvalidImageName',
  'ErrImageNeverPull',
  'RegistryUnavailable',
  'ImageInspectError',
]);
const CONTAINER_PROBLEMS: ReadonlySet<string> = new Set([
  'CreateContainerConfigError',
  'CreateContainerError',
  'RunContainerError',
  'CrashLoopBackOff',
  'PreCreateHookError',
  'PostStartHookError',
]);

/** SIGKILL, SIGTERM, and an end of its own accord after SIGTERM. */
const STOPPED_BY_KUBELET: ReadonlySet<number> = new Set([0, 137, 143]);

/** What is known of the node of a pod. `lost`: it was there when the pod came to it, and is no more. */
export type NodeSeen = NodeView | 'unknown' | 'lost';

/**
 * A pod as a sandbox, from what the cluster says of it.
 * `running` means that agent-server's process runs and has an address; whether it listens is asked elsewhere.
 */
export function observationOf(pod: PodView, node: NodeSeen, port: number): Seen {
  const end = endOf(pod, node);
  if (end !== null) return { state: 'ended', uid: pod.uid, reason: `the sandbox ended: ${end}` };
  const address = addressOf(pod, port);
  if (address === null) {
    const problem = problemOf(pod);
    return { state: 'pending', message: problem?.detail ?? waitsFor(pod), ...(problem === null ? {} : { problem }) };
  }
  const avoid = avoidOf(pod, node);
  return {
    state: 'running',
    uid: pod.uid,
    address,
    restarts: { count: pod.tools?.restarts ?? 0, reasons: pod.toolEnds },
    ...(pod.node === null ? {} : { node: pod.node }),
    ...(avoid === null ? {} : { avoid }),
  };
}

/** Where agent-server answers while its process runs; `null` when it does not run or has no address. */
export function addressOf(pod: PodView, port: number): string | null {
  if (pod.agent?.state !== 'running' || pod.ip === null || pod.phase === 'Failed' || pod.phase === 'Succeeded')
    return null;
  return `http://${pod.ip.includes(':') ? `[${pod.ip}]` : pod.ip}:${port}`;
}

/** Why the sandbox should not be handed out; `null` when nothing prevents it. */
function avoidOf(pod: PodView, node: NodeSeen): string | null {
  if (pod.tools?.state === 'waiting' && pod.tools.reason === 'CrashLoopBackOff')
    return `its tool process keeps ending: ${pod.toolEnds.at(-1) ?? pod.tools.message}`;
  if (node === 'unknown' || node === 'lost') return null;
  if (node.deleting) return `its node ${node.name} is being deleted`;
  if (node.cordoned) return `its node ${node.name} is cordoned`;
  if (!node.ready) return `its node ${node.name} is not ready`;
  const taint = node.taints.find(
    (candidate) =>
      candidate.effect !== 'PreferNoSchedule' &&
      !pod.tolerations.some((toleration) => tolerates(toleration, candidate)),
  );
  return taint === undefined
    ? null
    : `its node ${node.name} has the taint ${taint.key}${taint.value === '' ? '' : `=${taint.value}`}:${taint.effect}`;
}

function tolerates({ key = '', operator = 'Equal', value = '', effect = '' }: Toleration, taint: Taint): boolean {
  if (effect !== '' && effect !== taint.effect) return false;
  if (key === '') return operator === 'Exists';
  return key === taint.key && (operator === 'Exists' || value === taint.value);
}

function endOf(pod: PodView, node: NodeSeen): string | null {
  if (pod.phase === 'Failed' && pod.reason !== '') {
    const words = `${pod.reason}${pod.message === '' ? '' : `: ${pod.message}`}`;
    return pod.reason === 'Evicted' ? `its node evicted it (${words})` : `the cluster gave it up (${words})`;
  }
  if (pod.agent?.state === 'ended' && pod.agent.end !== null) {
    const how = `${AGENT_SERVER} ${howItEnded(pod.agent.end)}`;
    // Deleting a pod terminates its processes, then kills them; the deletion itself may not be seen before that.
    return pod.deleting && STOPPED_BY_KUBELET.has(pod.agent.end.exitCode) && pod.agent.end.reason !== 'OOMKilled'
      ? `its pod was deleted (${how})`
      : how;
  }
  if (pod.phase === 'Failed' || pod.phase === 'Succeeded') {
    const tools = pod.tools?.end;
    return tools == null
      ? `its pod is ${pod.phase}`
      : `${ACTION_SERVER} ${howItEnded(tools)} before ${AGENT_SERVER} was started`;
  }
  if (pod.deleting) return 'it is being deleted';
  if (node === 'lost') return `its node ${pod.node} is no longer in the cluster`;
  return null;
}

function problemOf(pod: PodView): SandboxProblem | null {
  if (pod.unschedulable !== null)
    return {
      code: 'sandbox.unschedulable',
      detail: sentence('No node takes the sandbox', withoutAfterthought(pod.unschedulable)),
    };
  for (const [name, container] of [
    [ACTION_SERVER, pod.tools],
    [AGENT_SERVER, pod.agent],
  ] as const) {
    if (container?.state !== 'waiting') continue;
    if (IMAGE_PROBLEMS.has(container.reason))
      return {
        code: 'sandbox.image-unavailable',
        detail: sentence("The sandbox's image cannot be pulled", wordsOf(container)),
      };
    if (CONTAINER_PROBLEMS.has(container.reason)) {
      const last = container.end === null ? '' : `; the last time it ${howItEnded(container.end)}`;
      return {
        code: 'sandbox.start-failed',
        detail: sentence(`${name} cannot be started`, `${wordsOf(container)}${last}`),
      };
    }
  }
  return null;
}

function waitsFor(pod: PodView): string {
  if (pod.node === null) return 'it waits for a node';
  const container = [pod.tools, pod.agent].find(
    (candidate) => candidate?.state === 'waiting' && candidate.reason !== 'PodInitializing',
  );
  return `its containers are made on ${pod.node}${container == null || container.reason === '' ? '' : ` (${wordsOf(container)})`}`;
}

function wordsOf(container: ContainerView): string {
  return container.message === '' || container.message === container.reason
    ? container.reason
    : `${container.reason}: ${container.message}`;
}

function sentence(what: string, words: string): string {
  return `${what}: ${words}`;
}

/**
 * The scheduler goes on to say what preemption and claims of devices would not help, which is no news to anybody who
 * waits.
 */
function withoutAfterthought(words: string): string {
  return words.replace(/[.,;]?\s*(no new claims to deallocate|preemption:)[\s\S]*$/, '.');
}
