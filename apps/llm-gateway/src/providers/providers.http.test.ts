import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startTestGateway, type TestGateway } from '../test-gateway.js';
import type { JsonObject } from '../wire/json.js';
import { framesOf, TEST_CALLERS } from './test-caller.js';
import { golden } from './test-golden.js';
import {
  startVendorServer,
  VENDOR_KEYS,
  VENDOR_MODELS,
  type VendorKind,
  type VendorServer,
} from './test-provider-server.js';

const KINDS = ['azure', 'gemini', 'bedrock'] as const;
const PATHS = { chat: '/v1/chat/completions', responses: '/v1/responses', messages: '/v1/messages' } as const;
type Caller = keyof typeof PATHS;
const CALLERS = Object.keys(PATHS) as Caller[];
const price = { input: 1, cachedInput: 0.1, cacheWrite: 1.25, output: 10 };

let test: TestGateway;
let key: string;
const folder = mkdtempSync(path.join(tmpdir(), 'models-'));
const vendors = new Map<VendorKind, VendorServer>();

beforeAll(async () => {
  for (const kind of KINDS) vendors.set(kind, await startVendorServer(kind));
  const deployment = (kind: VendorKind): object => ({
    provider: kind,
    baseUrl: vendors.get(kind)?.url,
    apiKeyEnv: `KEY_OF_${kind.toUpperCase()}`,
    model: VENDOR_MODELS[kind],
    ...(kind === 'bedrock' ? { region: 'eu-central-1' } : {}),
  });
  const careful = {
    name: 'careful',
    deployments: [deployment('azure')],
    fallbacks: { 'content-policy': ['by-gemini'], context: ['by-bedrock'] },
    facts: { price },
  };
  const file = path.join(folder, 'models.json');
  writeFileSync(
    file,
    JSON.stringify({
      models: [
        ...KINDS.map((kind) => ({ name: `by-${kind}`, deployments: [deployment(kind)], facts: { price } })),
        careful,
      ],
    }),
  );
  const keys = Object.fromEntries(KINDS.map((kind) => [`KEY_OF_${kind.toUpperCase()}`, VENDOR_KEYS[kind]]));
  test = await startTestGateway({ LLM_MODELS_FILE: file, ...keys });
  key = await test.key();
});
afterAll(async () => {
  await test.close();
  await Promise.all([...vendors.values()].map((vendor) => vendor.close()));
  rmSync(folder, { recursive: true });
});

const post = (caller: Caller, kind: VendorKind, body: JsonObject, by = key): Promise<Response> =>
  test.post(PATHS[caller], { ...body, model: `by-${kind}` }, by);

describe('models of Azure, Gemini and Bedrock behind the gateway', () => {
  for (const kind of KINDS) {
    it(`are asked by every dialect, streamed and not, and each call is counted once as ${kind} counted it`, async () => {
      const conversation = randomUUID();
      const own = await test.key(conversation);
      for (const caller of CALLERS) {
        for (const stream of [false, true]) {
          const { first, next, seen, assemble } = TEST_CALLERS[caller];
          const ask = async (body: JsonObject): Promise<JsonObject> => {
            const response = await post(caller, kind, body, own);
            expect(response.status).toBe(200);
            return stream ? assemble(framesOf(await response.text())) : ((await response.json()) as JsonObject);
          };
          const begun = await ask(first(stream));
          expect(seen(begun).calls.map(({ name }) => name)).toEqual(['terminal', 'read_file']);
          expect(seen(await ask(next(first(stream), begun))).text).toBe('There are two files.');
        }
      }
      const rows = await test.ledger(conversation, 12);
      const { completion, cached } = {
        azure: { completion: 41, cached: 4_010 },
        gemini: { completion: 169, cached: 4_010 },
        bedrock: { completion: 169, cached: 3_510 },
      }[kind];
      expect(rows).toHaveLength(12);
      for (const [index, row] of rows.entries()) {
        expect(row).toMatchObject({ model: `by-${kind}`, status: 'ok', usage_source: 'reported', cost_known: true });
        if (index % 2 === 0)
          expect(row).toMatchObject({ prompt_tokens: 4_120, completion_tokens: completion, cached_tokens: cached });
      }
    });
  }

  it('take over for each other what one refuses for its content or its length', async () => {
    const json = { 'content-type': 'application/json' };
    const long = Buffer.from('{"error":{"code":"context_length_exceeded","message":"too long"}}');
    for (const [body, by] of [
      [golden('azure/filters-the-prompt.json'), 'gemini'],
      [long, 'bedrock'],
    ] as const) {
      const before = vendors.get(by)?.requests.length ?? 0;
      vendors.get('azure')?.next({ status: 400, headers: json, body });
      const response = await test.post(PATHS.chat, { ...TEST_CALLERS.chat.first(true), model: 'careful' }, key);
      if (response.status !== 200) throw new Error(await response.text());
      expect(TEST_CALLERS.chat.seen(TEST_CALLERS.chat.assemble(framesOf(await response.text()))).calls).toHaveLength(2);
      expect(vendors.get(by)?.requests).toHaveLength(before + 1);
    }
  });

  it('say by our codes and in each dialect that content, a rate or a key was refused, and when to come back', async () => {
    const json = { 'content-type': 'application/json' };
    const throttled = Buffer.from('{"message":"Too many tokens, please wait before trying again."}');
    const refused: ReadonlyArray<[VendorKind, () => void, number, string, string | null]> = [
      [
        'azure',
        () => vendors.get('azure')?.next({ status: 400, headers: json, body: golden('azure/filters-the-prompt.json') }),
        400,
        'model.content-policy',
        null,
      ],
      [
        'gemini',
        () =>
          vendors.get('gemini')?.next({ status: 200, headers: json, body: golden('gemini/blocks-the-prompt.json') }),
        400,
        'model.content-policy',
        null,
      ],
      [
        'gemini',
        () => vendors.get('gemini')?.next({ status: 400, headers: json, body: golden('gemini/refuses-the-key.json') }),
        401,
        'model.auth',
        null,
      ],
      [
        'gemini',
        () => vendors.get('gemini')?.next({ status: 429, headers: json, body: golden('gemini/limits-the-rate.json') }),
        429,
        'model.rate-limited',
        '35',
      ],
      [
        'bedrock',
        () =>
          vendors
            .get('bedrock')
            ?.next({ status: 429, headers: { ...json, 'x-amzn-errortype': 'ThrottlingException' }, body: throttled }),
        429,
        'model.rate-limited',
        null,
      ],
    ];
    for (const [index, [kind, refuse, status, code, retryAfter]] of refused.entries()) {
      const caller = CALLERS[index % CALLERS.length] ?? 'chat';
      refuse();
      const response = await post(caller, kind, TEST_CALLERS[caller].first(false));
      const body = (await response.json()) as { type?: string; error: { code: string; message: string } };
      expect([kind, response.status, body.error.code, response.headers.get('retry-after')]).toEqual([
        kind,
        status,
        code,
        retryAfter,
      ]);
      expect(body.type).toBe(caller === 'messages' ? 'error' : undefined);
      expect(body.error.message).not.toContain(VENDOR_KEYS[kind]);
    }
  });

  it('that fail in the middle of a stream end it with an error of ours, which no caller takes for an end', async () => {
    const stream = { 'content-type': 'application/vnd.amazon.eventstream' };
    for (const caller of CALLERS) {
      vendors.get('bedrock')?.next({ status: 200, headers: stream, body: golden('bedrock/limits-midway.events.json') });
      const response = await post(caller, 'bedrock', TEST_CALLERS[caller].first(true));
      const said: string[] = [];
      const decoder = new TextDecoder();
      await (async () => {
        for await (const chunk of response.body ?? []) said.push(decoder.decode(chunk as Uint8Array, { stream: true }));
      })().catch(() => null);
      const text = said.join('');
      expect(text).toContain('There ');
      expect(text).toContain('"model.rate-limited"');
      expect(text).not.toMatch(/\[DONE\]|"message_stop"|"response.completed"/);
    }
  });
});
