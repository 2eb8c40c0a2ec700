import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { openHelm } from '@slipway/testing/helm';
import { parseAllDocuments } from 'yaml';

export const ROOT = path.resolve(import.meta.dirname, '../..');
export const CHART = path.join(ROOT, 'helm/slipway');
/** Helm answers in well under a second; this is for a busy machine. Milliseconds. */
const TIMEOUT_MS = 30_000;
export const DIGEST = `sha256:${'1'.repeat(64)}`;

/** Objects as they go to the API server. What they may hold is its to say. */
// biome-ignore lint/suspicious/noExplicitAny: any object of Kubernetes.
export type Manifest = any;
export type Values = Readonly<Record<string, unknown>>;

export interface Rendered {
  readonly code: number;
  readonly objects: readonly Manifest[];
  readonly said: string;
}

/** The least that an installation says. */
export const MINIMUM: Values = {
  publicUrl: 'https://slipway.example.com',
  postgresql: { host: 'postgres.example.com', owner: { existingSecret: 'postgres-owner' } },
  oidc: { issuerUrl: 'https://id.example.com/realms/slipway', existingSecret: 'oidc' },
  sandboxes: { image: { digest: DIGEST }, workspaceStore: { url: 's3://workspaces/slipway?region=eu-central-1' } },
};

const resources = {
  requests: { cpu: '100m', memory: '256Mi', ephemeralStorage: '256Mi' },
  limits: { cpu: '2', memory: '2Gi', ephemeralStorage: '4Gi' },
};
/** One whose sandboxes reach every public address, so that nothing stands on their way out. */
export const OPEN_TEMPLATES: readonly Values[] = [{ name: 'standard', resources, egress: 'open' }];
/** Templates whose sandboxes go out through egress-proxy. */
export const PROXIED_TEMPLATES: readonly Values[] = [
  { name: 'standard', resources, egress: 'packages' },
  { name: 'narrow', resources, egress: 'allow-list', allowedHosts: ['api.example.com', '*.files.example.com:8443'] },
];

/** Everything that can be switched on. */
export const EVERYTHING: Values = {
  fullnameOverride: 'acme',
  image: { registry: 'registry.example.com/slipway', pullSecrets: ['registry'] },
  pods: {
    annotations: { team: 'a' }, labels: { 'example.com/team': 'a' }, nodeSelector: { pool: 'platform' }, tolerations: [{ key: 'platform', operator: 'Exists' }],
    affinity: { nodeAffinity: {} }, priorityClassName: 'high', deploymentAnnotations: { 'reloader.example.com/auto': 'true' },
    extraEnv: [{ name: 'EXTRA', value: 'of all' }], extraEnvFrom: [{ configMapRef: { name: 'more' } }],
    extraVolumes: [{ name: 'scratch', emptyDir: {} }], extraVolumeMounts: [{ name: 'scratch', mountPath: '/scratch' }],
  },
  ...Object.fromEntries(['appServer', 'worker', 'llmGateway', 'egressProxy', 'web'].map((app) => [app, { autoscaling: { enabled: true }, pod: { priorityClassName: app.toLowerCase() } }])),
  credentialBroker: { enabled: true, autoscaling: { enabled: true }, pod: { priorityClassName: 'credentialbroker' } },
  runtimeApi: { autoscaling: { enabled: true }, sandboxIdleSeconds: 3600 },
  priorityClasses: { platform: { name: 'acme-first' } },
  sandboxGateway: { autoscaling: { enabled: true }, publicUrl: 'https://sandboxes.example.com', image: { digest: DIGEST } },
  commonLabels: { 'example.com/cost-centre': '7' },
  mail: { existingSecret: 'mail' },
  integrations: { existingSecret: 'integrations', appsKey: 'apps' },
  observability: {
    otlp: { endpoint: 'http://otel-collector.monitoring:4318', existingSecret: 'otlp' }, datadog: { enabled: true, runtimeMetrics: true },
    posthog: { host: 'https://posthog.example.com:8444', existingSecret: 'posthog', modelCalls: true }, flags: { provider: 'posthog', values: { 'example-tasks': 'cards' } },
  },
  terms: { url: 'https://example.com/terms', version: '2' },
  secrets: { previousEncryptionKey: { existingSecret: 'previous' } },
  redis: { host: 'redis.example.com', tls: true, auth: { existingSecret: 'redis' } },
  llm: {
    model: 'gpt', baseUrl: 'https://models.example.com:8443/v1', existingSecret: 'llm',
    models: [{ name: 'sonnet', deployments: [{ provider: 'anthropic', model: 'claude-sonnet-4-5', apiKeyEnv: 'ANTHROPIC_API_KEY' }] }],
    modelKeys: { existingSecret: 'models', variables: { ANTHROPIC_API_KEY: 'anthropic' } },
  },
  sandboxes: { podDisruptionBudget: { enabled: true }, workspaceStore: { url: '', volume: { enabled: true, storageClassName: 'nfs' } }, templates: PROXIED_TEMPLATES },
  egress: { commonHosts: ['git.example.com'], packageHosts: ['mirror.example.com'], permittedRanges: ['192.168.7.0/24'], direct: ['.example.org'] },
  httpRoute: { enabled: true, parentRefs: [{ name: 'public', namespace: 'gateways' }], sandboxGateway: { wildcard: true } },
  ingress: { enabled: true, className: 'nginx', tls: { secretName: 'tls' }, sandboxGateway: { wildcard: true, tls: { secretName: 'wildcard' } } },
  proxy: { http: 'http://proxy:3128', https: 'http://proxy:3128', noProxy: ['.example.com'] },
  privateCa: { configMap: 'ca' },
  monitoring: { serviceMonitor: { enabled: true }, rules: { enabled: true, runbookBaseUrl: 'https://git.example.com/slipway/' }, dashboards: { enabled: true } },
}; // biome-ignore format: a list reads better in lines

/**
 * `helm template` of the chart; values later in the list go before earlier ones. `files` are names in the chart's
 * folder, and come first.
 */
export async function render(
  values: readonly Values[],
  { files = [], release = 'slipway', namespace = 'slipway' }: RenderOptions = {},
): Promise<Rendered> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-helm-'));
  try {
    const named = files.map((file) => path.join(CHART, file));
    for (const [index, one] of values.entries()) {
      const file = path.join(folder, `${index}.json`);
      await writeFile(file, JSON.stringify(one));
      named.push(file);
    }
    const { code, stdout, said } = await helm([
      'template',
      release,
      CHART,
      '-n',
      namespace,
      ...named.flatMap((file) => ['-f', file]),
    ]);
    const documents = parseAllDocuments(stdout);
    const wrong = documents.flatMap(({ errors }) => errors);
    if (code === 0 && wrong.length > 0) throw wrong[0];
    return {
      code,
      said,
      objects:
        code === 0 ? documents.map((document) => document.toJS() as Manifest).filter((object) => object !== null) : [],
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
interface RenderOptions {
  readonly files?: readonly string[];
  readonly release?: string;
  readonly namespace?: string;
}

export interface Said {
  readonly code: number;
  readonly stdout: string;
  readonly said: string;
}
export async function helm(args: readonly string[]): Promise<Said> {
  return run((await openHelm()).helm, args);
}

export async function run(program: string, args: readonly string[]): Promise<Said> {
  try {
    const { stdout, stderr } = await promisify(execFile)(program, [...args], {
      timeout: TIMEOUT_MS,
      maxBuffer: 2 ** 26,
    });
    return { code: 0, stdout, said: `${stdout}${stderr}` };
  } catch (error) {
    const {
      code,
      stdout = '',
      stderr = '',
      killed,
    } = error as { code?: number; stdout?: string; stderr?: string; killed?: boolean };
    if (killed === true || typeof code !== 'number') throw error;
    return { code, stdout, said: `${stdout}${stderr}` };
  }
}

export const ofKind = (objects: readonly Manifest[], kind: string): Manifest[] =>
  objects.filter((object) => object.kind === kind);

/** The pod of whatever makes pods, with the name of that object. */
export function podsOf(
  objects: readonly Manifest[],
): { readonly owner: string; readonly kind: string; readonly metadata: Manifest; readonly spec: Manifest }[] {
  return objects.flatMap((object) => {
    const pod =
      object.kind === 'Pod'
        ? object
        : object.spec?.template?.spec?.containers === undefined
          ? null
          : object.spec.template;
    return pod === null
      ? []
      : [
          {
            owner: `${object.kind} ${object.metadata.name}`,
            kind: object.kind,
            metadata: pod.metadata,
            spec: pod.spec,
          },
        ];
  });
}
