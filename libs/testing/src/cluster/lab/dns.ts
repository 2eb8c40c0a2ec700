import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { HostCertificate } from '../test-cluster.js';
import type { ComponentSpec } from './component.js';
import { answers, type LabPlace } from './control-plane.js';

export const CLUSTER_DOMAIN = 'cluster.local';
/** Names of the files that `pki` writes for `hostNames`. */
export const HOST_CERTIFICATE = 'host';

/**
 * CoreDNS on the node's address: names of services from the API server, `hostNames` from its file, and of anything else
 * it says that there is no such name.
 */
export async function dns({ bin, directory, network }: LabPlace, hostNames: readonly string[]): Promise<ComponentSpec> {
  const corefile = path.join(directory, 'Corefile');
  // A wildcard is for the certificate; this file knows none.
  const names = hostNames.filter((name) => !name.startsWith('*'));
  const hosts =
    names.length === 0 ? '' : `hosts {\n    ${network.hostAddress} ${names.join(' ')}\n    ttl 5\n    fallthrough\n  }`;
  const config = `.:53 {
  bind ${network.nodeAddress}
  ready ${network.nodeAddress}:8181
  errors
  ${hosts}
  kubernetes ${CLUSTER_DOMAIN} {
    kubeconfig ${directory}/admin.kubeconfig
    pods disabled
    ttl 1
  }
  template ANY ANY {
    rcode NXDOMAIN
  }
}
`;
  await writeFile(corefile, config);
  return {
    name: 'coredns',
    command: path.join(bin, 'coredns'),
    args: ['-conf', corefile],
    // Ready is when it knows what the API server knows.
    ready: () => answers(`http://${network.nodeAddress}:8181/ready`),
  };
}

export async function readHostCertificate(pki: string): Promise<HostCertificate> {
  const text = (name: string): Promise<string> => readFile(path.join(pki, name), 'utf8');
  const [ca, certificate, key] = await Promise.all([
    text('ca.crt'),
    text(`${HOST_CERTIFICATE}.crt`),
    text(`${HOST_CERTIFICATE}.key`),
  ]);
  return { ca, certificate, key };
}
