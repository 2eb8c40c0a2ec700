import { RUNTIME_API } from './contract-pod.ts';

/** What runtime-api writes on a sandbox after a claim. */
export const NOTES = {
  metadata: {
    labels: { 'slipway.dev/claim': 'claim-1' },
    annotations: {
      'slipway.dev/org': 'org-1',
      'slipway.dev/session': 'session-1',
      'cluster-autoscaler.kubernetes.io/safe-to-evict': 'false',
    },
  },
};

interface Change {
  /** Subject of "… is refused" or "… may be". */
  readonly name: string;
  readonly as: string;
  /** Of the pod's path: a subresource, or nothing. */
  readonly part: '' | '/status' | '/resize' | '/ephemeralcontainers';
  readonly patch: unknown;
  /** Words of the refusal; `null` when it is none. */
  readonly says: string | null;
}
const NODE_LIKE = 'somebody-with-rights-on-status';
const ofRuntimeApi = (name: string, patch: unknown, says: string | null): Change => ({
  name,
  as: RUNTIME_API,
  part: '',
  patch,
  says,
});
const ofStatus = (name: string, patch: unknown, says: string | null): Change => ({
  name,
  as: NODE_LIKE,
  part: '/status',
  patch,
  says,
});

/** Tried on a sandbox that carries NOTES. */
export const CHANGES: readonly Change[] = [
  ofRuntimeApi('the same note again by runtime-api', NOTES, null),
  ofRuntimeApi(
    'the name of the workspace that a resumed session brings',
    { metadata: { annotations: { 'slipway.dev/workspace': 'sb-1' } } },
    null,
  ),
  ofRuntimeApi('another claim', { metadata: { labels: { 'slipway.dev/claim': 'claim-2' } } }, 'may be added once'),
  ofRuntimeApi('taking the claim back', { metadata: { labels: { 'slipway.dev/claim': null } } }, 'may be added once'),
  ofRuntimeApi('a wider egress class', { metadata: { labels: { 'slipway.dev/egress': 'open' } } }, 'may be added once'),
  ofRuntimeApi(
    'taking the egress class off',
    { metadata: { labels: { 'slipway.dev/egress': null } } },
    'may be added once',
  ),
  ofRuntimeApi(
    'another label',
    { metadata: { labels: { 'app.kubernetes.io/component': 'runtime-api' } } },
    'may be added once',
  ),
  ofRuntimeApi(
    'another template’s hash',
    { metadata: { annotations: { 'slipway.dev/template-hash': '0' } } },
    'runtime-api may set the annotations',
  ),
  ofRuntimeApi(
    'taking the org off',
    { metadata: { annotations: { 'slipway.dev/org': null } } },
    'runtime-api may set the annotations',
  ),
  ofRuntimeApi(
    'an annotation of a runtime',
    { metadata: { annotations: { 'dev.gvisor.flag.debug': 'true' } } },
    'runtime-api may set the annotations',
  ),
  ofRuntimeApi(
    'another image',
    { spec: { containers: [{ name: 'agent-server', image: `x@sha256:${'1'.repeat(64)}` }] } },
    'What a sandbox is made of',
  ),
  ofRuntimeApi('an end by the clock', { spec: { activeDeadlineSeconds: 60 } }, 'What a sandbox is made of'),
  ofRuntimeApi('a finalizer', { metadata: { finalizers: ['example.com/never'] } }, 'Leave metadata.ownerReferences'),
  ofRuntimeApi(
    'an owner',
    { metadata: { ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'u' }] } },
    'Leave metadata.ownerReferences',
  ),
  {
    name: 'a label of an administrator',
    as: 'admin',
    part: '',
    patch: { metadata: { labels: { 'slipway.dev/claim': 'x' } } },
    says: 'Only runtime-api changes',
  },
  {
    name: 'an annotation of an administrator',
    as: 'admin',
    part: '',
    patch: { metadata: { annotations: { note: 'x' } } },
    says: 'Only runtime-api changes',
  },
  {
    name: 'a debug container',
    as: 'admin',
    part: '/ephemeralcontainers',
    patch: {
      spec: {
        ephemeralContainers: [
          {
            name: 'debug',
            image: 'busybox',
            securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
          },
        ],
      },
    },
    says: 'A debug container',
  },
  {
    name: 'another size in place',
    as: RUNTIME_API,
    part: '/resize',
    patch: {
      spec: {
        containers: [{ name: 'agent-server', resources: { requests: { cpu: '200m' }, limits: { cpu: '200m' } } }],
      },
    },
    says: 'has the size of its template',
  },
  ofStatus('a condition by the node', { status: { conditions: [{ type: 'Ready', status: 'False' }] } }, null),
  ofStatus(
    'an annotation of the network by the node',
    { metadata: { annotations: { 'cni.projectcalico.org/podIP': '10.0.0.1/32' } } },
    null,
  ),
  ofStatus(
    'another egress class through status',
    { metadata: { labels: { 'slipway.dev/egress': 'open' } } },
    'may be added once',
  ),
  ofStatus('a label through status', { metadata: { labels: { 'slipway.dev/trusted': 'yes' } } }, 'may be added once'),
  ofStatus(
    'a claim through status',
    { metadata: { annotations: { 'slipway.dev/org': 'org-2' } } },
    'runtime-api may set the annotations',
  ),
];

interface HandsOff {
  readonly name: string;
  /** With its own rights alone; an administrator when not given. */
  readonly as?: string;
  /** POD and NAMESPACE are paths of the API, SLOT the slot. */
  readonly path: string;
  readonly method: 'POST' | 'DELETE';
  readonly body?: unknown;
  readonly says: string | null;
}
const binding = (metadata: Record<string, unknown> = {}): unknown => ({
  apiVersion: 'v1',
  kind: 'Binding',
  metadata: { name: 'sb-SLOT', ...metadata },
  target: { apiVersion: 'v1', kind: 'Node', name: 'node-1' },
});

/** What others do with a pod beside changing it. */
export const HANDS_OFF: readonly HandsOff[] = [
  {
    name: 'a place given by the scheduler',
    as: 'system:kube-scheduler',
    path: 'POD/binding',
    method: 'POST',
    body: binding(),
    says: null,
  },
  {
    name: 'a place given by an administrator',
    path: 'POD/binding',
    method: 'POST',
    body: binding(),
    says: 'Only the scheduler says where a sandbox runs. Leave',
  },
  {
    name: 'a place with an org',
    as: 'system:kube-scheduler',
    path: 'POD/binding',
    method: 'POST',
    body: binding({ annotations: { 'slipway.dev/org': 'org-2' } }),
    says: 'A binding must not label',
  },
  {
    name: 'a place by the old way',
    path: 'NAMESPACE/bindings',
    method: 'POST',
    body: binding(),
    says: 'through pods/binding',
  },
  {
    name: 'an eviction, as a drain makes it,',
    path: 'POD/eviction',
    method: 'POST',
    body: { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'sb-SLOT' } },
    says: null,
  },
  { name: 'a delete by an administrator', path: 'POD', method: 'DELETE', says: null },
  {
    name: 'a delete by the collector of garbage',
    as: 'system:serviceaccount:kube-system:pod-garbage-collector',
    path: 'POD',
    method: 'DELETE',
    says: null,
  },
  { name: 'a delete by runtime-api', as: RUNTIME_API, path: 'POD', method: 'DELETE', says: null },
];
