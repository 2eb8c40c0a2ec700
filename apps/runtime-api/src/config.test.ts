import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { loadConfig } from './config.js';

const common = {
  DATABASE_URL: 'postgresql://slipway_runtime:secret@127.0.0.1/slipway',
  RUNTIME_API_KEY: 'a service key of the test, long enough',
  ENCRYPTION_KEY: 'an encryption key of the test, long enough',
  ACTIVATION_PRIVATE_KEY: generateKeyPairSync('ed25519')
    .privateKey.export({ format: 'der', type: 'pkcs8' })
    .toString('base64'),
};
const kubernetes = {
  ...common,
  SANDBOX_BACKEND: 'kubernetes',
  SANDBOX_TEMPLATES: '/etc/slipway/templates.yaml',
  WORKSPACE_STORE: 's3://bucket/prefix?endpoint=http%3A%2F%2F127.0.0.1%3A9000',
  KUBECONFIG: '/home/someone/.kube/config',
};

function refusal(source: Record<string, string>): string {
  try {
    loadConfig(source);
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('it was accepted');
}

describe('the configuration of runtime-api', () => {
  it('names every variable that the chosen backend needs, and none of the other one', () => {
    const forProcess = refusal({ ...common, SANDBOX_BACKEND: 'process' });
    for (const name of ['PROCESS_BACKEND_DIR', 'AGENT_SERVER_COMMAND', 'ACTION_SERVER_COMMAND'])
      expect(forProcess).toContain(`${name}: is needed for SANDBOX_BACKEND=process`);
    expect(forProcess).not.toContain('SANDBOX_TEMPLATES');
    const forKubernetes = refusal({ ...common, SANDBOX_BACKEND: 'kubernetes' });
    for (const name of ['SANDBOX_TEMPLATES', 'WORKSPACE_STORE', 'KUBECONFIG'])
      expect(forKubernetes).toContain(`${name}: is needed for SANDBOX_BACKEND=kubernetes`);
    expect(forKubernetes).not.toContain('PROCESS_BACKEND_DIR');
  });

  it('takes the address that the kubelet gives to a pod where there is no KUBECONFIG', () => {
    const { KUBECONFIG: _, ...inPod } = kubernetes;
    expect(loadConfig({ ...inPod, KUBERNETES_SERVICE_HOST: '10.0.0.1' }).sandboxes).toMatchObject({
      kind: 'kubernetes',
      cluster: { host: '10.0.0.1', port: '443' },
    });
    expect(loadConfig(kubernetes).sandboxes).toMatchObject({
      namespace: 'slipway-sandboxes',
      cluster: { kubeconfig: kubernetes.KUBECONFIG },
    });
  });

  it('needs the secret of egress-proxy where it has its address, and reads the hosts that are called without it', () => {
    const proxied = { ...kubernetes, EGRESS_PROXY_URL: 'http://egress:3128' };
    expect(refusal(proxied)).toContain('EGRESS_SECRET: is needed with EGRESS_PROXY_URL');
    expect(refusal({ ...proxied, EGRESS_SECRET: 'too-short-secret' })).not.toContain('too-short-secret');
    expect(
      loadConfig({
        ...proxied,
        EGRESS_SECRET: 'a secret of the test, long enough for it',
        EGRESS_NO_PROXY: 'a.example, .b.example,',
      }).EGRESS_NO_PROXY,
    ).toEqual(['a.example', '.b.example']);
    expect(loadConfig(kubernetes)).toMatchObject({ EGRESS_NO_PROXY: [] });
  });

  it('gives sandboxes no DNS by default, and reads the names that they know instead', () => {
    expect(loadConfig(kubernetes)).toMatchObject({ SANDBOX_DNS: 'none', SANDBOX_HOSTS: [] });
    expect(loadConfig({ ...kubernetes, SANDBOX_DNS: 'cluster', SANDBOX_HOSTS: 'App.slipway.svc, llm,' })).toMatchObject(
      {
        SANDBOX_DNS: 'cluster',
        SANDBOX_HOSTS: ['app.slipway.svc', 'llm'],
      },
    );
    expect(refusal({ ...kubernetes, SANDBOX_DNS: 'world' })).toContain('SANDBOX_DNS');
    expect(refusal({ ...kubernetes, SANDBOX_HOSTS: 'http://app' })).toContain('needs names of hosts');
  });

  it('lets only isolated sandboxes into production', () => {
    const local = {
      ...common,
      PROCESS_BACKEND_DIR: '/var/lib/x',
      AGENT_SERVER_COMMAND: '["a"]',
      ACTION_SERVER_COMMAND: '["b"]',
      NODE_ENV: 'production',
    };
    expect(refusal({ ...local, SANDBOX_BACKEND: 'process' })).toContain('refuses production');
    expect(loadConfig({ ...kubernetes, NODE_ENV: 'production' }).sandboxes.kind).toBe('kubernetes');
  });

  it('refuses a store of workspaces that is neither a folder nor a bucket', () => {
    expect(refusal({ ...kubernetes, WORKSPACE_STORE: 'https://store.example/x' })).toContain(
      'WORKSPACE_STORE: needs file:///folder or s3://bucket/prefix',
    );
    expect(loadConfig({ ...kubernetes, WORKSPACE_STORE: 'file:///var/lib/workspaces' }).sandboxes.kind).toBe(
      'kubernetes',
    );
  });
});
