import type { Container, PodBody } from './contract-pod.ts';

export interface Mutation {
  /** What the pod has or misses, as the end of the sentence "a pod …". */
  readonly name: string;
  /** Words of the one message that the policy must refuse it with. */
  readonly says: string;
  readonly change: (pod: PodBody) => void;
  /** Pod Security `restricted` refuses it by itself. */
  readonly podSecurity?: true;
}

type Change = Mutation['change'];
type Fields = Readonly<Record<string, unknown>>;
/** Sets fields; one that is `undefined` is not sent. */
const fields =
  (pick: (pod: PodBody) => object) =>
  (values: Fields): Change =>
  (pod) => {
    Object.assign(pick(pod), values);
  };
const metadata = fields((pod) => pod.metadata);
const labels = fields((pod) => pod.metadata.labels);
const annotations = fields((pod) => pod.metadata.annotations);
const spec = fields((pod) => pod.spec);
const specSecurity = fields((pod) => pod.spec.securityContext);
const agent = fields((pod) => pod.spec.containers[0]);
const agentSecurity = fields((pod) => pod.spec.containers[0].securityContext);
const action = fields((pod) => pod.spec.initContainers[0]);
const actionSecurity = fields((pod) => pod.spec.initContainers[0].securityContext);
const limits = fields((pod) => pod.spec.initContainers[0].resources.limits);
type Containers = [Container, ...Container[]];
const containers =
  (change: (list: Containers) => Containers): Change =>
  ({ spec: pod }) => {
    pod.containers = change(pod.containers);
  };
const initContainers =
  (change: (list: Containers) => Containers): Change =>
  ({ spec: pod }) => {
    pod.initContainers = change(pod.initContainers);
  };
const variable =
  (valueFrom: Fields): Change =>
  ({ spec: { initContainers: list } }) => {
    list[0].env.push({ name: 'MORE', valueFrom });
  };
const volume =
  (source: Fields): Change =>
  ({ spec: { volumes } }) => {
    volumes.push({ name: 'more', ...source });
  };
const toleration =
  (one: Fields): Change =>
  ({ spec: pod }) => {
    pod['tolerations'].push(one);
  };
const device =
  (name: string, amount: string): Change =>
  ({ spec: { containers: list } }) => {
    Object.assign(list[0].resources.limits, { [name]: amount });
    Object.assign(list[0].resources.requests, { [name]: amount });
  };
const images =
  (image: string): Change =>
  ({ spec: { containers: list, initContainers: before } }) => {
    for (const container of [...list, ...before]) Object.assign(container, { image });
  };

/**
 * Each breaks the contract in one place. `change` may break others as well where the API server would refuse the pod
 * before any policy sees it.
 */
export const MUTATIONS: readonly Mutation[] = [
  { name: 'without its size', says: 'Set all five', change: labels({ 'slipway.dev/size': undefined }) },
  {
    name: 'without the hash of its template',
    says: 'Set all five',
    change: annotations({ 'slipway.dev/template-hash': undefined }),
  },
  { name: 'that says it is claimed', says: 'is reserved', change: labels({ 'slipway.dev/claim': 'somebody' }) },
  {
    name: 'with a reserved label of a person (X7)',
    says: 'is reserved',
    change: labels({ 'slipway.dev/trusted': 'yes' }),
  },
  {
    name: 'that calls itself sandbox-gateway',
    says: 'no app.kubernetes.io/component',
    change: labels({ 'app.kubernetes.io/component': 'sandbox-gateway' }),
  },
  {
    name: 'managed by somebody else',
    says: 'no app.kubernetes.io/component',
    change: labels({ 'app.kubernetes.io/managed-by': 'Helm' }),
  },
  {
    name: 'under the name of another slot',
    says: 'Set metadata.name',
    change: labels({ 'slipway.dev/slot': 'another' }),
  },
  {
    name: 'of an egress class that there is not',
    says: 'must be none, packages',
    change: labels({ 'slipway.dev/egress': 'everything' }),
  },
  {
    name: 'whose word on DNS there is not',
    says: 'is none, or not there',
    change: labels({ 'slipway.dev/dns': 'cluster' }),
  },
  {
    name: 'without DNS that asks the resolver of the cluster',
    says: 'asks nobody for names',
    change: spec({ dnsPolicy: 'ClusterFirst', dnsConfig: undefined }),
  },
  {
    name: 'without DNS that asks a resolver of its own choice',
    says: 'asks nobody for names',
    change: spec({ dnsConfig: { nameservers: ['1.1.1.1'] } }),
  },
  {
    name: 'without DNS that asks a second resolver',
    says: 'asks nobody for names',
    change: spec({ dnsConfig: { nameservers: ['127.0.0.1', '1.1.1.1'] } }),
  },
  { name: 'of a size that there is not', says: 'must be 1, 2, 4 or 8', change: labels({ 'slipway.dev/size': '3' }) },
  {
    name: 'with a second network',
    says: 'Annotations configure',
    change: annotations({ 'k8s.v1.cni.cncf.io/networks': 'kube-system/host' }),
  },
  {
    name: 'with a reserved annotation of a person (X7)',
    says: 'Annotations configure',
    change: annotations({ 'slipway.dev/org': 'org_victim' }),
  },
  { name: 'with a finalizer', says: 'when a sandbox ends', change: metadata({ finalizers: ['example.com/never'] }) },
  {
    name: 'owned by another object',
    says: 'when a sandbox ends',
    change: metadata({ ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'u' }] }),
  },

  {
    name: 'with a third container',
    says: 'exactly one container',
    change: containers((list) => [...list, { ...list[0], name: 'mesh' }]),
  },
  { name: 'whose container has another name', says: 'exactly one container', change: agent({ name: 'main' }) },
  {
    name: 'with an init container before the tools',
    says: 'exactly one init container',
    change: initContainers((list) => [{ ...list[0], name: 'setup' }, ...list]),
  },
  { name: 'without tools', says: 'exactly one init container', change: spec({ initContainers: [] }) },
  { name: 'whose tools run once', says: 'exactly one init container', change: action({ restartPolicy: undefined }) },
  { name: 'that starts again', says: 'Set spec.restartPolicy', change: spec({ restartPolicy: 'OnFailure' }) },
  {
    name: 'whose agent-server starts again by itself',
    says: 'from container agent-server',
    change: agent({ restartPolicy: 'Always' }),
  },
  { name: 'of an image by tag', says: 'by its digest', change: images('registry.example/sandbox:latest') },
  {
    name: 'of an image by tag with a digest too short',
    says: 'by its digest',
    change: images(`registry.example/sandbox@sha256:${'a'.repeat(63)}`),
  },
  {
    name: 'with tools of another image',
    says: 'the image of agent-server',
    change: action({ image: `registry.example/tools@sha256:${'1'.repeat(64)}` }),
  },
  {
    name: 'with a probe that makes the node call the metadata service',
    says: 'Remove probes',
    podSecurity: true,
    change: agent({ livenessProbe: { httpGet: { host: '169.254.169.254', port: 80 } } }),
  },
  {
    name: 'with a hook',
    says: 'Remove probes',
    change: agent({ lifecycle: { preStop: { exec: { command: ['true'] } } } }),
  },
  {
    name: 'with a Secret in its environment',
    says: 'Remove envFrom',
    change: variable({ secretKeyRef: { name: 's', key: 'k' } }),
  },
  {
    name: 'with a ConfigMap as its environment',
    says: 'Remove envFrom',
    change: agent({ envFrom: [{ configMapRef: { name: 'c' } }] }),
  },
  {
    name: 'that reads the address of its node',
    says: 'Remove envFrom',
    change: variable({ fieldRef: { fieldPath: 'status.hostIP' } }),
  },
  {
    name: 'whose tools are called from outside',
    says: 'other container ports',
    change: action({ ports: [{ containerPort: 8000 }] }),
  },

  {
    name: 'that may run as root',
    says: 'one mistake away from root',
    podSecurity: true,
    change: specSecurity({ runAsNonRoot: undefined }),
  },
  {
    name: 'whose tools may run as root',
    says: 'one mistake away from root',
    podSecurity: true,
    change: actionSecurity({ runAsNonRoot: false }),
  },
  { name: 'that is root', says: 'as two users', podSecurity: true, change: actionSecurity({ runAsUser: 0 }) },
  { name: 'whose agent and tools are one user', says: 'as two users', change: actionSecurity({ runAsUser: 10_001 }) },
  { name: 'without a user of its own', says: 'as two users', change: specSecurity({ runAsUser: undefined }) },
  { name: 'of the user of its image', says: 'as two users', change: agentSecurity({ runAsUser: undefined }) },
  { name: 'of group 0', says: 'belongs to group 10000', change: specSecurity({ runAsGroup: 0 }) },
  { name: 'of further groups', says: 'belongs to group 10000', change: specSecurity({ supplementalGroups: [999] }) },
  { name: 'whose tools are of group 0', says: 'belongs to group 10000', change: actionSecurity({ runAsGroup: 0 }) },
  {
    name: 'that may gain rights',
    says: 'A setuid program',
    podSecurity: true,
    change: agentSecurity({ allowPrivilegeEscalation: undefined }),
  },
  {
    name: 'that is privileged',
    says: 'Remove privileged',
    podSecurity: true,
    change: actionSecurity({ privileged: true, allowPrivilegeEscalation: true }),
  },
  {
    name: 'with a root that can be written',
    says: 'not the one of the digest',
    change: actionSecurity({ readOnlyRootFilesystem: undefined }),
  },
  {
    name: 'that keeps capabilities',
    says: 'has no capability',
    podSecurity: true,
    change: actionSecurity({ capabilities: undefined }),
  },
  {
    name: 'that drops some capabilities',
    says: 'has no capability',
    podSecurity: true,
    change: agentSecurity({ capabilities: { drop: ['NET_RAW', 'SYS_ADMIN'] } }),
  },
  {
    name: 'that adds a capability',
    says: 'has no capability',
    change: agentSecurity({ capabilities: { drop: ['ALL'], add: ['NET_BIND_SERVICE'] } }),
  },
  {
    name: 'without a filter of system calls',
    says: 'System calls are filtered',
    podSecurity: true,
    change: specSecurity({ seccompProfile: undefined }),
  },
  {
    name: 'whose tools have no filter of system calls',
    says: 'System calls are filtered',
    podSecurity: true,
    change: actionSecurity({ seccompProfile: { type: 'Unconfined' } }),
  },
  {
    name: 'without AppArmor',
    says: 'AppArmor stays on',
    podSecurity: true,
    change: agentSecurity({ appArmorProfile: { type: 'Unconfined' } }),
  },
  {
    name: 'with an SELinux label of its own',
    says: 'own SELinux label',
    podSecurity: true,
    change: specSecurity({ seLinuxOptions: { type: 'spc_t' } }),
  },
  {
    name: 'that sets the kernel',
    says: 'Kernel settings',
    podSecurity: true,
    change: specSecurity({ sysctls: [{ name: 'kernel.msgmax', value: '65536' }] }),
  },
  {
    name: 'with an unmasked /proc',
    says: 'An unmasked /proc',
    podSecurity: true,
    change: actionSecurity({ procMount: 'Unmasked' }),
  },

  {
    name: 'in the network of the node',
    says: 'Remove hostNetwork',
    podSecurity: true,
    change: spec({ hostNetwork: true, hostUsers: undefined }),
  },
  {
    name: 'that sees the processes of the node',
    says: 'Remove hostPID',
    podSecurity: true,
    change: spec({ hostPID: true, hostUsers: undefined }),
  },
  {
    name: 'that shares memory with the node',
    says: 'Remove hostIPC',
    podSecurity: true,
    change: spec({ hostIPC: true, hostUsers: undefined }),
  },
  {
    name: 'whose containers see each other’s processes',
    says: 'Remove shareProcessNamespace',
    change: spec({ shareProcessNamespace: true }),
  },
  {
    name: 'on a port of the node',
    says: 'Remove hostPort',
    podSecurity: true,
    change: agent({ ports: [{ containerPort: 8000, hostPort: 8000 }] }),
  },
  { name: 'that chose its node', says: 'Remove spec.nodeName', change: spec({ nodeName: 'control-plane' }) },
  { name: 'that tolerates everything', says: 'off the control plane', change: toleration({ operator: 'Exists' }) },
  {
    name: 'that tolerates the control plane',
    says: 'off the control plane',
    change: toleration({ key: 'node-role.kubernetes.io/control-plane', operator: 'Exists' }),
  },
  {
    name: 'that drives out system pods',
    says: 'Name a priority class',
    change: spec({ priorityClassName: 'system-node-critical' }),
  },

  {
    name: 'with a folder of the node',
    says: 'only emptyDir',
    podSecurity: true,
    change: volume({ hostPath: { path: '/' } }),
  },
  { name: 'with a Secret as files', says: 'only emptyDir', change: volume({ secret: { secretName: 's' } }) },
  {
    name: 'with a ConfigMap as files',
    says: 'only emptyDir',
    change: volume({ configMap: { name: 'kube-root-ca.crt' } }),
  },
  {
    name: 'with a token as a file',
    says: 'only emptyDir',
    change: volume({ projected: { sources: [{ serviceAccountToken: { path: 'token' } }] } }),
  },
  {
    name: 'with a volume that outlives it',
    says: 'only emptyDir',
    change: volume({ persistentVolumeClaim: { claimName: 'p' } }),
  },
  {
    name: 'with files of another image',
    says: 'only emptyDir',
    change: volume({ image: { reference: 'registry.example/x:1' } }),
  },
  { name: 'with a volume without a bound', says: 'Set emptyDir.sizeLimit', change: volume({ emptyDir: {} }) },
  {
    name: 'with a volume in memory',
    says: 'Remove emptyDir.medium',
    change: volume({ emptyDir: { sizeLimit: '64Mi', medium: 'Memory' } }),
  },
  {
    name: 'whose tools see the state of agent-server',
    says: 'never see agent-server',
    change: initContainers(([tools]) => [
      { ...tools, volumeMounts: [...tools.volumeMounts, { name: 'agent-state', mountPath: '/mnt' }] },
    ]),
  },
  {
    name: 'whose agent-server sees the home of the tools',
    says: 'agent-server mounts workspace',
    change: containers(([server]) => [
      { ...server, volumeMounts: [...server.volumeMounts, { name: 'home', mountPath: '/home/agent' }] },
    ]),
  },
  {
    name: 'that mounts a part of a volume',
    says: 'mounts whole volumes',
    change: fields((pod) => pod.spec.containers[0].volumeMounts[0])({ subPath: 'link' }),
  },
  {
    name: 'whose mounts come from the node',
    says: 'mounts whole volumes',
    change: fields((pod) => pod.spec.initContainers[0].volumeMounts[0])({ mountPropagation: 'HostToContainer' }),
  },

  ...(['cpu', 'memory', 'ephemeral-storage'] as const).map((resource) => ({
    name: `without a limit of ${resource}`,
    says: `Set resources.requests.${resource}`,
    change: limits({ [resource]: undefined }),
  })),
  { name: 'with a device', says: 'Devices of the node', change: device('example.com/gpu', '1') },
  { name: 'with huge pages', says: 'Devices of the node', change: device('hugepages-2Mi', '2Mi') },

  {
    name: 'with a token of the cluster',
    says: 'no business with the API server',
    change: spec({ automountServiceAccountToken: undefined }),
  },
  {
    name: 'with an identity in the cluster',
    says: 'Remove serviceAccountName',
    change: spec({ serviceAccountName: 'builder' }),
  },
  {
    name: 'with the services of the cluster in its environment',
    says: 'list the cluster',
    change: spec({ enableServiceLinks: undefined }),
  },
  {
    name: 'that takes long to end',
    says: 'terminationGracePeriodSeconds',
    change: spec({ terminationGracePeriodSeconds: 121 }),
  },
];
