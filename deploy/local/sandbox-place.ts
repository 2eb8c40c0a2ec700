import { existsSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { ROOT } from './settings.ts';

type Caller = Readonly<Record<string, string | undefined>>;

/** Where the sandboxes of a local start run. */
export interface SandboxPlace {
  /** For runtime-api, by the names that it reads. */
  readonly env: Readonly<Record<string, string>>;
  /** Where sandboxes find this machine. */
  readonly hostAddress: string;
  /** For the user who started it. */
  readonly said: string;
}

const LOOPBACK = '127.0.0.1';
const GUIDE = 'docs/kubernetes.md has the whole way.';

/**
 * @throws Error with one sentence that says what to set. Nothing of the cluster is asked here: one that is away is no
 * reason not to start.
 */
export function sandboxPlace(caller: Caller, dataDirectory: string): SandboxPlace {
  const backend = caller['SANDBOX_BACKEND'] || 'process';
  if (backend === 'process') return onThisMachine(dataDirectory);
  if (backend === 'kubernetes') return onCluster(caller, dataDirectory);
  throw new Error(`SANDBOX_BACKEND is ${backend}, which is not one of: process, kubernetes.`);
}

function onThisMachine(dataDirectory: string): SandboxPlace {
  const bundle = (app: string): string =>
    JSON.stringify([process.execPath, path.join(ROOT, `apps/${app}/bundle/${app}.cjs`)]);
  return {
    env: {
      SANDBOX_BACKEND: 'process',
      PROCESS_BACKEND_DIR: path.join(dataDirectory, 'sandboxes'),
      AGENT_SERVER_COMMAND: bundle('agent-server'),
      ACTION_SERVER_COMMAND: bundle('action-server'),
    },
    hostAddress: LOOPBACK,
    said: 'processes of this machine, without isolation',
  };
}

function onCluster(caller: Caller, dataDirectory: string): SandboxPlace {
  const need = (name: string, what: string): string => {
    const value = caller[name];
    if (value === undefined || value === '')
      throw new Error(`SANDBOX_BACKEND=kubernetes needs ${name}: ${what}. ${GUIDE}`);
    return value;
  };
  const templates = need(
    'SANDBOX_TEMPLATES',
    'a copy of deploy/kubernetes/examples/templates.yaml with the image that `npm run image` prints',
  );
  const isFile = !/^\s*[[{]/.test(templates);
  if (isFile && !existsSync(templates)) throw new Error(`SANDBOX_TEMPLATES names ${templates}, which does not exist.`);
  const hostAddress = need('SANDBOX_HOST_ADDRESS', 'the address at which pods reach this machine');
  const home = path.join(os.homedir(), '.kube/config');
  const kubeconfig =
    caller['KUBECONFIG'] ||
    (existsSync(home)
      ? home
      : need('KUBECONFIG', "a file that says which cluster, with the rights of runtime-api's service account"));
  const namespace = caller['SANDBOX_NAMESPACE'] || 'slipway-sandboxes';
  // egress-proxy runs in a cluster, or wherever it was started; without it the classes that need it are `none`.
  const network = [
    'EGRESS_PROXY_URL',
    'EGRESS_SECRET',
    'EGRESS_NO_PROXY',
    'EGRESS_CA_FILE',
    'SANDBOX_DNS',
    'SANDBOX_HOSTS',
  ].flatMap((name) => (caller[name] === undefined ? [] : [[name, caller[name]] as const]));
  const store = caller['WORKSPACE_STORE'] || `file://${path.join(dataDirectory, 'workspaces')}`;
  return {
    env: {
      SANDBOX_BACKEND: 'kubernetes',
      SANDBOX_TEMPLATES: isFile ? path.resolve(templates) : templates,
      SANDBOX_NAMESPACE: namespace,
      KUBECONFIG: kubeconfig,
      WORKSPACE_STORE: store,
      ...Object.fromEntries(network),
    },
    hostAddress,
    said: `pods in namespace ${namespace} (${kubeconfig}); those in use stay when this ends and are taken up by the next start`,
  };
}
