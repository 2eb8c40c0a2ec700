import { writeFile } from 'node:fs/promises';
import http from 'node:http';
import https from 'node:https';
import path from 'node:path';
import type { TestClusterOptions } from '../test-cluster.js';
import type { ApiClient } from './api-client.js';
import type { ComponentSpec } from './component.js';
import { type ClusterNetwork, SERVICE_RANGE } from './network.js';

export interface LabPlace {
  /** Folder of the programs. */
  readonly bin: string;
  /** Folder of this cluster: pki, logs, data. */
  readonly directory: string;
  readonly network: ClusterNetwork;
  readonly api: ApiClient;
}

export const AUDIT_LOG = 'logs/audit.log';

export function etcd({ bin, directory, network }: LabPlace, fsync: boolean): ComponentSpec {
  const client = `http://${network.nodeAddress}:2379`;
  const peer = `http://${network.nodeAddress}:2380`;
  return {
    name: 'etcd',
    command: path.join(bin, 'etcd'),
    args: [
      '--name=s',
      `--data-dir=${directory}/etcd`,
      `--listen-client-urls=${client}`,
      `--advertise-client-urls=${client}`,
      `--listen-peer-urls=${peer}`,
      `--initial-advertise-peer-urls=${peer}`,
      `--initial-cluster=s=${peer}`,
      ...(fsync ? [] : ['--unsafe-no-fsync']),
      '--log-level=warn',
      '--quota-backend-bytes=4294967296',
      '--auto-compaction-mode=periodic',
      '--auto-compaction-retention=30m',
    ],
    ready: () => answers(`${client}/health`),
  };
}

export async function apiServer(
  { bin, directory, network, api }: LabPlace,
  options: TestClusterOptions,
): Promise<ComponentSpec> {
  const pki = path.join(directory, 'pki');
  const policy = path.join(directory, 'audit-policy.json');
  const writes = { level: 'Metadata', verbs: ['create', 'update', 'patch', 'delete', 'deletecollection'] };
  const rules = [
    { level: 'None', resources: [{ group: 'coordination.k8s.io', resources: ['leases'] }] },
    writes,
    { level: 'None' },
  ];
  await writeFile(
    policy,
    JSON.stringify({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', omitStages: ['RequestReceived'], rules }),
  );
  return {
    name: 'kube-apiserver',
    command: path.join(bin, 'kube-apiserver'),
    args: [
      `--etcd-servers=http://${network.nodeAddress}:2379`,
      '--secure-port=6443',
      `--advertise-address=${network.nodeAddress}`,
      `--client-ca-file=${pki}/ca.crt`,
      `--tls-cert-file=${pki}/apiserver.crt`,
      `--tls-private-key-file=${pki}/apiserver.key`,
      '--service-account-issuer=https://kubernetes.default.svc',
      `--service-account-key-file=${pki}/service-account.pub`,
      `--service-account-signing-key-file=${pki}/service-account.key`,
      `--service-cluster-ip-range=${SERVICE_RANGE}`,
      '--authorization-mode=Node,RBAC',
      '--enable-admission-plugins=NodeRestriction',
      '--allow-privileged=true',
      `--kubelet-client-certificate=${pki}/apiserver-kubelet.crt`,
      `--kubelet-client-key=${pki}/apiserver-kubelet.key`,
      `--kubelet-certificate-authority=${pki}/ca.crt`,
      '--kubelet-preferred-address-types=InternalIP,Hostname',
      `--requestheader-client-ca-file=${pki}/front-proxy-ca.crt`,
      '--requestheader-allowed-names=front-proxy-client',
      '--requestheader-username-headers=X-Remote-User',
      '--requestheader-group-headers=X-Remote-Group',
      '--requestheader-extra-headers-prefix=X-Remote-Extra-',
      `--proxy-client-cert-file=${pki}/front-proxy-client.crt`,
      `--proxy-client-key-file=${pki}/front-proxy-client.key`,
      ...(options.audit === true
        ? [`--audit-policy-file=${policy}`, `--audit-log-path=${path.join(directory, AUDIT_LOG)}`]
        : []),
      ...(options.apiServerFlags ?? []),
    ],
    ready: async () => void (await api.request('GET', '/readyz')),
  };
}

/** Ends itself when the roles of RBAC are not there yet: only start it when the API server is ready. */
export function controllerManager({ bin, directory, network }: LabPlace, nodeGraceSeconds: number): ComponentSpec {
  const pki = path.join(directory, 'pki');
  const kubeconfig = path.join(directory, 'controller-manager.kubeconfig');
  return {
    name: 'kube-controller-manager',
    command: path.join(bin, 'kube-controller-manager'),
    args: [
      ...kubeconfigFlags(kubeconfig),
      '--use-service-account-credentials',
      `--service-account-private-key-file=${pki}/service-account.key`,
      `--root-ca-file=${pki}/ca.crt`,
      `--cluster-signing-cert-file=${pki}/ca.crt`,
      `--cluster-signing-key-file=${pki}/ca.key`,
      '--leader-elect=false',
      // kwok takes addresses from a range of its own, the real node's CNI from another.
      '--allocate-node-cidrs=false',
      `--node-monitor-grace-period=${nodeGraceSeconds}s`,
      `--node-monitor-period=${Math.min(5, nodeGraceSeconds / 4)}s`,
      `--flex-volume-plugin-dir=${directory}/volume-plugins`,
      '--kube-api-qps=500',
      '--kube-api-burst=1000',
    ],
    ready: () => answers(`https://${network.nodeAddress}:10257/healthz`),
  };
}

export function scheduler({ bin, directory, network }: LabPlace): ComponentSpec {
  return {
    name: 'kube-scheduler',
    command: path.join(bin, 'kube-scheduler'),
    args: [
      ...kubeconfigFlags(path.join(directory, 'scheduler.kubeconfig')),
      '--leader-elect=false',
      '--kube-api-qps=1000',
      '--kube-api-burst=2000',
    ],
    ready: () => answers(`https://${network.nodeAddress}:10259/healthz`),
  };
}

function kubeconfigFlags(file: string): string[] {
  return ['kubeconfig', 'authentication-kubeconfig', 'authorization-kubeconfig'].map((flag) => `--${flag}=${file}`);
}

/**
 * @throws Error when the address does not answer with 200 within two seconds. Health checks carry no secret: their
 * certificates are not checked.
 */
export function answers(url: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const options = { timeout: 2_000, rejectUnauthorized: false, agent: false } as const;
    const request = (url.startsWith('https') ? https : http).get(url, options, (answer) => {
      answer.resume();
      if (answer.statusCode === 200) resolve();
      else reject(new Error(`${url}: ${answer.statusCode}`));
    });
    request.once('timeout', () => request.destroy(new Error(`${url}: no answer`)));
    request.once('error', reject);
  });
}
