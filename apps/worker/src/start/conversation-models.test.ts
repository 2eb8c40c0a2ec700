import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { llmKeyContext } from '@slipway/auth/envelope';
import type { LlmSettings } from '@slipway/contracts/agent';
import { inOrg } from '@slipway/db/sql';
import { freePort, type ModelServer, startModelServer, type TestDatabase, until } from '@slipway/testing';
import { type Harness, ORG, openHarness, queueDatabase, SECRET } from '../testing/harness.js';
import { routeOf } from './conversation-models.js';

/** The real gateway, as its process: it is an application of its own. */
const GATEWAY = fileURLToPath(new URL('../../../llm-gateway/bundle/main.js', import.meta.url));
const MANAGED_KEY = 'sk-of-the-installation-0123456789';

interface Given {
  readonly org?: string;
  readonly model: string;
  readonly key?: string;
  readonly baseUrl?: string;
  readonly temperature?: number;
  readonly maxOutputTokens?: number;
}

async function keep(
  harness: Harness,
  name: string,
  { org = ORG, model, key, baseUrl, temperature, maxOutputTokens }: Given,
): Promise<void> {
  const id = `llm_${randomUUID()}`;
  const sealed =
    key === undefined ? null : await harness.envelope.seal(org, key, llmKeyContext({ id, baseUrl: baseUrl ?? null }));
  await inOrg(harness.pool, org, (client) =>
    client.query(
      `INSERT INTO app.llm_profile (org_id, id, name, model, base_url, temperature, max_output_tokens, sealed_api_key, key_version, created_by, created_by_label)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'u', 'u')`,
      [
        org,
        id,
        name,
        model,
        baseUrl ?? null,
        temperature ?? null,
        maxOutputTokens ?? null,
        sealed?.bytes ?? null,
        sealed?.keyVersion ?? null,
      ],
    ),
  );
}
const llmOf = (harness: Harness, id: string): LlmSettings | null =>
  harness.peers.sessions.get(id)?.sandbox?.llm ?? null;
/** All that the database keeps of a conversation in words. */
const written = async (harness: Harness, id: string): Promise<string> =>
  JSON.stringify([await harness.log(id), await harness.row(id)]);

describe('the profile that a conversation names', () => {
  let harness: Harness;
  beforeAll(async () => {
    harness = await openHarness();
  });
  afterAll(() => harness.close());

  it('goes to the gateway with its key, and to the agent with its model and manner and a virtual key alone', async () => {
    await keep(harness, 'ours', {
      model: 'anthropic/claude-x',
      key: 'sk-ours-0123456789',
      temperature: 0.5,
      maxOutputTokens: 900,
    });
    const { id } = await harness.create({ model: 'profile/ours' });
    await harness.start(id);
    expect(harness.peers.keyRequests.at(-1)).toMatchObject({
      providers: { anthropic: { apiKey: 'sk-ours-0123456789' } },
      metadata: { org_id: ORG, conversation_id: id },
    });
    expect(llmOf(harness, id)).toMatchObject({
      model: 'anthropic/claude-x',
      temperature: 0.5,
      max_output_tokens: 900,
      api_key: expect.stringMatching(/^sk-/),
    });
    expect(JSON.stringify(llmOf(harness, id))).not.toContain('sk-ours');
    expect(await written(harness, id)).not.toContain('sk-ours');
  });

  it('brings no key to a conversation that names a model of the gateway', async () => {
    const { id } = await harness.create();
    await harness.start(id);
    expect(harness.peers.keyRequests.at(-1)).not.toHaveProperty('providers');
    expect(llmOf(harness, id)).toEqual({
      model: 'demo',
      api_key: expect.any(String),
      base_url: 'http://127.0.0.1:1/v1',
    });
  });

  it('is read as it is at each start', async () => {
    await keep(harness, 'changing', { model: 'openai/one', key: 'sk-one-0123456789' });
    const { id } = await harness.create({ model: 'profile/changing' });
    await harness.start(id);
    await inOrg(harness.pool, ORG, (client) =>
      client.query("UPDATE app.llm_profile SET model = 'openai/two', temperature = 0 WHERE name = 'changing'"),
    );
    await harness.desire(id, 'rest');
    await harness.addJob('conversation-pause', id);
    await harness.rest(id);
    await harness.send(id, 'go on');
    await harness.desire(id, 'run');
    await harness.addJob('conversation-start', id);
    await harness.start(id);
    expect(llmOf(harness, id)).toMatchObject({ model: 'openai/two', temperature: 0 });
  });

  it('that was deleted, or is another organization’s, fails the start without another try, and says which', async () => {
    await keep(harness, 'theirs', { org: 'org_other', model: 'openai/x', key: 'sk-theirs-0123456789' });
    for (const name of ['deleted', 'theirs']) {
      const { id } = await harness.create({ model: `profile/${name}` });
      const asked = harness.peers.keyRequests.length;
      await harness.start(id);
      const row = await harness.row(id);
      expect(row.startStatus).toBe('ERROR');
      expect(row.steps.at(-1)).toMatchObject({
        code: 'model.profile-missing',
        detail: `There is no model profile "${name}" any more.`,
      });
      expect(harness.peers.keyRequests.length).toBe(asked);
    }
  });

  it('whose key cannot be decrypted is not called, and the start is tried again', async () => {
    await keep(harness, 'moved', { model: 'openai/x', key: 'sk-moved-0123456789', baseUrl: 'https://one.example/v1' });
    await inOrg(harness.pool, ORG, (client) =>
      client.query("UPDATE app.llm_profile SET base_url = 'https://two.example/v1' WHERE name = 'moved'"),
    );
    const { id } = await harness.create({ model: 'profile/moved' });
    const asked = harness.peers.keyRequests.length;
    await harness.start(id);
    expect((await harness.row(id)).steps.at(-1)).toMatchObject({
      state: 'running',
      detail: expect.stringContaining('The key of the model profile moved cannot be opened.'),
    });
    expect(harness.peers.keyRequests.length).toBe(asked);
  });

  it('is routed by its prefix, by its address, or as the gateway’s own model', () => {
    const at = (model: string, apiKey: string | null, baseUrl: string | null = null) =>
      routeOf({ model, baseUrl }, apiKey);
    expect(at('gemini/g', 'k')).toEqual({ model: 'gemini/g', providers: { gemini: { apiKey: 'k' } } });
    expect(at('gpt', 'k')).toEqual({ model: 'openai/gpt', providers: { openai: { apiKey: 'k' } } });
    expect(at('qwen/q', null, 'https://v.example/v1')).toEqual({
      model: 'openai/qwen/q',
      providers: { openai: { apiKey: 'none', baseUrl: 'https://v.example/v1' } },
    });
    expect(at('gpt', null)).toEqual({ model: 'gpt' });
    expect(at('openhands/gpt', 'k', 'https://v.example/v1')).toEqual({ model: 'openhands/gpt' });
  });
});

describe('the profile of a conversation, through the real gateway', () => {
  let database: TestDatabase;
  let harness: Harness;
  let gateway: ChildProcess;
  let directory: string;
  let managed: ModelServer;
  let first: ModelServer;
  let second: ModelServer;
  beforeAll(async () => {
    database = await queueDatabase();
    [managed, first, second] = (await Promise.all(
      [1, 2, 3].map(() => startModelServer({ script: () => ({ text: 'hello' }) })),
    )) as [ModelServer, ModelServer, ModelServer];
    directory = await mkdtemp(path.join(os.tmpdir(), 'slipway-gateway-'));
    const port = await freePort();
    gateway = spawn(process.execPath, [GATEWAY], {
      env: {
        PORT: String(port),
        METRICS_PORT: '0',
        DATABASE_URL: database.urls.gateway,
        LLM_GATEWAY_MASTER_KEY: SECRET,
        LLM_BASE_URL: managed.url,
        LLM_API_KEY: MANAGED_KEY,
        LLM_MODEL: 'gpt-4o',
        DATA_DIR: directory,
        LOG_LEVEL: 'fatal',
        ALLOW_PRIVATE_URLS: 'true',
      },
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    const gatewayUrl = `http://127.0.0.1:${port}`;
    await until(
      'the gateway is ready',
      async () => (await fetch(`${gatewayUrl}/ready`).catch(() => null))?.status === 200,
      60_000,
    );
    harness = await openHarness({ database, gatewayUrl });
  });
  afterAll(async () => {
    gateway?.kill('SIGKILL');
    await harness?.close();
    await Promise.all([managed, first, second].map((server) => server?.close()));
    await rm(directory, { recursive: true, force: true });
  });

  const ask = async (id: string): Promise<number> => {
    const llm = llmOf(harness, id);
    const response = await fetch(`${llm?.base_url}/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${llm?.api_key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: llm?.model, messages: [{ role: 'user', content: 'hi' }] }),
    });
    await response.text();
    return response.status;
  };
  const keysAt = (server: ModelServer): unknown[] => server.requests.map(({ headers }) => headers['authorization']);

  it('each provider gets the key of the profile that names it, and no other', async () => {
    await keep(harness, 'first', { model: 'one', key: 'sk-first-0123456789', baseUrl: first.url });
    await keep(harness, 'second', { model: 'openai/two', key: 'sk-second-0123456789', baseUrl: second.url });
    for (const model of ['profile/first', 'profile/second', 'gpt-4o']) {
      const { id } = await harness.create({ model });
      await harness.start(id);
      expect([model, await ask(id)]).toEqual([model, 200]);
    }
    expect([keysAt(first), keysAt(second), keysAt(managed)]).toEqual([
      ['Bearer sk-first-0123456789'],
      ['Bearer sk-second-0123456789'],
      [`Bearer ${MANAGED_KEY}`],
    ]);
    expect([first.requests[0]?.body.model, second.requests[0]?.body.model]).toEqual(['one', 'two']);
  });
});
