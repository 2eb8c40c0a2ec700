import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { freePort, type ModelFault, type ModelServer, startModelServer } from '@slipway/testing';
import { PROVIDER_KEY, startTestGateway, type TestGateway } from '../test-gateway.js';

const PATH = '/v1/chat/completions';
const TEXT = 'an answer that is whole';
const USAGE = { prompt_tokens: 11, completion_tokens: 5, total_tokens: 16 };
/** What the first of three deployments does, by its model's name. */
const FAULTS: Readonly<Record<string, ModelFault>> = {
  hang: { fault: 'hang' },
  cut: { fault: 'cut' },
  'server-error': { fault: 'status', status: 500 },
  'rate-limit': { fault: 'status', status: 429, retryAfterSeconds: 60 },
  'bad-key': { fault: 'status', status: 401 },
  html: { fault: 'wrong-content-type' },
  'bad-frames': { fault: 'malformed-json' },
  'cut-mid-stream': { fault: 'cut-mid-stream', text: 'xxxx' },
  context: { fault: 'status', status: 400, code: 'context_length_exceeded' },
  policy: { fault: 'status', status: 400, code: 'content_policy_violation' },
  'bad-request': { fault: 'status', status: 400, message: 'bad tool schema' },
};

/** After these faults it is unknown whether the provider had worked. */
const MAY_HAVE_COST: ReadonlySet<string> = new Set(['hang', 'cut', 'server-error', 'bad-frames']);

let test: TestGateway;
let faulty: ModelServer;
let good: ModelServer;
let directory: string;
beforeAll(async () => {
  faulty = await startModelServer({
    script: (request) => FAULTS[request.body.model ?? ''] ?? { text: TEXT, usage: USAGE },
  });
  good = await startModelServer({ script: () => ({ text: TEXT, usage: USAGE, chunkLength: 6 }) });
  const place = (baseUrl: string, model: string): object => {
    // Only who may hang is not waited for.
    const firstByteTimeoutSeconds = baseUrl === faulty.url ? 1 : 30;
    return { provider: 'openai', baseUrl, model, apiKeyEnv: 'A_KEY', firstByteTimeoutSeconds };
  };
  const dead = `http://127.0.0.1:${await freePort()}/v1`;
  const three = (name: string, first: object): object => ({
    name: `of-three-${name}`,
    deployments: [first, place(good.url, 'gpt-4o'), place(good.url, 'gpt-4o-mini')],
  });
  const models = [
    three('dead', place(dead, 'gpt-4o')),
    ...Object.keys(FAULTS).map((name) => three(name, place(faulty.url, name))),
    { name: 'large', deployments: [place(good.url, 'gpt-4o')] },
    ...['context', 'policy', 'rate-limit', 'server-error'].map((name) => ({
      name: `falls-back-${name}`,
      deployments: [place(faulty.url, name)],
      fallbacks: { [name === 'policy' ? 'content-policy' : name === 'server-error' ? 'any' : name]: ['large'] },
    })),
  ];
  directory = await mkdtemp(path.join(os.tmpdir(), 'slipway-models-'));
  await writeFile(path.join(directory, 'models.json'), JSON.stringify({ models }));
  test = await startTestGateway({ LLM_MODELS_FILE: path.join(directory, 'models.json'), A_KEY: PROVIDER_KEY });
});
afterAll(async () => {
  await test?.close();
  await faulty?.close();
  await good?.close();
  await rm(directory, { recursive: true, force: true });
});

interface Answered {
  readonly whole: boolean;
  readonly code: string | null;
}

/** One call; `whole` says that the answer came as the good model gives it. */
async function ask(model: string, key: string, stream: boolean): Promise<Answered> {
  const response = await test.post(PATH, { model, stream, messages: [{ role: 'user', content: 'hi' }] }, key);
  let text = '';
  try {
    const decoder = new TextDecoder();
    for await (const part of response.body ?? []) text += decoder.decode(part as Uint8Array, { stream: true });
  } catch {
    // Broken off: what had come says why.
  }
  const whole =
    response.status === 200 &&
    (stream ? text.endsWith('data: [DONE]\n\n') && text.includes('whole') : text.includes(TEXT));
  return { whole, code: /"code":"([a-z-]+\.[a-z-]+)"/.exec(text)?.[1] ?? null };
}

/** Calls from ten callers at once, every second one streamed. */
async function askMany(model: string, count: number, key: string, stream?: boolean): Promise<Answered[]> {
  const answers: Answered[] = [];
  let next = 0;
  const caller = async (): Promise<void> => {
    while (next < count) {
      const number = next++;
      answers.push(await ask(model, key, stream ?? number % 2 === 0));
    }
  };
  await Promise.all(Array.from({ length: 10 }, caller));
  return answers;
}

describe('one of three deployments', () => {
  for (const fault of ['dead', 'hang', 'cut', 'server-error', 'rate-limit', 'bad-key', 'html', 'bad-frames']) {
    it(`that does nothing but "${fault}" costs no caller its answer, and each call is counted once`, async () => {
      const id = randomUUID();
      const asked = faulty.requests.length;
      // Whether a frame that is cut short is a piece of an answer can only be seen by who reads it: in a stream it
      // passes on.
      const answers = await askMany(
        `of-three-${fault}`,
        150,
        await test.key(id),
        fault === 'bad-frames' ? false : undefined,
      );
      expect(answers.filter(({ whole }) => !whole)).toEqual([]);
      // An attempt after which the provider may want money is a row of its own, and no other is.
      const lostAttempts = MAY_HAVE_COST.has(fault) ? faulty.requests.length - asked : 0;
      const rows = await test.ledger(id, 150 + lostAttempts);
      const answered = rows.filter((row) => row.status === 'ok');
      expect(answered).toHaveLength(150);
      expect(answered.every((row) => row.prompt_tokens === 11 && row.completion_tokens === 5)).toBe(true);
      const lost = rows.filter((row) => row.status === 'failed');
      expect(lost).toHaveLength(lostAttempts);
      expect(lost.every((row) => row.usage_source === 'estimated')).toBe(true);
      // Left alone soon: what was under way when it failed for the third time, and a probe now and then.
      expect(faulty.requests.length - asked).toBeLessThan(30);
    });
  }

  it('that cuts streams in the middle loses those few, with a code and what they used, and no answer in one piece', async () => {
    const id = randomUUID();
    const key = await test.key(id);
    const answers = await askMany('of-three-cut-mid-stream', 150, key, true);
    const broken = answers.filter(({ whole }) => !whole);
    expect(broken.every(({ code }) => code === 'model.unavailable')).toBe(true);
    expect(broken.length).toBeGreaterThan(0);
    expect(broken.length).toBeLessThan(15);
    const rows = await test.ledger(id, 150);
    const failed = rows.filter((row) => row.status === 'failed');
    expect(failed).toHaveLength(broken.length);
    expect(
      failed.every((row) => row.usage_source === 'estimated' && row.completion_tokens === 1 && row.prompt_tokens > 0),
    ).toBe(true);
  });

  it('that refuses the request for what it says is not asked again, and neither are the others', async () => {
    const id = randomUUID();
    const key = await test.key(id);
    const asked = faulty.requests.length;
    const answers = await askMany('of-three-bad-request', 60, key, false);
    const refused = answers.filter(({ whole }) => !whole);
    expect(refused.every(({ code }) => code === 'request.invalid')).toBe(true);
    expect(refused.length).toBe(faulty.requests.length - asked);
    expect(refused.length).toBeGreaterThan(0);
  });
});

describe('fallbacks', () => {
  for (const name of ['context', 'policy', 'rate-limit', 'server-error']) {
    it(`another model takes over for "${name}"`, async () => {
      const answers = await askMany(`falls-back-${name}`, 20, await test.key(randomUUID()));
      expect(answers.filter(({ whole }) => !whole)).toEqual([]);
    });
  }

  it('a prompt that is too long for a model without one is refused with that code', async () => {
    const answers = await askMany('of-three-context', 30, await test.key(randomUUID()), false);
    const refused = answers.filter(({ whole }) => !whole);
    expect(refused.length).toBeGreaterThan(0);
    expect(refused.every(({ code }) => code === 'model.context-exceeded')).toBe(true);
  });
});
