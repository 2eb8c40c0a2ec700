import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { loadTemplates } from './sandbox-templates.js';

const DIGEST = `registry.example/sandbox@sha256:${'0'.repeat(64)}`;
const amounts = { cpu: '1', memory: '1Gi', ephemeralStorage: '1Gi' };
const template = { name: 'python', image: DIGEST, resources: { requests: amounts, limits: amounts } };

const refusal = (given: unknown, nodeEnv: 'development' | 'production' = 'production'): string => {
  try {
    loadTemplates(typeof given === 'string' ? given : JSON.stringify(given), nodeEnv);
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('they were accepted');
};

describe('the templates of a cluster', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-templates-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('are pools, one for each template and size: the base size is kept warm, larger ones are made on demand, unless the template says otherwise', () => {
    const { pools } = loadTemplates(
      JSON.stringify([
        { ...template, sizes: [1, 2, 4], pools: { 4: { min: 1, max: 3 } }, maxAgeSeconds: 600 },
        { ...template, name: 'other' },
      ]),
      'production',
    );
    expect(
      pools.map(({ poolId, size, bounds, maxAgeSeconds }) => ({ poolId, size, ...bounds, maxAgeSeconds })),
    ).toEqual([
      { poolId: 'python-x1', size: 1, min: 2, max: 20, maxAgeSeconds: 600 },
      { poolId: 'python-x2', size: 2, min: 0, max: 0, maxAgeSeconds: 600 },
      { poolId: 'python-x4', size: 4, min: 1, max: 3, maxAgeSeconds: 600 },
      { poolId: 'other-x1', size: 1, min: 2, max: 20, maxAgeSeconds: 14_400 },
    ]);
    expect(pools[0]).toMatchObject({ image: 'python', imageReference: DIGEST, runtimeClass: null });
  });

  it('are read from a file of YAML as from JSON in the variable', async () => {
    const file = path.join(folder, 'templates.yaml');
    await writeFile(
      file,
      `- name: python\n  image: ${DIGEST}\n  resources:\n    requests: &r { cpu: '1', memory: 1Gi, ephemeralStorage: 1Gi }\n    limits: *r\n  pools:\n    1: { min: 0, max: 5 }\n`,
    );
    expect(loadTemplates(file, 'production')).toEqual(
      loadTemplates(JSON.stringify([{ ...template, pools: { 1: { min: 0, max: 5 } } }]), 'production'),
    );
  });

  it('are refused with the file or every wrong field', () => {
    expect(refusal(path.join(folder, 'none.yaml'))).toMatch(
      /SANDBOX_TEMPLATES: .*none\.yaml cannot be read \(ENOENT\)/,
    );
    expect(refusal('[')).toContain('SANDBOX_TEMPLATES: ');
    expect(refusal([])).toContain('needs at least one template');
    const both = refusal([{ ...template, image: 'registry.example/sandbox:latest', name: 'Not a name' }]);
    expect(both).toContain('0.image');
    expect(both).toContain('0.name');
    expect(refusal([{ ...template, pools: { 1: { min: 3, max: 2 } } }])).toContain('0.pools.1.max: is less than min');
    expect(refusal([{ ...template, pools: { 2: { min: 0, max: 2 } } }])).toContain(
      "0.pools.2: is not one of the template's sizes, 1",
    );
    expect(refusal([{ ...template, pools: { 3: { min: 0, max: 2 } } }])).toContain('0.pools');
  });
});
