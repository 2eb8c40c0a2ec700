import { createPrivateKey, type KeyObject } from 'node:crypto';
import os from 'node:os';
import { parseConfig } from '@slipway/errors';
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
    // Said below.
  }
  context.addIssue({ code: 'custom', message: 'needs an Ed25519 private key, PKCS#8 DER, base64' });
  return z.NEVER;
});
const HOST_NAME = /^[a-z0-9_]([a-z0-9_.-]{0,251}[a-z0-9])?$/;
const seconds = z.coerce.number().int().min(60);

const Variables = z.object({
  ...logVariables,
  NODE_ENV: z.enum(['development', 'test', 'production']).default('development').describe('How the process was started.'),
  HOST: z.string().default('127.0.0.1').describe('Address to listen on.'),
  PORT: z.coerce.number().int().min(0).max(65_535).default(3002).describe('Port to listen on; 0 takes any.'),
  /** Where `/metrics` answers, and `/ready` with its reasons: for Prometheus, never for clients. Not given: PORT + 100, or any when PORT is 0. */
  METRICS_PORT: z.coerce.number().int().min(0).max(65_535).optional(),
  /** Address that it listens on. Not given: HOST. */
  METRICS_HOST: z.string().optional(),
  DRAIN_SECONDS: z.coerce
    .number()
    .min(0)
    .max(600)
    .default(0)
    .describe(
      'After SIGTERM, how long requests and new connections are still served while `/ready` says 503. Seconds; above what it takes until no load balancer sends any here.',
    ),
  DATABASE_URL: z.url({ protocol: /^postgres(ql)?$/ }).describe('Postgres connection string of `slipway_runtime`. Secret.'),
  RUNTIME_API_KEY: z.string().min(32, 'needs at least 32 characters').describe('What callers send as `X-API-Key`. Secret.'),
  ENCRYPTION_KEY: z.string().min(32, 'needs at least 32 characters').describe('Encrypts session keys and environments at rest. Secret.'),
  ENCRYPTION_KEY_PREVIOUS: z
    .string()
    .min(32, 'needs at least 32 characters')
    .optional()
    .describe('Opens what it has encrypted, and encrypts nothing: while ENCRYPTION_KEY changes (docs/secrets.md). Secret.'),
  ACTIVATION_PRIVATE_KEY: privateKey.describe('Ed25519, PKCS#8 DER, base64. Signs activations; another key makes every warm sandbox stale. Secret.'),
  SANDBOX_BACKEND: z
    .enum(['process', 'kubernetes'])
    .describe("Where sandboxes run. `process` is for a developer's own machine and refuses production; each needs the variables that name it."),
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
    .describe('kubernetes: namespace of the sandboxes, and of nothing else.'),
  SANDBOX_TEMPLATES: z
    .string()
    .min(1)
    .optional()
    .describe('kubernetes: the templates and sizes of their pools, as a path to a YAML or JSON file or as the JSON itself. Required for it.'),
  WORKSPACE_STORE: z
    .url({ protocol: /^(file|s3)$/, error: 'needs file:///folder or s3://bucket/prefix' })
    .optional()
    .describe(
      'kubernetes: where workspaces of paused sessions are kept: `file:///folder`, or `s3://bucket/prefix?endpoint=…&region=…`. Credentials are those of the environment. Required for it.',
    ),
  KUBECONFIG: z.string().min(1).optional().describe("kubernetes: file that says which cluster; without it that of the pod's own service account."),
  KUBERNETES_SERVICE_HOST: z.string().optional().describe('kubernetes: set by the kubelet in a pod.'),
  KUBERNETES_SERVICE_PORT: z.string().default('443').describe('kubernetes: set by the kubelet in a pod.'),
  EGRESS_PROXY_URL: z
    .url({ protocol: /^http$/ })
    .optional()
    .describe('kubernetes: egress-proxy as sandboxes of the classes `packages` and `allow-list` reach it; without it they reach as much as `none`.'),
  EGRESS_SECRET: z
    .string()
    .min(32, 'needs at least 32 characters')
    .optional()
    .describe('kubernetes: signs what sandboxes show to egress-proxy; the same there. Required with EGRESS_PROXY_URL. Secret.'),
  EGRESS_NO_PROXY: z
    .string()
    .default('')
    .transform((text) => text.split(',').flatMap((entry) => (entry.trim() === '' ? [] : [entry.trim()])))
    .describe('kubernetes: hosts that sandboxes call without egress-proxy, with commas between them, beside this machine’s own and services of the cluster.'),
  SANDBOX_DNS: z
    .enum(['none', 'cluster'])
    .default('none')
    .describe(
      "kubernetes: whom sandboxes ask for names. `none`: nobody, but for class `open`; they know SANDBOX_HOSTS and egress-proxy. `cluster`: the cluster's DNS, which resolves the world.",
    ),
  SANDBOX_HOSTS: z
    .string()
    .default('')
    .transform((text) => text.split(',').flatMap((entry) => (entry.trim() === '' ? [] : [entry.trim().toLowerCase()])))
    .pipe(z.array(z.string().regex(HOST_NAME, 'needs names of hosts')).max(64))
    .describe(
      'kubernetes: names that sandboxes without DNS are given with their addresses, with commas between them: the hosts of SANDBOX_INGEST_URL and SANDBOX_LLM_URL of the worker, where these are no addresses.',
    ),
  ORG_SANDBOX_LIMIT: z.coerce
    .number()
    .int()
    .min(0)
    .max(100_000)
    .default(10)
    .describe('Sandboxes that an organization may run at once, unless its own row says otherwise.'),
  WORKSPACE_LIMIT_GIB: z.coerce
    .number()
    .int()
    .min(0)
    .max(1_000_000)
    .default(500)
    .describe(
      'kubernetes: what the kept workspaces of one organization may take in the workspace store, unless its own row says otherwise; above it no new session starts. GiB; 0 for no limit.',
    ),
  SANDBOX_IDLE_SECONDS: seconds
    .optional()
    .describe(
      'Sessions whose agent has had nothing to do for so long are paused. Seconds; off when not given. For callers that never pause: Slipway itself does.',
    ),
  SANDBOX_MAX_AGE_SECONDS: seconds.default(7 * 86_400).describe('Sessions are paused when they have had their sandbox for so long. Seconds.'),
  REPLICA_ID: z.string().min(1).default(`${os.hostname()}-${process.pid}`).describe('Names this process in logs and database connections.'),
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
  /** Paths, separated as in PATH; or the address of the API server as a pod is told it. */
  readonly cluster: { readonly kubeconfig: string } | { readonly host: string; readonly port: string };
}

/** `sandboxes`: what the chosen backend needs; what only another one needs is not looked at. */
export const ConfigSchema = Variables.transform((env, context) => {
  const missing = (name: keyof Variables, message: string): typeof z.NEVER => {
    context.addIssue({ code: 'custom', path: [name], message });
    return z.NEVER;
  };
  return { ...env, sandboxes: env.SANDBOX_BACKEND === 'process' ? processSettings(env, missing) : kubernetesSettings(env, missing) };
});

type Missing = (name: keyof Variables, message: string) => never;

function processSettings(env: Variables, missing: Missing): ProcessSettings {
  if (env.NODE_ENV === 'production') missing('SANDBOX_BACKEND', 'process runs agents without isolation; it refuses production');
  const required = <T>(name: keyof Variables, value: T | undefined): T => value ?? missing(name, 'is needed for SANDBOX_BACKEND=process');
  return {
    kind: 'process',
    directory: required('PROCESS_BACKEND_DIR', env.PROCESS_BACKEND_DIR),
    agentServerCommand: required('AGENT_SERVER_COMMAND', env.AGENT_SERVER_COMMAND),
    actionServerCommand: required('ACTION_SERVER_COMMAND', env.ACTION_SERVER_COMMAND),
    poolTarget: env.POOL_TARGET,
  };
}

function kubernetesSettings(env: Variables, missing: Missing): KubernetesSettings {
  const required = <T>(name: keyof Variables, value: T | undefined): T => value ?? missing(name, 'is needed for SANDBOX_BACKEND=kubernetes');
  if (env.EGRESS_PROXY_URL !== undefined && env.EGRESS_SECRET === undefined) missing('EGRESS_SECRET', 'is needed with EGRESS_PROXY_URL');
  const host = env.KUBERNETES_SERVICE_HOST ?? '';
  if (env.KUBECONFIG === undefined && host === '') missing('KUBECONFIG', 'is needed for SANDBOX_BACKEND=kubernetes outside of a pod');
  return {
    kind: 'kubernetes',
    namespace: env.SANDBOX_NAMESPACE,
    templates: required('SANDBOX_TEMPLATES', env.SANDBOX_TEMPLATES),
    workspaceStore: required('WORKSPACE_STORE', env.WORKSPACE_STORE),
    cluster: env.KUBECONFIG === undefined ? { host, port: env.KUBERNETES_SERVICE_PORT } : { kubeconfig: env.KUBECONFIG },
  };
}

export type Config = Readonly<z.infer<typeof ConfigSchema>>;

/** @throws SlipwayError `config.invalid` that names every wrong variable, never its value. */
export function loadConfig(source: Readonly<Record<string, string | undefined>>): Config {
  return parseConfig(ConfigSchema, source);
}
