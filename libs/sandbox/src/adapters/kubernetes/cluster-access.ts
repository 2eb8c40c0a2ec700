import { readFile } from 'node:fs/promises';
import type https from 'node:https';
import path from 'node:path';
import { SlipwayError } from '@slipway/errors';

/** Credentials of a connection, and the expected identity of the server. */
export interface Credentials {
  readonly tls: Pick<https.AgentOptions, 'ca' | 'cert' | 'key' | 'servername' | 'rejectUnauthorized'>;
  readonly authorization: string | null;
}

/** One cluster and the way into it. */
export interface ClusterAccess {
  readonly server: URL;
  /**
   * Read again at each call: tokens and certificates are exchanged while we run. @throws SlipwayError
   * `sandbox.forbidden` when there are none.
   */
  credentials(): Promise<Credentials>;
}

const SERVICE_ACCOUNT = '/var/run/secrets/kubernetes.io/serviceaccount';

/**
 * The way of a pod into its own cluster: the address from its environment, the token and authority that the kubelet
 * keeps fresh in a folder.
 * @param host, port KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT.
 */
export function inCluster(host: string, port: string, folder = SERVICE_ACCOUNT): ClusterAccess {
  return {
    server: new URL(`https://${host.includes(':') ? `[${host}]` : host}:${port}`),
    credentials: async () => {
      try {
        const [ca, token] = await Promise.all([
          readFile(path.join(folder, 'ca.crt')),
          readFile(path.join(folder, 'token'), 'utf8'),
        ]);
        return { tls: { ca }, authorization: `Bearer ${token.trim()}` };
      } catch (error) {
        throw new SlipwayError(
          'sandbox.forbidden',
          'The token of the service account cannot be read; the pod of runtime-api needs automountServiceAccountToken.',
          {
            cause: error,
          },
        );
      }
    },
  };
}

/**
 * What `kubectl` would use with this file: client certificates, tokens, token files, `exec` plugins, OIDC. The client
 * library is loaded only here: it takes 90 MB, which a runtime-api inside its cluster does not need
 * (docs/decisions/0006-kubernetes-client.md).
 *
 * @param files paths separated as in KUBECONFIG.
 * @throws SlipwayError `config.invalid` when it cannot be read, or names no cluster.
 */
export async function fromKubeconfig(files: string): Promise<ClusterAccess> {
  const { KubeConfig } = await import('@kubernetes/client-node');
  const config = new KubeConfig();
  try {
    const [first = '', ...others] = files.split(path.delimiter).filter((file) => file !== '');
    config.loadFromFile(first);
    for (const file of others) {
      const further = new KubeConfig();
      further.loadFromFile(file);
      config.mergeConfig(further, true);
    }
  } catch (error) {
    throw new SlipwayError(
      'config.invalid',
      `KUBECONFIG cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
  const cluster = config.getCurrentCluster();
  if (cluster === null)
    throw new SlipwayError(
      'config.invalid',
      `KUBECONFIG: the current context "${config.getCurrentContext()}" names no cluster`,
    );
  if (cluster.proxyUrl !== undefined)
    throw new SlipwayError('config.invalid', 'KUBECONFIG: proxy-url is not supported');
  return {
    server: new URL(cluster.server),
    credentials: async () => {
      const options: https.RequestOptions = {};
      try {
        await config.applyToHTTPSOptions(options);
      } catch (error) {
        const words = error instanceof Error ? error.message : String(error);
        throw new SlipwayError('sandbox.forbidden', `The credentials of KUBECONFIG cannot be had: ${words}`, {
          cause: error,
        });
      }
      const { ca, cert, key, servername, rejectUnauthorized } = options;
      const present = Object.entries({ ca, cert, key, servername, rejectUnauthorized }).filter(
        ([, value]) => value !== undefined && value !== null,
      );
      const authorization = (options.headers as Record<string, string> | undefined)?.['Authorization'];
      return { tls: Object.fromEntries(present), authorization: authorization ?? null };
    },
  };
}
