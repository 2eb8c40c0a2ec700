import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { GatewayModelList } from '@slipway/contracts/models';
import { LLM } from '@slipway/llm';
import { freePort, type ModelServer, startModelServer, until } from '@slipway/testing';
import { describeUnless } from '@slipway/testing/jest';
import { pythonEnvironment } from '@slipway/testing/programs';

const LITELLM = '1.105.3';
const MASTER_KEY = 'sk-master-key-of-the-test-0123456789';
const PROVIDER_KEY = 'sk-provider-0123456789';
const MODEL = 'gpt-4o';
/** On a busy machine it takes a minute to be read. Milliseconds. */
const START_MS = 300_000;

const environment =
  process.env['TRY_LITELLM'] === 'yes'
    ? await pythonEnvironment({
        name: `litellm/${LITELLM}`,
        packages: [`litellm[proxy]==${LITELLM}`],
        installMs: 900_000,
      })
    : { missing: 'it is asked for by TRY_LITELLM=yes' };
const missing = 'missing' in environment ? `LiteLLM is not tried: ${environment.missing}` : false;
if (missing !== false) console.log(missing);

describeUnless(missing)('a real LiteLLM in the place of llm-gateway', () => {
  let folder: string;
  let proxy: ChildProcess;
  let provider: ModelServer;
  let url: string;
  beforeAll(async () => {
    if ('missing' in environment) return;
    provider = await startModelServer({ script: [], apiKey: PROVIDER_KEY });
    folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-litellm-'));
    const [port, config] = [await freePort(), path.join(folder, 'litellm.yaml')];
    const model = `  - model_name: ${MODEL}\n    litellm_params:\n      model: openai/${MODEL}\n      api_base: ${provider.url}\n      api_key: ${PROVIDER_KEY}\n`;
    await writeFile(config, `model_list:\n${model}general_settings:\n  master_key: ${MASTER_KEY}\n`);
    proxy = spawn(
      environment.program('litellm'),
      ['--config', config, '--host', '127.0.0.1', '--port', String(port), '--num_workers', '1'],
      {
        env: { ...process.env, LITELLM_LOCAL_MODEL_COST_MAP: 'True', LITELLM_LOG: 'ERROR', NO_PROXY: '127.0.0.1' },
        stdio: 'ignore',
      },
    );
    url = `http://127.0.0.1:${port}`;
    await until(
      'LiteLLM answers',
      async () => (await fetch(`${url}/health/liveliness`).catch(() => null))?.ok === true,
      START_MS,
    );
  });
  afterAll(async () => {
    proxy?.kill('SIGKILL');
    await provider?.close();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });

  const headers = { authorization: `Bearer ${MASTER_KEY}`, 'content-type': 'application/json' };
  const complete = (apiKey = MASTER_KEY) =>
    new LLM({ baseUrl: `${url}/v1`, apiKey, model: MODEL, idleTimeoutMs: 30_000 }).complete(
      { messages: [{ role: 'user', content: 'look' }], tools: [] },
      { signal: AbortSignal.timeout(60_000), onDelta: () => {}, traceparent: '00-t-s-01' },
    );

  it('the agent gets text, calls of tools and counts as from llm-gateway', async () => {
    provider.use([
      {
        text: 'I look.',
        toolCalls: [{ name: 'terminal', arguments: { command: 'ls' } }],
        usage: { prompt_tokens: 11, completion_tokens: 5, total_tokens: 16 },
      },
    ]);
    const answer = await complete();
    expect(answer).toMatchObject({
      content: 'I look.',
      finishReason: 'tool_calls',
      usage: { promptTokens: 11, completionTokens: 5 },
    });
    expect(answer.toolCalls.map(({ name, arguments: given }) => [name, JSON.parse(given)])).toEqual([
      ['terminal', { command: 'ls' }],
    ]);
    expect(provider.requests.at(-1)?.headers['authorization']).toBe(`Bearer ${PROVIDER_KEY}`);
  });

  it('a key that it does not know is refused; without a database by a 400 that says so', async () => {
    await expect(complete('sk-unknown')).rejects.toMatchObject({ code: 'request.invalid' });
  });

  it('its list of models is one that app-server reads, and /model/info has prices', async () => {
    const { data } = GatewayModelList.parse(await (await fetch(`${url}/v1/models`, { headers })).json());
    expect(data.map(({ id }) => id)).toEqual([MODEL]);
    const info = (await (await fetch(`${url}/model/info`, { headers })).json()) as {
      data: Array<{ model_name: string; model_info: Record<string, unknown> }>;
    };
    expect(info.data).toEqual([
      expect.objectContaining({
        model_name: MODEL,
        model_info: expect.objectContaining({ input_cost_per_token: 2.5e-6, max_input_tokens: 128_000 }),
      }),
    ]);
  });

  it('without a database it makes no keys and knows no spending, and says so', async () => {
    for (const [method, rest] of [
      ['POST', '/key/generate'],
      ['GET', '/spend/logs'],
    ] as const)
      expect((await fetch(url + rest, { method, headers, ...(method === 'POST' ? { body: '{}' } : {}) })).status).toBe(
        500,
      );
  });
});
