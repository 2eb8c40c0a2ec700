import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createLogger } from '@slipway/telemetry';
import { freePort, until } from '@slipway/testing';
import { openSandboxes, type Sandboxes } from './backends.js';
import { type Config, loadConfig } from './config.js';
import { startTestRuntimeApi } from './testing/start-runtime-api.js';

const amounts = { cpu: '100m', memory: '128Mi', ephemeralStorage: '64Mi' };
const TEMPLATES = JSON.stringify([
  { name: 'python', image: 'registry.example/sandbox:1', resources: { requests: amounts, limits: amounts } },
]);

describe('runtime-api on a cluster that is not there', () => {
  let folder: string;
  let kubeconfig: string;
  const config = (change: Record<string, string> = {}): Config =>
    loadConfig({
      DATABASE_URL: 'postgresql://slipway_runtime:secret@127.0.0.1/slipway',
      RUNTIME_API_KEY: 'a service key of the test, long enough',
      ENCRYPTION_KEY: 'an encryption key of the test, long enough',
      ACTIVATION_PRIVATE_KEY: generateKeyPairSync('ed25519')
        .privateKey.export({ format: 'der', type: 'pkcs8' })
        .toString('base64'),
      SANDBOX_BACKEND: 'kubernetes',
      SANDBOX_TEMPLATES: TEMPLATES,
      WORKSPACE_STORE: `file://${folder}/workspaces`,
      KUBECONFIG: kubeconfig,
      ...change,
    });
  const open = (given: Config): Promise<Sandboxes> => openSandboxes(given, {}, createLogger('runtime-api', 'silent'));

  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-backends-'));
    kubeconfig = path.join(folder, 'kubeconfig');
    const server = `https://127.0.0.1:${await freePort()}`;
    const lines = [
      'apiVersion: v1',
      'kind: Config',
      'current-context: c',
      `clusters: [{ name: c, cluster: { server: "${server}" } }]`,
      'users: [{ name: u, user: { token: none } }]',
      'contexts: [{ name: c, context: { cluster: c, user: u } }]',
    ];
    await writeFile(kubeconfig, lines.join('\n'));
  });
  // A probe of the store may still write while the folder goes.
  afterAll(() => rm(folder, { recursive: true, force: true, maxRetries: 10 }));

  it('starts, stays up, and says what is wrong in /ready, in its metrics and on its pools', async () => {
    const sandboxes = await open(config());
    const api = await startTestRuntimeApi({
      backend: sandboxes.backend,
      pools: sandboxes.pools,
      pace: sandboxes.pace,
      sandboxProblem: sandboxes.problem,
    });
    try {
      const ready = await until('it is said', async () => {
        const { status, body } = await api.call('GET', '/ready');
        return status === 200 && body.notes?.['pool python-x1'] !== undefined && body;
      });
      expect(ready).toEqual({
        status: 'ready',
        notes: {
          sandboxes: expect.stringContaining('The API server did not answer'),
          'pool python-x1': expect.stringContaining('The API server did not answer'),
        },
      });
      expect(await api.metrics()).toMatch(/pool_problem\{[^}]*code="sandbox\.cluster-unavailable"[^}]*\} 1/);
    } finally {
      await api.close();
      await sandboxes.close();
    }
  });

  it('starts while a name that sandboxes need is not found, says so, and makes none that would not know it; class open asks for itself', async () => {
    const both = JSON.stringify([
      ...JSON.parse(TEMPLATES),
      { ...JSON.parse(TEMPLATES)[0], name: 'open', egress: 'open' },
    ]);
    const sandboxes = await open(config({ SANDBOX_TEMPLATES: both, SANDBOX_HOSTS: 'nobody.invalid,127.0.0.1' }));
    try {
      expect(() => sandboxes.backend.templateOf({ image: 'python' })).toThrow('nobody.invalid');
      expect(sandboxes.backend.templateOf({ image: 'open' })).toMatch(/^[0-9a-f]{16}$/);
    } finally {
      await sandboxes.close();
    }
    const known: readonly Record<string, string>[] = [
      { SANDBOX_DNS: 'cluster', SANDBOX_HOSTS: 'nobody.invalid' },
      { SANDBOX_HOSTS: 'localhost' },
    ];
    for (const change of known) {
      const other = await open(config(change));
      expect(other.backend.templateOf({ image: 'python' })).toMatch(/^[0-9a-f]{16}$/);
      await other.close();
    }
  });

  it('refuses to start with a kubeconfig, templates or a store that cannot be read, and says which', async () => {
    await expect(open(config({ KUBECONFIG: path.join(folder, 'none') }))).rejects.toMatchObject({
      code: 'config.invalid',
      detail: expect.stringContaining('KUBECONFIG cannot be read'),
    });
    await expect(open(config({ SANDBOX_TEMPLATES: path.join(folder, 'none') }))).rejects.toMatchObject({
      code: 'config.invalid',
      detail: expect.stringContaining('SANDBOX_TEMPLATES: '),
    });
    await expect(open(config({ WORKSPACE_STORE: 's3:///no-bucket' }))).rejects.toMatchObject({
      code: 'config.invalid',
      detail: expect.stringContaining('WORKSPACE_STORE: '),
    });
  });
});
