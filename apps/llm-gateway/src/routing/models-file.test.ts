import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { StoredKey } from '../keys/keys.queries.js';
import { buildGroups } from './build-groups.js';
import { ModelDirectory } from './model-directory.js';
import { readModelsFile } from './models-file.js';
import { sealOwnProviders } from './own-keys.js';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(path.join(os.tmpdir(), 'slipway-models-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

async function read(value: unknown): Promise<ReturnType<typeof readModelsFile>> {
  const file = path.join(directory, 'models.json');
  await writeFile(file, typeof value === 'string' ? value : JSON.stringify(value));
  return readModelsFile(file);
}

const claude = { provider: 'anthropic', model: 'claude-sonnet-4-5', apiKeyEnv: 'ANTHROPIC_API_KEY' };
const key = (more: Partial<StoredKey> = {}): StoredKey =>
  ({
    id: 'key',
    orgId: 'org',
    conversationId: 'c',
    userId: null,
    models: [],
    hash: Buffer.alloc(32),
    expiresAt: 0,
    revokedAt: null,
    stop: null,
    ...more,
  }) as StoredKey;

describe('LLM_MODELS_FILE', () => {
  it('names every place that is wrong, and never what stands there', async () => {
    const wrong = read({
      models: [
        { name: 'a', deployments: [{ ...claude, apiKeyEnv: 'sk-ant-secret', weight: 0 }] },
        {
          name: 'a',
          deployments: [{ provider: 'azure', model: 'x' }],
          fallbacks: { any: ['nowhere', 'a'] },
          apiKey: 'sk-secret',
        },
      ],
    });
    const message = await wrong.then(
      () => '',
      (error: Error) => error.message,
    );
    for (const place of [
      'models.0.deployments.0.apiKeyEnv',
      'models.0.deployments.0.weight',
      'models.1.deployments.0.baseUrl',
      'apiKey',
    ])
      expect(message).toContain(place);
    expect(message).not.toContain('secret');
    await expect(read('{')).rejects.toThrow('not JSON');
    await expect(
      read({ models: [{ name: 'a', deployments: [claude], fallbacks: { any: ['nowhere'] } }] }),
    ).rejects.toThrow('no model "nowhere"');
  });

  it('wants the variables that it names', async () => {
    const file = await read({ models: [{ name: 'a', deployments: [claude] }] });
    expect(() => buildGroups(file, {})).toThrow('ANTHROPIC_API_KEY');
    expect(buildGroups(file, { ANTHROPIC_API_KEY: 'k' })[0]?.group.deployments[0]?.target).toMatchObject({
      baseUrl: 'https://api.anthropic.com/v1',
      apiKey: 'k',
      speaks: ['messages'],
      maxOutputTokens: 64_000,
    });
  });

  it('overrides what the catalogue knows, and holds back for the dearest place that a call may come to', async () => {
    const file = await read({
      models: [
        { name: 'cheap', deployments: [claude], facts: { contextWindow: 10_000 }, fallbacks: { context: ['dear'] } },
        {
          name: 'dear',
          deployments: [{ ...claude, model: 'claude-opus-4-1', price: { input: 20, cachedInput: 2, output: 90 } }],
        },
        { name: 'own', deployments: [{ provider: 'openai', model: 'mine', baseUrl: 'http://vllm:8000/v1' }] },
      ],
    });
    const [cheap, dear, own] = buildGroups(file, { ANTHROPIC_API_KEY: 'k' });
    expect(cheap?.facts).toMatchObject({ contextWindow: 10_000, maxOutput: 64_000, price: { input: 3 } });
    expect(cheap?.dearest).toMatchObject({ contextWindow: 200_000 });
    expect(cheap?.prices).toEqual([
      expect.objectContaining({ input: 3 }),
      expect.objectContaining({ input: 20, output: 90 }),
    ]);
    expect(dear?.group.deployments[0]?.price).toMatchObject({ output: 90 });
    expect(own?.facts).toEqual({ price: null, contextWindow: null, maxOutput: null, capabilities: null });
  });
});

describe('ModelDirectory', () => {
  const directoryOf = async (): Promise<ModelDirectory> => {
    const file = await read({
      models: ['sonnet', 'anthropic/claude-sonnet-4-5'].map((name) => ({ name, deployments: [claude] })),
    });
    return new ModelDirectory(buildGroups(file, { ANTHROPIC_API_KEY: 'managed' }), new Date(0));
  };
  const targetOf = (models: ModelDirectory, name: string, row: StoredKey = key(), token = 't'): unknown => {
    const destination = models.destination(name, row, token);
    return destination.kind === 'demo' ? 'demo' : destination.group.deployments[0]?.target;
  };

  it('takes the prefixes of managed models away, and asks with the managed key', async () => {
    const models = await directoryOf();
    for (const name of ['sonnet', 'openhands/sonnet', 'litellm_proxy/sonnet'])
      expect(targetOf(models, name)).toMatchObject({ apiKey: 'managed' });
    expect(targetOf(models, 'openhands/slipway-demo')).toBe('demo');
    expect(() => targetOf(models, 'openhands/nothing')).toThrow(expect.objectContaining({ code: 'model.unknown' }));
  });

  it("goes to a provider with the caller's own key where the virtual key brings one, and else to the managed model of that very name", async () => {
    const models = await directoryOf();
    const own = key({ sealedProviders: sealOwnProviders('t', { anthropic: { apiKey: 'own' } }) });
    expect(targetOf(models, 'anthropic/claude-sonnet-4-5', own)).toMatchObject({
      apiKey: 'own',
      model: 'claude-sonnet-4-5',
      provider: 'anthropic',
    });
    expect(targetOf(models, 'anthropic/claude-opus-5', own)).toMatchObject({ apiKey: 'own', model: 'claude-opus-5' });
    expect(targetOf(models, 'anthropic/claude-sonnet-4-5')).toMatchObject({ apiKey: 'managed' });
    expect(() => targetOf(models, 'openai/gpt-5', own)).toThrow(
      expect.objectContaining({ code: 'model.unknown', detail: expect.stringContaining('openai') }),
    );
  });

  it('lets a key ask for what it names, with or without the prefix, and shows it nothing else', async () => {
    const models = await directoryOf();
    for (const allowed of ['sonnet', 'openhands/sonnet']) {
      const row = key({ models: [allowed] });
      expect(targetOf(models, 'sonnet', row)).toMatchObject({ apiKey: 'managed' });
      expect(targetOf(models, 'litellm_proxy/sonnet', row)).toMatchObject({ apiKey: 'managed' });
      expect(() => targetOf(models, 'slipway-demo', row)).toThrow(
        expect.objectContaining({ code: 'permission.denied' }),
      );
      expect(models.list(row).data.map(({ id }) => id)).toEqual(['sonnet']);
    }
    expect(models.list(null).data.map(({ id }) => id)).toEqual([
      'sonnet',
      'anthropic/claude-sonnet-4-5',
      'slipway-demo',
    ]);
  });
});
