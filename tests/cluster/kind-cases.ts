import { SANDBOXES } from './contract-pod.ts';

interface KindCase {
  readonly name: string;
  readonly path: string;
  readonly body: unknown;
  readonly says: string;
}
const at = (group: string, resource: string): string =>
  `${group.includes('/') ? `/apis/${group}` : `/api/${group}`}/namespaces/${SANDBOXES}/${resource}`;
const template = {
  metadata: { labels: { app: 'x' } },
  spec: { restartPolicy: 'Always', containers: [{ name: 'x', image: 'x' }] },
};
const jobTemplate = { spec: { template: { ...template, spec: { ...template.spec, restartPolicy: 'Never' } } } };
const selector = { matchLabels: { app: 'x' } };
const metadata = { name: 'x' };
const made = (kind: string, path: string, spec: unknown): KindCase => ({
  name: `a ${kind}`,
  path,
  body: { metadata, spec },
  says: 'one by one',
});
const grant = (name: string, subject: Record<string, string>): KindCase => ({
  name: `rights for ${name}`,
  path: at('rbac.authorization.k8s.io/v1', 'rolebindings'),
  body: {
    metadata,
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
    subjects: [subject],
  },
  says: 'Nothing in this namespace has rights',
});

/** Objects that an administrator cannot make beside sandboxes. */
export const REFUSED_KINDS: readonly KindCase[] = [
  made('Deployment', at('apps/v1', 'deployments'), { selector, template }),
  made('ReplicaSet', at('apps/v1', 'replicasets'), { selector, template }),
  made('StatefulSet', at('apps/v1', 'statefulsets'), { selector, template, serviceName: 'x' }),
  made('DaemonSet', at('apps/v1', 'daemonsets'), { selector, template }),
  made('Job', at('batch/v1', 'jobs'), jobTemplate.spec),
  made('CronJob', at('batch/v1', 'cronjobs'), { schedule: '* * * * *', jobTemplate }),
  made('ReplicationController', at('v1', 'replicationcontrollers'), { selector: { app: 'x' }, template }),
  { name: 'a PodTemplate', path: at('v1', 'podtemplates'), body: { metadata, template }, says: 'one by one' },
  {
    name: 'a ControllerRevision',
    path: at('apps/v1', 'controllerrevisions'),
    body: { metadata, revision: 1, data: {} },
    says: 'one by one',
  },
  {
    name: 'a Service',
    path: at('v1', 'services'),
    body: { metadata, spec: { ports: [{ port: 80 }] } },
    says: 'through sandbox-gateway only',
  },
  { name: 'Endpoints', path: at('v1', 'endpoints'), body: { metadata }, says: 'through sandbox-gateway only' },
  {
    name: 'an EndpointSlice',
    path: at('discovery.k8s.io/v1', 'endpointslices'),
    body: { metadata, addressType: 'IPv4', endpoints: [] },
    says: 'through sandbox-gateway only',
  },
  {
    name: 'an Ingress',
    path: at('networking.k8s.io/v1', 'ingresses'),
    body: { metadata, spec: { defaultBackend: { service: { name: 'x', port: { number: 80 } } } } },
    says: 'through sandbox-gateway only',
  },
  { name: 'a ConfigMap', path: at('v1', 'configmaps'), body: { metadata }, says: 'No sandbox reads a ConfigMap' },
  {
    name: 'a Secret',
    path: at('v1', 'secrets'),
    body: { metadata, type: 'Opaque' },
    says: 'No sandbox reads a Secret',
  },
  {
    name: 'a token as a Secret',
    path: at('v1', 'secrets'),
    body: {
      metadata: { ...metadata, annotations: { 'kubernetes.io/service-account.name': 'default' } },
      type: 'kubernetes.io/service-account-token',
    },
    says: 'No sandbox reads a Secret',
  },
  {
    name: 'a PersistentVolumeClaim',
    path: at('v1', 'persistentvolumeclaims'),
    body: { metadata, spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } },
    says: 'volumes that outlive it',
  },
  {
    name: 'a claim on a device',
    path: at('resource.k8s.io/v1', 'resourceclaims'),
    body: { metadata, spec: { devices: { requests: [{ name: 'gpu', exactly: { deviceClassName: 'gpu' } }] } } },
    says: 'volumes that outlive it',
  },
  {
    name: 'a second ServiceAccount',
    path: at('v1', 'serviceaccounts'),
    body: { metadata },
    says: 'Put the service account',
  },
  {
    name: 'a token of its service account',
    path: at('v1', 'serviceaccounts/default/token'),
    body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} },
    says: 'Ask for a token',
  },
  grant('a service account of the namespace', { kind: 'ServiceAccount', name: 'default', namespace: SANDBOXES }),
  grant('that service account by its user name', {
    kind: 'User',
    apiGroup: 'rbac.authorization.k8s.io',
    name: `system:serviceaccount:${SANDBOXES}:default`,
  }),
  grant('all service accounts of the namespace', {
    kind: 'Group',
    apiGroup: 'rbac.authorization.k8s.io',
    name: `system:serviceaccounts:${SANDBOXES}`,
  }),
  grant('everybody', { kind: 'Group', apiGroup: 'rbac.authorization.k8s.io', name: 'system:authenticated' }),
];

/** Objects that have to be possible there. */
export const ALLOWED_KINDS: readonly Omit<KindCase, 'says'>[] = [
  {
    name: 'a Secret for pulling images',
    path: at('v1', 'secrets'),
    body: {
      metadata,
      type: 'kubernetes.io/dockerconfigjson',
      data: { '.dockerconfigjson': Buffer.from('{"auths":{}}').toString('base64') },
    },
  },
  {
    name: 'a PodDisruptionBudget',
    path: at('policy/v1', 'poddisruptionbudgets'),
    body: { metadata, spec: { selector, maxUnavailable: 0 } },
  },
  { name: 'a ResourceQuota', path: at('v1', 'resourcequotas'), body: { metadata, spec: { hard: { pods: '100' } } } },
  {
    name: 'a further NetworkPolicy',
    path: at('networking.k8s.io/v1', 'networkpolicies'),
    body: { metadata, spec: { podSelector: {}, policyTypes: ['Egress'] } },
  },
  {
    name: 'an Event',
    path: at('v1', 'events'),
    body: { metadata, involvedObject: { kind: 'Pod', name: 'sb-x', namespace: SANDBOXES } },
  },
  {
    name: 'rights for an operator',
    path: at('rbac.authorization.k8s.io/v1', 'rolebindings'),
    body: {
      metadata,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
      subjects: [{ kind: 'Group', apiGroup: 'rbac.authorization.k8s.io', name: 'operators' }],
    },
  },
];
