import { createPrivateKey, type KeyObject } from 'node:crypto';
import os from 'node:os';
import { SANDBOX_BACKEND_NAMES, type SandboxBackendName } from '@slipway/contracts/sandboxes';
import { parseConfig } from '@slipway/service';
import { logVariables } from '@slipway/telemetry';
import { z } from 'zod';

/** A program and its arguments, as a JSON list: `["node", "/path/agent-server.cjs"]`. */
const command = z.string().transform((text, context): string[] => {
  try {
    return z.array(z.string()).min(1).parse(JSON.parse(text));
  } catch {
    context.addIssue({ code: 'custom', message: 'needs a JSON list of strings: a program and its arguments' });
    return z.NEVER;
  }
});
const privateKey = z.string().transform((text, context): KeyObject => {
  try {
    const key = createPrivateKey({ key: Buffer.from(text, 'base64'), format: 'der', type: 'pkcs8' });
    if (key.asymmetricKeyType === 'ed25519') return key;
  } catch {
    // Validated below.
  }
  context.addIssue({ code: 'custom', message: 'needs an Ed25519 private key, PKCS#8 DER, base64' });
  return z.NEVER;
});
const HOST_NAME = /^[a-z0-9_]([a-z0-9_.-]{0,251}[a-z0-9])?$/;
const seconds = z.coerce.number().int().min(60);

const Variables = z.object({
  ...logVariables,
  NODE_ENV: z
    .enum(['development', 'test', 'production'])
    .default('development')
    .describe('How the process was started.'),
  HOST: z.string().default('127.0.0.1').describe('Address to listen on.'),
  PORT: z.coerce.number().int().min(0).max(65_535).default(3002).describe('Port to listen on; 0 takes any.'),
  /**
   * Port of `/metrics`, and of `/ready` with its reasons: for Prometheus, never for clients. Absent: PORT + 100, or any
   * free one when PORT is 0.
   */
  METRICS_PORT: z.coerce.number().int().min(0).max(65_535).optional(),
  /** Address of the metrics port. Absent: HOST. */
  METRICS_HOST: z.string().optional(),
  DRAIN_SECONDS: z.coerce
    .number()
    .min(0)
    .max(600)
    .default(0)
    .describe(
      'After SIGTERM, how long requests and new connections are still served while `/ready` answers 503. Seconds; longer than load balancers take to stop sending new ones.',
    ),
  DATABASE_URL: z
    .url({ protocol: /^postgres(ql)?$/ })
    .describe('Postgres connection string of `slipway_runtime`. Secret.'),
  RUNTIME_API_KEY: z
    .string()
    .min(32, 'needs at least 32 characters')
    .describe('Key that callers send as `X-API-Key`. Secret.'),
  ENCRYPTION_KEY: z
    .string()
    .min(32, 'needs at least 32 characters')
    .describe('Encrypts stored session keys and environments. Secret.'),
  ENCRYPTION_KEY_PREVIOUS: z
    .string()
    .min(32, 'needs at least 32 characters')
    .optional()
    .describe(
      'Decrypts what an earlier ENCRYPTION_KEY encrypted, and encrypts nothing: for the time of a key rotation (docs/secrets.md). Secret.',
    ),
  ACTIVATION_PRIVATE_KEY: privateKey.describe(
    'Ed25519, PKCS#8 DER, base64. Signs activations; another key makes every warm sandbox stale. Secret.',
  ),
  SANDBOX_BACKEND: z
    .enum(SANDBOX_BACKEND_NAMES)
    .describe(
      "Where sandboxes run. `process` is for a developer's own machine and is refused in production; each backend needs the variables whose description begins with its name.",
    ),
  PROCESS_BACKEND_DIR: z
    .string()
    .startsWith('/', 'needs an absolute path')
    .optional()
    .describe('process: folder of sandboxes and workspaces. Required for it.'),
  AGENT_SERVER_COMMAND: command.optional().describe('process: JSON list that starts agent-server. Required for it.'),
  ACTION_SERVER_COMMAND: command.optional().describe('process: JSON list that starts action-server. Required for it.'),
  POOL_TARGET: z.coerce.number().int().min(0).max(1_000).default(2).describe('process: blank sandboxes kept warm.'),
  SANDBOX_NAMESPACE: z
    .string()
    .regex(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/, 'needs the name of a namespace')
    .default('slipway-sandboxes')
    .describe('kubernetes: namespace of the sandboxes, for nothing else.'),
  SANDBOX_TEMPLATES: z
    .string()
    .min(1)
    .optional()
    .describe(
      'kubernetes: templates and the sizes of their pools, as the path of a YAML or JSON file or as JSON. Required for it.',
    ),
  WORKSPACE_STORE: z
    .url({ protocol: /^(file|s3)$/, error: 'needs file:///folder or s3://bucket/prefix' })
    .optional()
    .describe(
      'kubernetes: store of the workspaces of paused sessions: `file:///folder`, or `s3://bucket/prefix?endpoint=…&region=…`. Credentials come from the environment. Required for it.',
    ),
  KUBECONFIG: z
    .string()
    .min(1)
    .optional()
    .describe("kubernetes: file with the cluster's address and credentials; absent: the pod's own service account."),
  KUBERNETES_SERVICE_HOST: z.string().optional().describe('kubernetes: set by the kubelet in a pod.'),
  KUBERNETES_SERVICE_PORT: z.string().default('443').describe('kubernetes: set by the kubelet in a pod.'),
  EGRESS_PROXY_URL: z
    .url({ protocol: /^http$/ })
    .optional()
    .describe(
      'Address of egress-proxy for sandboxes of the classes `packages` and `allow-list`; absent: they reach only what `none` reaches. With SANDBOX_BACKEND=process every sandbox finds it in its variables, and nothing forces it to go there.',
    ),
  EGRESS_SECRET: z
    .string()
    .min(32, 'needs at least 32 characters')
    .optional()
    .describe(
      'Signs the credentials that sandboxes present to egress-proxy; the same there. Required with EGRESS_PROXY_URL. Secret.',
    ),
  EGRESS_CA_FILE: z
    .string()
    .min(1)
    .optional()
    .describe(
      'File with the certificates of credential-broker’s authority (PEM), the present one and while it is changed the next one. Sandboxes of the classes `packages` and `allow-list` trust them. Absent: none.',
    ),
  EGRESS_NO_PROXY: z
    .string()
    .default('')
    .transform((text) => text.split(',').flatMap((entry) => (entry.trim() === '' ? [] : [entry.trim()])))
    .describe(
      'Hosts that sandboxes call without egress-proxy, comma-separated, besides this machine’s own and services of the cluster.',
    ),
  SANDBOX_DNS: z
    .enum(['none', 'cluster'])
    .default('none')
    .describe(
      "kubernetes: DNS of sandboxes. `none`: no DNS but for class `open`; SANDBOX_HOSTS and egress-proxy are known by address. `cluster`: the cluster's DNS, which resolves public names.",
    ),
  SANDBOX_HOSTS: z
    .string()
    .default('')
    .transform((text) => text.split(',').flatMap((entry) => (entry.trim() === '' ? [] : [entry.trim().toLowerCase()])))
    .pipe(z.array(z.string().regex(HOST_NAME, 'needs names of hosts')).max(64))
    .describe(
      'kubernetes: names that sandboxes without DNS get with their addresses, comma-separated: the hosts of SANDBOX_INGEST_URL and SANDBOX_LLM_URL of worker, where these are no addresses.',
    ),
  ORG_SANDBOX_LIMIT: z.coerce
    .number()
    .int()
    .min(0)
    .max(100_000)
    .default(10)
    .describe('Sandboxes that an organization may run at once, unless its own row sets another limit.'),
  WORKSPACE_LIMIT_GIB: z.coerce
    .number()
    .int()
    .min(0)
    .max(1_000_000)
    .default(500)
    .describe(
      "kubernetes: limit of one organization's saved workspaces in the workspace store, unless its own row sets another; above it no new session starts. GiB; 0: no limit.",
    ),
  SANDBOX_IDLE_SECONDS: seconds
    .optional()
    .describe(
      'Time after which sessions with an idle agent are paused. Seconds; absent: off. For callers that never pause; Slipway does.',
    ),
  SANDBOX_MAX_AGE_SECONDS: seconds
    .default(7 * 86_400)
    .describe("Maximum age of a session's sandbox; the session is paused then. Seconds."),
  REPLICA_ID: z
    .string()
    .min(1)
    .default(`${os.hostname()}-${process.pid}`)
    .describe('Name of this process in logs and database connections.'),
});
type Variables = z.infer<typeof Variables>;

export interface ProcessSettings {
  readonly kind: 'process';
  readonly directory: string;
  readonly agentServerCommand: string[];
  readonly actionServerCommand: string[];
  readonly poolTarget: number;
}

export interface KubernetesSettings {
  readonly kind: 'kubernetes';
  readonly namespace: string;
  /** A path, or JSON. */
  readonly templates: string;
  readonly workspaceStore: string;
  /** Paths, separated as in PATH; or the address of the API server from the pod's environment. */
  readonly cluster: { readonly kubeconfig: string } | { readonly host: string; readonly port: string };
}

/** `sandboxes`: settings of the chosen backend; those of other backends are ignored. */
export const ConfigSchema = Variables.transform((env, context) => {
  const missing = (name: keyof Variables, message: string): typeof z.NEVER => {
    context.addIssue({ code: 'custom', path: [name], message });
    return z.NEVER;
  };
  return {
    ...env,
    sandboxes: SETTINGS[env.SANDBOX_BACKEND](env, missing),
  };
});

type Missing = (name: keyof Variables, message: string) => never;

function processSettings(env: Variables, missing: Missing): ProcessSettings {
  if (env.NODE_ENV === 'production')
    missing('SANDBOX_BACKEND', 'process runs agents without isolation; it refuses production');
  const required = <T>(name: keyof Variables, value: T | undefined): T =>
    value ?? missing(name, 'is needed for SANDBOX_BACKEND=process');
  return {
    kind: 'process',
    directory: required('PROCESS_BACKEND_DIR', env.PROCESS_BACKEND_DIR),
    agentServerCommand: required('AGENT_SERVER_COMMAND', env.AGENT_SERVER_COMMAND),
    actionServerCommand: required('ACTION_SERVER_COMMAND', env.ACTION_SERVER_COMMAND),
    poolTarget: env.POOL_TARGET,
  };
}

function kubernetesSettings(env: Variables, missing: Missing): KubernetesSettings {
  const required = <T>(name: keyof Variables, value: T | undefined): T =>
    value ?? missing(name, 'is needed for SANDBOX_BACKEND=kubernetes');
  if (env.EGRESS_PROXY_URL !== undefined && env.EGRESS_SECRET === undefined)
    missing('EGRESS_SECRET', 'is needed with EGRESS_PROXY_URL');
  if (env.EGRESS_CA_FILE !== undefined && env.EGRESS_PROXY_URL === undefined)
    missing('EGRESS_CA_FILE', 'is for sandboxes that go through egress-proxy; EGRESS_PROXY_URL is needed with it');
  const host = env.KUBERNETES_SERVICE_HOST ?? '';
  if (env.KUBECONFIG === undefined && host === '')
    missing('KUBECONFIG', 'is needed for SANDBOX_BACKEND=kubernetes outside of a pod');
  return {
    kind: 'kubernetes',
    namespace: env.SANDBOX_NAMESPACE,
    templates: required('SANDBOX_TEMPLATES', env.SANDBOX_TEMPLATES),
    workspaceStore: required('WORKSPACE_STORE', env.WORKSPACE_STORE),
    cluster:
      env.KUBECONFIG === undefined ? { host, port: env.KUBERNETES_SERVICE_PORT } : { kubeconfig: env.KUBECONFIG },
  };
}

type SandboxSettings = ProcessSettings | KubernetesSettings;

const SETTINGS: Readonly<Record<SandboxBackendName, (env: Variables, missing: Missing) => SandboxSettings>> = {
  process: processSettings,
  kubernetes: kubernetesSettings,
};

export type Config = Readonly<z.infer<typeof ConfigSchema>>;

/** @throws SlipwayError `config.invalid` that names every invalid variable, never its value. */
export function loadConfig(source: Readonly<Record<string, string | undefined>>): Config {
  return parseConfig(ConfigSchema, source);
}
