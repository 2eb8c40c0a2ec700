/**
 * A pod that is all that the admission policy asks for, written out by hand: what KubernetesBackend makes is held
 * against the same policy by its own test.
 */
export interface PodBody {
  apiVersion: 'v1';
  kind: 'Pod';
  metadata: Metadata;
  spec: PodSpec;
}
// Plain JSON on purpose: the mutations write what no type of ours would allow.
// biome-ignore lint/suspicious/noExplicitAny: a pod as it goes over the wire.
type Json = any;
export interface Metadata {
  name: string;
  namespace: string;
  labels: Record<string, string>;
  annotations: Record<string, string>;
  [more: string]: Json;
}
export interface PodSpec {
  containers: [Container, ...Container[]];
  initContainers: [Container, ...Container[]];
  securityContext: Record<string, Json>;
  volumes: [Json, ...Json[]];
  [more: string]: Json;
}
export interface Container {
  name: string;
  securityContext: Record<string, Json>;
  resources: { requests: Record<string, string>; limits: Record<string, string>; [more: string]: Json };
  volumeMounts: [Json, ...Json[]];
  env: [Json, ...Json[]];
  [more: string]: Json;
}

export const SANDBOXES = 'slipway-sandboxes';
export const RUNTIME_API = 'system:serviceaccount:slipway:runtime-api';
/** No such image: these pods are judged, or wait, and never run. */
const IMAGE = `registry.example/slipway/sandbox@sha256:${'0'.repeat(64)}`;

export interface Variant {
  readonly namespace?: string;
  readonly image?: string;
  readonly egress?: 'none' | 'packages' | 'allow-list' | 'open';
}

export function contractPod(
  slot: string,
  { namespace = SANDBOXES, image = IMAGE, egress = 'none' }: Variant = {},
): PodBody {
  const amounts = { cpu: '100m', memory: '128Mi', 'ephemeral-storage': '64Mi' };
  const container = (name: string, user: number, mounts: Record<string, string>): Container => ({
    name,
    image,
    command: ['node', `/opt/slipway/${name}.cjs`],
    env: [{ name: 'NODE_ENV', value: 'production' }],
    securityContext: {
      runAsUser: user,
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    },
    resources: { requests: { ...amounts }, limits: { ...amounts } },
    volumeMounts: Object.entries(mounts).map(([volume, mountPath]) => ({
      name: volume,
      mountPath,
    })) as Container['volumeMounts'],
  });
  const agentServer = container('agent-server', 10_001, {
    workspace: '/workspace',
    'agent-state': '/var/lib/slipway',
    'agent-tmp': '/tmp',
  });
  const actionServer = container('action-server', 10_002, {
    workspace: '/workspace',
    home: '/home/agent',
    'action-state': '/var/lib/slipway',
    'action-tmp': '/tmp',
  });
  agentServer['ports'] = [{ containerPort: 8000 }];
  agentServer.env.push({ name: 'POD_UID', valueFrom: { fieldRef: { fieldPath: 'metadata.uid' } } });
  actionServer['restartPolicy'] = 'Always';
  const volumes = ['workspace', 'home', 'agent-state', 'action-state', 'agent-tmp', 'action-tmp'];
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `sb-${slot}`,
      namespace,
      labels: {
        'app.kubernetes.io/name': 'slipway-sandbox',
        'app.kubernetes.io/managed-by': 'slipway-runtime-api',
        'slipway.dev/template': 'default',
        'slipway.dev/size': '1',
        'slipway.dev/egress': egress,
        ...(egress === 'open' ? {} : { 'slipway.dev/dns': 'none' }),
        'slipway.dev/slot': slot,
      },
      annotations: { 'slipway.dev/template-hash': 'f'.repeat(16) },
    },
    spec: {
      restartPolicy: 'Never',
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      ...(egress === 'open'
        ? {}
        : {
            dnsPolicy: 'None',
            dnsConfig: { nameservers: ['127.0.0.1'] },
            hostAliases: [{ ip: '10.96.3.4', hostnames: ['app-server'] }],
          }),
      hostUsers: false,
      terminationGracePeriodSeconds: 5,
      securityContext: {
        runAsNonRoot: true,
        runAsUser: 10_001,
        runAsGroup: 10_000,
        fsGroup: 10_000,
        seccompProfile: { type: 'RuntimeDefault' },
      },
      tolerations: ['not-ready', 'unreachable'].map((state) => ({
        key: `node.kubernetes.io/${state}`,
        operator: 'Exists',
        effect: 'NoExecute',
        tolerationSeconds: 30,
      })),
      initContainers: [actionServer],
      containers: [agentServer],
      volumes: volumes.map((name) => ({ name, emptyDir: { sizeLimit: '64Mi' } })) as PodSpec['volumes'],
    },
  };
}
