import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';

/** Writes a kubeconfig that holds its keys inline, so that it can be copied anywhere. JSON is YAML. */
export async function writeKubeconfig(file: string, server: string, pki: string, user: string): Promise<void> {
  const base64 = (name: string): Promise<string> => readFile(path.join(pki, name), 'base64');
  const [ca, certificate, key] = await Promise.all([base64('ca.crt'), base64(`${user}.crt`), base64(`${user}.key`)]);
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'slipway-test', cluster: { server, 'certificate-authority-data': ca } }],
    users: [{ name: user, user: { 'client-certificate-data': certificate, 'client-key-data': key } }],
    contexts: [{ name: 'slipway-test', context: { cluster: 'slipway-test', user } }],
    'current-context': 'slipway-test',
  };
  await writeFile(file, JSON.stringify(config, null, 2), { mode: 0o600 });
}
