import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { type ModelScript, type ModelServer, startModelServer } from '@slipway/testing';
import { expect } from 'expect';
import { startTestGateway, type TestGateway } from '../../apps/llm-gateway/dist/test-gateway.js';

/** A model of an OpenAI-like provider (chat and responses), and one of Anthropic's (messages). */
export const GPT = 'gpt-4o';
export const CLAUDE = 'claude-opus-4-6';
const UPSTREAM_KEY = 'sk-of-the-provider-0123456789';

/** Where a client is pointed. */
export interface Way {
  /** Without `/v1`. */
  readonly origin: string;
  readonly key: string;
  /** What the provider has been asked on this way. */
  readonly provider: ModelServer;
}

/** The same scripted provider twice: asked directly, and asked by the gateway. */
export interface ModelClients {
  readonly direct: Way;
  readonly through: Way;
  readonly gateway: TestGateway;
  /** From now on both answer by this, and count from one. */
  use(script: ModelScript): void;
  close(): Promise<void>;
}

export async function openModelClients(script: ModelScript): Promise<ModelClients> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-model-clients-'));
  const [alone, behind] = await Promise.all([
    startModelServer({ script, apiKey: UPSTREAM_KEY }),
    startModelServer({ script, apiKey: UPSTREAM_KEY }),
  ]);
  const file = path.join(folder, 'models.json');
  const place = (provider: string, model: string, ...speaks: string[]): object => ({
    name: model,
    deployments: [{ provider, model, speaks, apiKeyEnv: 'UPSTREAM_KEY', baseUrl: behind.url }],
  });
  await writeFile(
    file,
    JSON.stringify({ models: [place('openai', GPT, 'chat', 'responses'), place('anthropic', CLAUDE, 'messages')] }),
  );
  const gateway = await startTestGateway({ LLM_MODELS_FILE: file, UPSTREAM_KEY });
  const origin = (server: ModelServer): string => server.url.replace(/\/v1$/, '');
  return {
    direct: { origin: origin(alone), key: UPSTREAM_KEY, provider: alone },
    through: { origin: gateway.gateway.url, key: await gateway.key(), provider: behind },
    gateway,
    use: (next) => {
      for (const server of [alone, behind]) server.use(next);
    },
    close: async () => {
      await gateway.close();
      await alone.close();
      await behind.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/**
 * What the gateway writes into a request of OpenAI's formats that names no limit: the longest answer of the model,
 * which is what the call is charged for at most.
 */
const GRANTED = { chat: { max_tokens: 16_384 }, responses: { max_output_tokens: 16_384 } } as const;

/**
 * Holds the bytes that reached the provider against those that the client sent: the same, but for what the gateway
 * grants, which stands in front of them.
 * @throws when anything else differs.
 */
export function expectAsSent(through: string, direct: string): void {
  if (through === direct) return;
  const [sent, received] = [JSON.parse(direct), JSON.parse(through)] as [
    Record<string, unknown>,
    Record<string, unknown>,
  ];
  const granted = 'input' in sent ? GRANTED.responses : GRANTED.chat;
  expect(Object.keys(granted).some((name) => name in sent)).toBe(false);
  expect(received).toEqual({ ...sent, ...granted });
  expect(through.endsWith(direct.slice(1))).toBe(true);
}
