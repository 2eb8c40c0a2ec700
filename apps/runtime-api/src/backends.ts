import { createPublicKey } from 'node:crypto';
import { pathToFileURL } from 'node:url';
import { type EgressClass, isProxied } from '@slipway/contracts/sandboxes';
import type { SandboxBackend } from '@slipway/sandbox';
import { fromKubeconfig, inCluster, KubernetesBackend, openWorkspaceStore } from '@slipway/sandbox/adapters/kubernetes';
import { ProcessBackend } from '@slipway/sandbox/adapters/process';
import { openPackStore, type PackStore } from '@slipway/sandbox/packs';
import type { Logger } from '@slipway/telemetry';
import type { Config, KubernetesSettings, ProcessSettings } from './config.js';
import { PlatformHosts } from './platform-hosts.js';
import { CLUSTER_PACE, LOCAL_PACE, type PoolPace, type PoolSpec } from './pool/pool-context.js';
import { StoreWatch } from './pool/store-watch.js';
import { readCertificates } from './sessions/certificates.js';
import type { EgressOptions } from './sessions/egress-environment.js';
import { loadTemplates } from './templates/sandbox-templates.js';

/** A blank sandbox of this machine is replaced at this age. Seconds. */
const MAX_BLANK_SECONDS = 4 * 3_600;
/**
 * A cluster that has not been seen for so long is said to be away. Milliseconds; a watch that is cut comes back within
 * seconds.
 */
const STALE_MS = 10_000;

const THIS_MACHINE = 'slipway-sandbox';
/** Sandboxes of this machine find egress-proxy by their variables; nothing forces them to go through it. */
const ON_THIS_MACHINE: ReadonlyMap<string, EgressClass> = new Map([[THIS_MACHINE, 'allow-list']]);

/** The place where sandboxes run, what is kept warm there, and how. */
export interface Sandboxes {
  readonly backend: SandboxBackend;
  readonly pools: readonly [PoolSpec, ...PoolSpec[]];
  readonly pace: PoolPace;
  /** Of checkpoints; beside the workspaces that are kept, or below the folder of this machine's sandboxes. */
  readonly packs: PackStore;
  /** `null`: there is no way out by name. */
  readonly egress: EgressOptions | null;
  /** What is wrong with the place, in a sentence; `null`: nothing. What is warm may be given out all the same. */
  problem(): string | null;
  /** Why workspaces cannot be kept, in a sentence; `null`: they can. */
  storeProblem(): string | null;
  close(): Promise<void>;
}

/**
 * The only file that knows the adapters. A cluster that does not answer is no reason not to start.
 * @throws SlipwayError `config.invalid` when templates, store or kubeconfig cannot be read.
 */
export function openSandboxes(
  config: Config,
  host: Readonly<Record<string, string | undefined>>,
  logger: Logger,
): Promise<Sandboxes> {
  const { sandboxes } = config;
  switch (sandboxes.kind) {
    case 'process':
      return onThisMachine(config, sandboxes, { host, logger });
    case 'kubernetes':
      return onCluster(config, sandboxes, logger);
  }
}

async function onThisMachine(
  config: Config,
  settings: ProcessSettings,
  { host, logger }: { readonly host: Readonly<Record<string, string | undefined>>; readonly logger: Logger },
): Promise<Sandboxes> {
  const backend = new ProcessBackend({
    directory: settings.directory,
    agentServerCommand: settings.agentServerCommand,
    actionServerCommand: settings.actionServerCommand,
    activationPublicKey: publicHalf(config),
    nodeEnv: config.NODE_ENV,
    logLevel: config.LOG_LEVEL,
    hostEnvironment: host,
  });
  const pool: PoolSpec = {
    poolId: 'default',
    image: THIS_MACHINE,
    imageReference: null,
    runtimeClass: null,
    size: 1,
    bounds: { min: settings.poolTarget, max: settings.poolTarget },
    maxAgeSeconds: MAX_BLANK_SECONDS,
  };
  return {
    backend,
    pools: [pool],
    packs: await openPackStore(pathToFileURL(settings.directory)),
    pace: LOCAL_PACE,
    egress: config.EGRESS_PROXY_URL === undefined ? null : egressOf(config, ON_THIS_MACHINE, logger),
    problem: () => null,
    storeProblem: () => null,
    close: async () => {},
  };
}

async function onCluster(config: Config, settings: KubernetesSettings, logger: Logger): Promise<Sandboxes> {
  const { cluster } = settings;
  const { templates, pools, egress: classes } = loadTemplates(settings.templates, config.NODE_ENV);
  const store = await openWorkspaceStore(new URL(settings.workspaceStore));
  const packs = await openPackStore(new URL(settings.workspaceStore));
  const storeWatch = new StoreWatch(store, logger).start();
  const hosts = await platformHosts(config, [...classes.values()], logger).start();
  const backend = new KubernetesBackend({
    access: 'kubeconfig' in cluster ? await fromKubeconfig(cluster.kubeconfig) : inCluster(cluster.host, cluster.port),
    namespace: settings.namespace,
    templates,
    store,
    activationKey: config.ACTIVATION_PRIVATE_KEY,
    activationPublicKey: publicHalf(config),
    nodeEnv: config.NODE_ENV,
    logLevel: config.LOG_LEVEL,
    names: {
      dns: config.SANDBOX_DNS,
      get hosts() {
        return hosts.addresses;
      },
    },
    logger,
  });
  const problem = (): string | null => {
    const { synced, staleForMs, problem: reason } = backend.health;
    if (synced && staleForMs < STALE_MS) return hosts.problem ?? storeWatch.problem;
    return reason?.detail ?? (synced ? 'The API server of the cluster is away.' : 'The cluster has not been read yet.');
  };
  const close = async (): Promise<void> => {
    hosts.close();
    storeWatch.close();
    await backend.close();
  };
  return {
    backend,
    pools,
    packs,
    pace: CLUSTER_PACE,
    egress: egressOf(config, classes, logger),
    problem,
    storeProblem: () => storeWatch.problem,
    close,
  };
}

function egressOf(config: Config, classes: ReadonlyMap<string, EgressClass>, logger: Logger): EgressOptions | null {
  const {
    EGRESS_PROXY_URL: proxyUrl,
    EGRESS_SECRET: secret,
    EGRESS_NO_PROXY: direct,
    SANDBOX_MAX_AGE_SECONDS: maxAgeSeconds,
    EGRESS_CA_FILE: caFile,
  } = config;
  const ca = caFile === undefined ? null : readCertificates('EGRESS_CA_FILE', caFile);
  if (proxyUrl !== undefined && secret !== undefined) return { proxyUrl, secret, direct, classes, maxAgeSeconds, ca };
  const cutOff = [...classes].flatMap(([name, egress]) => (isProxied(egress) ? [name] : []));
  if (cutOff.length > 0)
    logger.warn(
      { templates: cutOff },
      'EGRESS_PROXY_URL is not set, sandboxes of these templates reach only what class none reaches',
    );
  return null;
}

/** Hosts of sandboxes without DNS; with DNS they resolve names themselves. */
function platformHosts(config: Config, classes: readonly EgressClass[], logger: Logger): PlatformHosts {
  const { SANDBOX_DNS: dns, SANDBOX_HOSTS: hosts, EGRESS_PROXY_URL: proxy } = config;
  const needed = dns === 'none' && classes.some((egress) => egress !== 'open');
  const ofProxy = proxy === undefined ? [] : [new URL(proxy).hostname.replace(/^\[|\]$/g, '')];
  return new PlatformHosts(needed ? [...hosts, ...ofProxy] : [], logger);
}

function publicHalf(config: Config): string {
  return createPublicKey(config.ACTIVATION_PRIVATE_KEY).export({ format: 'der', type: 'spki' }).toString('base64');
}
