import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseAllDocuments, stringify } from 'yaml';
import { type GeneratedFile, NOTICE } from './generated-file.ts';

// Plain manifests: what a kind may hold is the API server's to say.
// biome-ignore lint/suspicious/noExplicitAny: any manifest.
type Manifest = any;

const SOURCE = 'deploy/kubernetes';
const TARGET = 'helm/slipway/templates/sandboxes';
const FILES = [
  'namespaces', 'runtime-api-access', 'sandbox-limits', 'admission/pod-contract', 'admission/pod-changes', 'admission/pod-sessions', 'admission/other-kinds',
  'network/default-deny', 'network/ingress', 'network/platform', 'network/dns', 'network/egress-proxy', 'network/egress-open',
]; // biome-ignore format: a list reads better in lines

/**
 * What stands for a value of the chart while the manifest is still plain YAML, and the words of the template that take
 * its place.
 */
const VALUES: Readonly<Record<string, string>> = {
  __FULLNAME__: '{{ include "slipway.fullname" . }}',
  __RELEASE__: '{{ .Release.Name }}',
  __PLATFORM__: '{{ .Release.Namespace }}',
  __SANDBOXES__: '{{ .Values.sandboxes.namespace }}',
  __ACCOUNT__: '{{ include "slipway.runtimeApiAccount" . }}',
  __SCHEDULERS__: `"['{{ join "', '" .Values.sandboxes.schedulers }}']"`,
  __DNS_NAMESPACE__: '{{ .Values.sandboxes.network.dns.namespace }}',
  __LARGEST_CPU__: '{{ .Values.sandboxes.largest.cpu | quote }}',
  __LARGEST_MEMORY__: '{{ .Values.sandboxes.largest.memory }}',
  __LARGEST_DISK__: '{{ .Values.sandboxes.largest.ephemeralStorage }}',
};
/** The same for whole lines: a list item or a key without a value. `$1` is the indent. */
const LINES: readonly (readonly [RegExp, (indent: string) => string])[] = [
  [/^( *)__LABELS__: null$/gm, (indent) => `${indent}{{- include "slipway.labels" . | nindent ${indent.length} }}`],
  [
    /^( *)__DNS_LABELS__: null$/gm,
    (indent) => `${indent}{{- toYaml .Values.sandboxes.network.dns.podLabels | nindent ${indent.length} }}`,
  ],
  [/^( *)- __RANGES_IPV4__$/gm, (indent) => ranges(indent, 'ipv4')],
  [/^( *)- __RANGES_IPV6__$/gm, (indent) => ranges(indent, 'ipv6')],
];
const ranges = (indent: string, family: string): string =>
  `${indent}{{- range .Values.sandboxes.network.clusterRanges.${family} }}\n${indent}- {{ . }}\n${indent}{{- end }}`;

/**
 * Kinds that `helm uninstall` leaves: the namespace and everything that confines its pods. Rights of runtime-api end
 * with the release.
 */
const KEPT = new Set([
  'Namespace',
  'LimitRange',
  'NetworkPolicy',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionPolicyBinding',
]);

/** What a whole object depends on. */
const CONDITIONS: Readonly<Record<string, string>> = {
  Namespace: '.Values.sandboxes.createNamespace',
  'sandbox-dns': '.Values.sandboxes.network.dns.enabled',
};

/**
 * The part of the chart that keeps sandboxes in, from deploy/kubernetes: the same objects with the release's names,
 * namespaces and ranges in their places.
 * @throws Error when a name that belongs to one installation was left as it is.
 */
export function chartSandboxes(root: string): GeneratedFile[] {
  return FILES.map((file) => {
    const documents = parseAllDocuments(readFileSync(path.join(root, SOURCE, `${file}.yaml`), 'utf8')).map(
      (document) => document.toJS() as Manifest,
    );
    const templates = documents.filter(isOfTheChart).map((manifest) => template(file, manifest));
    const content = `{{- /* ${NOTICE} From ${SOURCE}/${file}.yaml, which says why. */}}\n${templates.join('---\n')}`;
    return { path: `${TARGET}/${file.replace('/', '-')}.yaml`, content };
  });
}

/** The platform's namespace is the release's own, and its service account comes with the Deployment. */
const isOfTheChart = ({ kind, metadata }: Manifest): boolean =>
  kind !== 'ServiceAccount' && !(kind === 'Namespace' && metadata.name === 'slipway');

function template(file: string, manifest: Manifest): string {
  const { kind, metadata } = manifest;
  const condition = CONDITIONS[kind] ?? CONDITIONS[metadata.name];
  if (metadata.labels !== undefined) {
    const { 'app.kubernetes.io/part-of': _, ...others } = metadata.labels;
    metadata.labels = { __LABELS__: null, ...others };
  }
  // The namespace outlives the release, since its pods are users' work: what confines them outlives it too.
  if (KEPT.has(kind)) metadata.annotations = { 'helm.sh/resource-policy': 'keep' };
  nameThings(manifest);
  let text = stringify(manifest, { lineWidth: 0 });
  for (const [name, words] of Object.entries(VALUES)) text = text.replaceAll(name, words);
  for (const [pattern, words] of LINES) text = text.replace(pattern, (_, indent: string) => words(indent));
  const left = /__[A-Z0-9_]+__|serviceaccount:slipway|: slipway(-sandboxes|-node-reader)?$/m.exec(text);
  if (left !== null)
    throw new Error(
      `${SOURCE}/${file}.yaml: ${left[0]} has no place in the chart; say in tools/generate/chart-sandboxes.ts what stands for it`,
    );
  return condition === undefined ? text : `{{- if ${condition} }}\n${text}{{- end }}\n`;
}

/** Puts what stands for a value into its places. */
function nameThings(manifest: Manifest): void {
  const { kind, metadata, spec } = manifest;
  if (metadata.namespace === 'slipway-sandboxes') metadata.namespace = '__SANDBOXES__';
  if (kind === 'Namespace') metadata.name = '__SANDBOXES__';
  // Names of the whole cluster, and those that rights are bound to, are the release's.
  else if (metadata.name.startsWith('slipway-')) metadata.name = metadata.name.replace(/^slipway/, '__FULLNAME__');
  if (manifest.roleRef !== undefined) manifest.roleRef.name = manifest.roleRef.name.replace(/^slipway/, '__FULLNAME__');
  for (const subject of manifest.subjects ?? [])
    Object.assign(subject, { name: '__ACCOUNT__', namespace: '__PLATFORM__' });
  if (kind === 'LimitRange')
    spec.limits[0].max = {
      cpu: '__LARGEST_CPU__',
      memory: '__LARGEST_MEMORY__',
      'ephemeral-storage': '__LARGEST_DISK__',
    };
  if (kind === 'ValidatingAdmissionPolicyBinding') {
    spec.policyName = spec.policyName.replace(/^slipway/, '__FULLNAME__');
    spec.matchResources.namespaceSelector.matchLabels['kubernetes.io/metadata.name'] = '__SANDBOXES__';
  }
  if (kind === 'ValidatingAdmissionPolicy')
    for (const variable of spec.variables ?? []) {
      if (variable.name === 'runtimeApi') variable.expression = "'system:serviceaccount:__PLATFORM__:__ACCOUNT__'";
      if (variable.name === 'schedulers') variable.expression = '__SCHEDULERS__';
    }
  if (kind === 'NetworkPolicy') for (const peer of peersOf(spec)) namePeer(peer);
}

const peersOf = (spec: Manifest): Manifest[] => [
  ...(spec.ingress ?? []).flatMap((rule: Manifest) => rule.from ?? []),
  ...(spec.egress ?? []).flatMap((rule: Manifest) => rule.to ?? []),
];

function namePeer(peer: Manifest): void {
  const namespace = peer.namespaceSelector?.matchLabels;
  if (namespace?.['kubernetes.io/metadata.name'] === 'slipway') {
    namespace['kubernetes.io/metadata.name'] = '__PLATFORM__';
    // Two releases in one namespace are two platforms.
    peer.podSelector.matchLabels = { 'app.kubernetes.io/instance': '__RELEASE__', ...peer.podSelector.matchLabels };
  } else if (namespace?.['kubernetes.io/metadata.name'] === 'kube-system') {
    namespace['kubernetes.io/metadata.name'] = '__DNS_NAMESPACE__';
    peer.podSelector.matchLabels = { __DNS_LABELS__: null };
  }
  // The first three exceptions are the cluster's own ranges.
  if (peer.ipBlock !== undefined)
    peer.ipBlock.except.splice(0, 3, peer.ipBlock.cidr.includes(':') ? '__RANGES_IPV6__' : '__RANGES_IPV4__');
}
