import { createHash } from 'node:crypto';
import type { V1Container, V1Pod, V1ResourceRequirements, V1Volume } from '@kubernetes/client-node';
import type { ResourceFactor } from '../../sandbox-backend.js';
import { ACTION_SERVER, AGENT_SERVER, DNS_LABEL, OWN_PREFIX, SLOT_LABEL } from './cluster-objects.js';
import { amountOf, times } from './quantity.js';
import { namesOf, type SandboxNames } from './sandbox-names.js';
import type { Resources, SandboxTemplate } from './sandbox-template.js';

/** Where agent-server listens in every pod. */
export const AGENT_SERVER_PORT = 8000;
const ACTION_SERVER_PORT = 8001;
/** By this label the platform finds its pods, and no others. */
export const MANAGED_BY = { 'app.kubernetes.io/managed-by': 'slipway-runtime-api' } as const;
/** Group of both containers and of the workspace's files. */
const SHARED_GROUP = 10_000;
const AGENT_SERVER_USER = 10_001;
const ACTION_SERVER_USER = 10_002;
/**
 * Grace period of a sandbox that another party ends (a drain, an eviction, `kubectl delete`) until it is killed.
 * Seconds: in it runtime-api saves the workspace, about ten seconds a GiB, and then ends it. A blank one, and one whose
 * workspace is saved, ends at once.
 */
const GRACE_SECONDS = 120;
/** Before the kubelet kills, agent-server ends by itself. Seconds. */
const LAST_SECONDS = 5;
/** How long a pod stays on a node that does not answer. Seconds; the default of 300 is long for a waiting user. */
const LOST_NODE_SECONDS = 30;
/** agent-server's /tmp, and the state of action-server: both small. */
const SMALL_VOLUME = '256Mi';

export interface PodSettings {
  readonly namespace: string;
  /** SPKI DER, base64. */
  readonly activationPublicKey: string;
  readonly logLevel: string;
  /** DNS of new pods, and the names that they are given. */
  readonly names: SandboxNames;
}

export interface PodIdentity {
  readonly name: string;
  readonly slotId: string;
  /**
   * Shared by the two containers, so that nothing else in the pod speaks to action-server in agent-server's name.
   * Secret.
   */
  readonly token: string;
}

/** What new pods of this kind are made of: it changes with everything that is in a pod but its name, slot and token. */
export function templateHash(template: SandboxTemplate, size: ResourceFactor, settings: PodSettings): string {
  const pod = sandboxPod({ template, size, identity: { name: 'sb-0', slotId: '0', token: '' }, settings, hash: '' });
  return createHash('sha256').update(JSON.stringify(pod)).digest('hex').slice(0, 16);
}

export interface SandboxPodOptions {
  readonly template: SandboxTemplate;
  readonly size: ResourceFactor;
  readonly identity: PodIdentity;
  readonly settings: PodSettings;
  readonly hash: string;
}

/**
 * The pod of one sandbox: agent-server, and action-server beside it as a sidecar of its own user, which is started
 * again when it dies. agent-server is not (`restartPolicy: Never`): with it the activation latch would come back blank.
 */
export function sandboxPod({ template, size, identity, settings, hash }: SandboxPodOptions): V1Pod {
  const { resources, agentServerResources } = template;
  const storage = times(resources.limits.ephemeralStorage, size);
  const names = namesOf(template.egress, settings.names);
  const volumes: V1Volume[] = [
    volume('workspace', storage),
    volume('home', storage),
    volume('agent-state', agentServerResources.limits.ephemeralStorage),
    volume('action-state', SMALL_VOLUME),
    volume('agent-tmp', SMALL_VOLUME),
    volume('action-tmp', storage),
  ];
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: identity.name,
      namespace: settings.namespace,
      labels: {
        ...template.labels,
        // No tracer is ever injected: admission policies refuse its volume, and its start alone takes more than
        // agent-server may.
        'admission.datadoghq.com/enabled': 'false',
        ...MANAGED_BY,
        'app.kubernetes.io/name': 'slipway-sandbox',
        [`${OWN_PREFIX}template`]: template.name,
        [`${OWN_PREFIX}size`]: String(size),
        [`${OWN_PREFIX}egress`]: template.egress,
        ...(names.dnsPolicy === undefined ? {} : { [DNS_LABEL]: 'none' }),
        [SLOT_LABEL]: identity.slotId,
      },
      annotations: { [`${OWN_PREFIX}template-hash`]: hash },
    },
    spec: {
      restartPolicy: 'Never',
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      ...names,
      ...(template.userNamespaces ? { hostUsers: false } : {}),
      terminationGracePeriodSeconds: GRACE_SECONDS,
      ...(template.runtimeClassName === undefined ? {} : { runtimeClassName: template.runtimeClassName }),
      ...(template.nodeSelector === undefined ? {} : { nodeSelector: template.nodeSelector }),
      ...(template.priorityClassName === undefined ? {} : { priorityClassName: template.priorityClassName }),
      ...(template.imagePullSecrets.length === 0
        ? {}
        : { imagePullSecrets: template.imagePullSecrets.map((name) => ({ name })) }),
      tolerations: [
        ...template.tolerations,
        ...['not-ready', 'unreachable'].map((state) => ({
          key: `node.kubernetes.io/${state}`,
          operator: 'Exists',
          effect: 'NoExecute',
          tolerationSeconds: LOST_NODE_SECONDS,
        })),
      ],
      securityContext: {
        runAsNonRoot: true,
        // For the pause container: containerd makes none that has a group and no user.
        runAsUser: AGENT_SERVER_USER,
        runAsGroup: SHARED_GROUP,
        fsGroup: SHARED_GROUP,
        seccompProfile: { type: 'RuntimeDefault' },
      },
      initContainers: [
        {
          ...actionServer(template, identity, settings, storage),
          resources: requirements(resources, size),
          restartPolicy: 'Always',
        },
      ],
      containers: [{ ...agentServer(template, identity, settings), resources: requirements(agentServerResources, 1) }],
      volumes,
    },
  };
}

function agentServer(template: SandboxTemplate, identity: PodIdentity, settings: PodSettings): V1Container {
  return {
    ...container(AGENT_SERVER, template, AGENT_SERVER_USER),
    ports: [{ name: 'http', containerPort: AGENT_SERVER_PORT, protocol: 'TCP' }],
    env: [
      ...variables({
        HOST: '0.0.0.0',
        PORT: String(AGENT_SERVER_PORT),
        SLOT_ID: identity.slotId,
        STATE_DIR: '/var/lib/slipway',
        WORKSPACE_DIR: '/workspace',
        ACTIVATION_PUBLIC_KEY: settings.activationPublicKey,
        ACTION_SERVER_URL: `http://127.0.0.1:${ACTION_SERVER_PORT}`,
        ACTION_SERVER_TOKEN: identity.token,
        ARCHIVE_MAX_BYTES: bytes(template.agentServerResources.limits.ephemeralStorage),
        STOP_GRACE_SECONDS: String(GRACE_SECONDS - LAST_SECONDS),
        NODE_ENV: 'production',
        LOG_LEVEL: settings.logLevel,
      }),
      { name: 'POD_UID', valueFrom: { fieldRef: { fieldPath: 'metadata.uid' } } },
    ],
    volumeMounts: mounts({ workspace: '/workspace', 'agent-state': '/var/lib/slipway', 'agent-tmp': '/tmp' }),
  };
}

function actionServer(
  template: SandboxTemplate,
  identity: PodIdentity,
  settings: PodSettings,
  storage: string,
): V1Container {
  return {
    ...container(ACTION_SERVER, template, ACTION_SERVER_USER),
    env: variables({
      HOST: '127.0.0.1',
      PORT: String(ACTION_SERVER_PORT),
      WORKSPACE_DIR: '/workspace',
      STATE_DIR: '/var/lib/slipway',
      HOME: '/home/agent',
      HOME_DIR: '/home/agent',
      ARCHIVE_MAX_BYTES: bytes(storage),
      ACTION_SERVER_TOKEN: identity.token,
      LOG_LEVEL: settings.logLevel,
    }),
    volumeMounts: mounts({
      workspace: '/workspace',
      home: '/home/agent',
      'action-state': '/var/lib/slipway',
      'action-tmp': '/tmp',
    }),
  };
}

function container(name: string, template: SandboxTemplate, user: number): V1Container {
  return {
    name,
    image: template.image,
    imagePullPolicy: template.imagePullPolicy,
    command: ['node', `/opt/slipway/${name}.cjs`],
    securityContext: {
      runAsUser: user,
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    },
  };
}

function requirements({ requests, limits }: Resources, factor: number): V1ResourceRequirements {
  const multiplied = ({ cpu, memory, ephemeralStorage }: Resources['requests']) => ({
    cpu: times(cpu, factor),
    memory: times(memory, factor),
    'ephemeral-storage': times(ephemeralStorage, factor),
  });
  return { requests: multiplied(requests), limits: multiplied(limits) };
}

/** What a volume may hold is what is kept of it: on an emptyDir the servers would see the disk of the node. */
function bytes(quantity: string): string {
  return String(Math.floor(amountOf(quantity)));
}

function variables(values: Readonly<Record<string, string>>): Array<{ name: string; value: string }> {
  return Object.entries(values).map(([name, value]) => ({ name, value }));
}

function mounts(paths: Readonly<Record<string, string>>): Array<{ name: string; mountPath: string }> {
  return Object.entries(paths).map(([name, mountPath]) => ({ name, mountPath }));
}

function volume(name: string, sizeLimit: string): V1Volume {
  return { name, emptyDir: { sizeLimit } };
}
