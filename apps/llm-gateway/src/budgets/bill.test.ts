import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { BilledTurn } from '@slipway/testing';
import { Call } from '../calls/call.js';
import { NO_USAGE } from '../calls/usage.js';
import { CallBound } from './call-bound.js';
import {
  type BilledCallPlan,
  type BilledGateways,
  SEARCHED_CONTEXT,
  startBilledGateways,
  type TrialResult,
} from './testing/billed-gateways.js';

/** Trials of the property; more by the environment. */
const TRIALS = Number(process.env['BILL_TRIALS'] ?? 20);
/** A broken variant is caught within so many. */
const BROKEN_TRIALS = 20;
const CALLS = 10;

let gateways: BilledGateways;
beforeAll(async () => {
  gateways = await startBilledGateways();
});
afterAll(() => gateways?.close());

/** Reproducible: the trial's number is its seed. */
function random(seed: number): () => number {
  let state = seed * 2_654_435_761 + 1;
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 3_266_489_917) >>> 0;
    return state / 4_294_967_296;
  };
}

const HARMLESS: BilledTurn = { text: 'a short answer' };

/** What a provider may do with a call: hidden reasoning without end, dense scripts, failures at any moment. */
function turnOf(next: () => number): BilledTurn {
  const work = {
    hiddenTokens: next() < 0.5 ? Math.floor(150_000 * next()) : 0,
    charactersPerToken: next() < 0.5 ? 1 : 4,
    // A token for each byte of what was asked, at most.
    promptTokens: Math.floor(20 + 80 * next()),
    writtenTokens: Math.floor(20 * next()),
    cachedTokens: Math.floor(20 * next()),
    searches: Math.floor(12 * next()),
    searchTokens: Math.floor((SEARCHED_CONTEXT - 100) * next()),
  };
  const text = '字'.repeat(Math.floor(4_000 * next()));
  const kind = next();
  if (kind < 0.55) return { text, work };
  if (kind < 0.65) return { fault: 'status', status: 500, work };
  if (kind < 0.75) return { fault: 'cut', work };
  if (kind < 0.85) return { fault: 'cut-mid-stream', text: 'begun', work };
  if (kind < 0.9) return { fault: 'status', status: 429, work };
  return { fault: 'error-in-stream', work };
}

function planOf(next: () => number): BilledCallPlan {
  const model = (['gpt', 'claude', 'pair'] as const)[Math.floor(3 * next())] ?? 'gpt';
  const path =
    (['/v1/chat/completions', '/v1/responses', '/v1/messages'] as const)[Math.floor(3 * next())] ?? '/v1/messages';
  if (next() < 0.1)
    return {
      gateway: Math.floor(3 * next()),
      path: '/v1/messages/count_tokens',
      model: 'claude',
      body: {},
      turns: [HARMLESS],
      aborts: false,
    };
  if (next() < 0.2) return searchPlan(next);
  if (next() < 0.15) return uncountedPlan(next);
  const chatLimit = next() < 0.5 ? 'max_completion_tokens' : 'max_tokens';
  const limit = path === '/v1/responses' ? 'max_output_tokens' : path === '/v1/messages' ? 'max_tokens' : chatLimit;
  const aborts = next() < 0.25;
  return {
    gateway: Math.floor(3 * next()),
    path,
    model,
    body: {
      stream: next() < 0.6,
      ...(next() < 0.4 ? { [limit]: Math.ceil(20_000 * next()) } : {}),
      ...(path === '/v1/chat/completions' && model === 'gpt' && next() < 0.3 ? { n: 1 + Math.floor(3 * next()) } : {}),
      ...(next() < 0.2 ? { service_tier: 'priority' } : {}),
      ...(next() < 0.1 ? { tools: [{ type: 'web_search', name: 'web_search' }] } : {}),
      ...(next() < 0.1 ? { nobody_knows_this: { max_tokens: 1 } } : {}),
    },
    turns: aborts
      ? [{ fault: next() < 0.5 ? 'hang' : 'hang-mid-stream', work: { hiddenTokens: 100_000, promptTokens: 90 } }]
      : [turnOf(next), HARMLESS],
    aborts,
  };
}

/** A call that may search, with or without a limit of its own. */
function searchPlan(next: () => number): BilledCallPlan {
  const most = next() < 0.5 ? { most: 1 + Math.floor(10 * next()) } : {};
  const [path, model, tool, bound] =
    next() < 0.5
      ? ([
          '/v1/messages',
          'claude-web',
          { type: 'web_search_20250305', name: 'web_search', ...('most' in most ? { max_uses: most.most } : {}) },
          {},
        ] as const)
      : ([
          '/v1/responses',
          'gpt-web',
          { type: 'web_search' },
          'most' in most ? { max_tool_calls: most.most } : {},
        ] as const);
  const aborts = next() < 0.2;
  const body = {
    stream: next() < 0.5,
    ...(path === '/v1/messages' ? { max_tokens: Math.ceil(4_000 * next()) } : {}),
    tools: [tool],
    ...bound,
  };
  const turns: BilledTurn[] = aborts
    ? [{ fault: 'hang-mid-stream', work: { searches: 9, searchTokens: 19_000, promptTokens: 90 } }]
    : [turnOf(next)];
  return {
    gateway: Math.floor(3 * next()),
    path,
    model,
    body: aborts ? { ...body, stream: true } : body,
    turns,
    aborts,
  };
}

/** A server that never counts, of what anybody may hear. */
function uncountedPlan(next: () => number): BilledCallPlan {
  const said = ['字', '💥', 'Zm9vYmFy', 'word '][Math.floor(4 * next())] ?? '字';
  const text = said.repeat(Math.floor(300 * next()));
  return {
    gateway: Math.floor(3 * next()),
    path: next() < 0.5 ? '/v1/chat/completions' : '/v1/messages',
    model: 'gpt',
    body: { stream: next() < 0.5, max_tokens: 2_000 },
    // A token for each byte is the most that there can be.
    turns: [
      {
        text,
        usage: null,
        work: {
          charactersPerToken: text.length / Math.max(1, Buffer.byteLength(text)),
          promptTokens: Math.floor(90 * next()),
        },
      },
    ],
    aborts: false,
  };
}

async function trial(number: number): Promise<TrialResult> {
  const next = random(number);
  const limitUsd = Math.round((0.02 + 1.5 * next() * next()) * 10_000) / 10_000;
  return gateways.trial(
    limitUsd,
    Array.from({ length: CALLS }, () => planOf(next)),
  );
}

/** A last place of a double is no money. */
const CENT_OF_NOTHING = 1e-9;

function broken({ billUsd, ledgerUsd, limitUsd }: TrialResult): string[] {
  return [
    ...(billUsd > ledgerUsd + CENT_OF_NOTHING ? [`the bill of ${billUsd} is above the ledger of ${ledgerUsd}`] : []),
    ...(ledgerUsd > limitUsd + CENT_OF_NOTHING
      ? [`the ledger of ${ledgerUsd} is above the budget of ${limitUsd}`]
      : []),
    ...(billUsd > limitUsd + CENT_OF_NOTHING ? [`the bill of ${billUsd} is above the budget of ${limitUsd}`] : []),
  ];
}

/** The property fails while this is so. */
async function isCaught(
  breakIt: () => () => void,
  trialOf: (number: number) => Promise<TrialResult> = trial,
): Promise<boolean> {
  const mend = breakIt();
  try {
    for (let number = 1; number <= BROKEN_TRIALS; number += 1)
      if (broken(await trialOf(number)).length > 0) return true;
    return false;
  } finally {
    mend();
  }
}

/** Another method in its place. */
function replace<T extends object, K extends keyof T>(of: T, name: K, by: T[K]): () => void {
  const own = of[name];
  of[name] = by;
  return () => {
    of[name] = own;
  };
}

describe('three gateways in front of providers that bill', () => {
  it(`the bill is never above the ledger, and neither is above the budget, in ${TRIALS} trials`, async () => {
    let [sent, refused] = [0, 0];
    for (let number = 1; number <= TRIALS; number += 1) {
      const result = await trial(number);
      expect({ number, broken: broken(result), result }).toEqual({ number, broken: [], result });
      sent += result.sent;
      refused += result.refused;
    }
    // Both sides of the budgets were reached.
    expect(sent).toBeGreaterThan(TRIALS);
    expect(refused).toBeGreaterThan(TRIALS / 2);
  });

  it('a gateway that counts tokens for nothing is caught', async () => {
    const counts = (): Promise<TrialResult> =>
      gateways.trial(1, [
        { gateway: 0, path: '/v1/messages/count_tokens', model: 'claude', body: {}, turns: [HARMLESS], aborts: false },
      ]);
    expect(await counts()).toMatchObject({ billUsd: expect.closeTo(0.001, 9), ledgerUsd: 0.001, sent: 1 });
    const free: Call['settle'] = function (this: Call, outcome) {
      settle.call(this, { ...outcome, costUsd: 0 });
    };
    const settle = Call.prototype.settle;
    expect(await isCaught(() => replace(Call.prototype, 'settle', free), counts)).toBe(true);
  });

  const searches = (): Promise<TrialResult> =>
    gateways.trial(0.2, [
      {
        gateway: 0,
        path: '/v1/messages',
        model: 'claude-web',
        body: { max_tokens: 500, tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: 50 }] },
        turns: [{ text: 'found', work: { searches: 12, searchTokens: 19_000 } }],
        aborts: false,
      },
    ]);

  it('a gateway that does not limit the searches is caught', async () => {
    expect(await searches()).toMatchObject({ sent: 1 });
    expect(broken(await searches())).toEqual([]);
    expect(await isCaught(() => replace(CallBound.prototype, 'searchesFor', () => 1_000), searches)).toBe(true);
  });

  it('a gateway that guesses four characters a token without a count is caught', async () => {
    const dense: BilledCallPlan = {
      gateway: 0,
      path: '/v1/chat/completions',
      model: 'gpt',
      body: { stream: true, max_tokens: 4_000 },
      turns: [{ text: '字'.repeat(1_000), usage: null, work: { charactersPerToken: 1 } }],
      aborts: false,
    };
    const calls = (): Promise<TrialResult> => gateways.trial(1, [dense]);
    expect(broken(await calls())).toEqual([]);
    const heard = CallBound.prototype.heard;
    const guess: CallBound['heard'] = function (this: CallBound, price, granted, bytes) {
      return { ...heard.call(this, price, granted, bytes), costUsd: (bytes / 12) * 1e-5 };
    };
    expect(await isCaught(() => replace(CallBound.prototype, 'heard', guess), calls)).toBe(true);
  });

  it('a gateway that does not write the limit is caught', async () => {
    expect(await isCaught(() => replace(CallBound.prototype, 'limitFor', () => null))).toBe(true);
  });

  it('a gateway that settles what was broken off by what was seen of it is caught', async () => {
    const seenOnly: CallBound['worst'] = (_price, _limit, counted, passedTokens) => ({
      usage: { ...(counted ?? NO_USAGE), completionTokens: passedTokens },
      costUsd: (passedTokens * 10) / 1_000_000,
    });
    expect(await isCaught(() => replace(CallBound.prototype, 'worst', seenOnly))).toBe(true);
  });

  it('a gateway that leaves failed attempts out of the ledger is caught', async () => {
    const lost: Call['lost'] = () => {};
    const failsFirst: BilledCallPlan = {
      gateway: 0,
      path: '/v1/chat/completions',
      model: 'pair',
      body: {},
      turns: [{ fault: 'status', status: 500, work: { hiddenTokens: 100_000 } }, HARMLESS],
      aborts: false,
    };
    const fails = (): Promise<TrialResult> => gateways.trial(2, [failsFirst]);
    expect(broken(await fails())).toEqual([]);
    expect(await isCaught(() => replace(Call.prototype, 'lost', lost), fails)).toBe(true);
  });
});

describe('an insider who wants more than the budget', () => {
  const once = async (limitUsd: number, plan: Partial<BilledCallPlan>): Promise<TrialResult> =>
    gateways.trial(limitUsd, [
      { gateway: 0, path: '/v1/chat/completions', model: 'gpt', body: {}, turns: [HARMLESS], aborts: false, ...plan },
    ]);
  const reasons: BilledTurn = { text: 'x', work: { hiddenTokens: 120_000, promptTokens: 20 } };

  it('gets no more than 0.02 USD of an answer in one piece with hidden reasoning', async () => {
    const result = await once(0.02, { turns: [reasons] });
    expect(result.sent).toBe(1);
    expect(broken(result)).toEqual([]);
    expect(result.billUsd).toBeLessThanOrEqual(0.02);
  });

  it('gets no more than 0.02 USD of a stream with hidden reasoning, in any dialect', async () => {
    for (const path of ['/v1/chat/completions', '/v1/responses', '/v1/messages'] as const)
      for (const model of ['gpt', 'claude'] as const) {
        const result = await once(0.02, {
          path,
          model,
          body: { stream: true, ...(path === '/v1/messages' ? { max_tokens: 64_000 } : {}) },
          turns: [reasons],
        });
        expect({ path, model, sent: result.sent, broken: broken(result) }).toEqual({
          path,
          model,
          sent: 1,
          broken: [],
        });
      }
  });

  it('gets no more by a name of the limit that the server does not know, alone or beside a null under the one that it knows', async () => {
    for (const body of [
      { max_completion_tokens: 50 },
      { max_completion_tokens: 50, max_tokens: null },
      { max_tokens: null },
      { max_tokens: 50 },
    ])
      for (const stream of [true, false]) {
        const result = await once(0.1, { body: { ...body, stream }, turns: [reasons] });
        expect({ body, stream, sent: result.sent, broken: broken(result) }).toEqual({
          body,
          stream,
          sent: 1,
          broken: [],
        });
      }
  });

  it('pays for all answers of a request for several, at the tier that was asked for', async () => {
    const result = await once(0.1, { body: { n: 4, service_tier: 'priority' }, turns: [reasons] });
    expect(result.sent).toBe(1);
    expect(broken(result)).toEqual([]);
  });

  it('is refused what costs another price, keeps something at the provider or is run there, by its name', async () => {
    const key = await gateways.key(`org_${randomUUID()}`);
    const asked = gateways.providers.map(({ requests }) => requests.length);
    const [chat, messages] = [
      { model: 'gpt', messages: [] },
      { model: 'claude', messages: [], max_tokens: 9 },
    ];
    const responses = { model: 'gpt', input: 'x' };
    for (const [url, body, field] of [
      ['/v1/chat/completions', { ...chat, service_tier: 'flex' }, 'service_tier'],
      ['/v1/chat/completions', { ...chat, web_search_options: {} }, 'web_search_options'],
      ['/v1/chat/completions', { ...chat, prediction: { type: 'content', content: 'x' } }, 'prediction'],
      ['/v1/chat/completions', { ...chat, modalities: ['text', 'audio'] }, 'modalities'],
      [
        '/v1/chat/completions',
        { ...chat, messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'file-1' } }] }] },
        'messages[0].content[0]',
      ],
      [
        '/v1/chat/completions',
        { ...chat, messages: [{ role: 'user', content: [{ type: 'input_audio', input_audio: {} }] }] },
        'messages[0].content[0]',
      ],
      ['/v1/responses', { ...responses, previous_response_id: 'resp_1' }, 'previous_response_id'],
      ['/v1/responses', { ...responses, conversation: 'conv_1' }, 'conversation'],
      ['/v1/responses', { ...responses, prompt: { id: 'pmpt_1' } }, 'prompt'],
      [
        '/v1/responses',
        { ...responses, context_management: [{ type: 'compaction', compact_threshold: 1 }] },
        'context_management',
      ],
      ['/v1/responses', { ...responses, input: [{ type: 'item_reference', id: 'rs_1' }] }, 'input[0]'],
      ['/v1/responses', { ...responses, tools: [{ type: 'mcp', server_url: 'https://evil.example' }] }, 'tools'],
      ['/v1/responses', { ...responses, tools: [{ type: 'code_interpreter', container: { type: 'auto' } }] }, 'tools'],
      ['/v1/responses', { ...responses, tools: [{ type: 'image_generation' }] }, 'tools'],
      ['/v1/messages', { ...messages, mcp_servers: [{ url: 'https://evil.example' }] }, 'mcp_servers'],
      ['/v1/messages', { ...messages, container: 'container_1' }, 'container'],
      ['/v1/messages', { ...messages, speed: 'fast' }, 'speed'],
      ['/v1/messages', { ...messages, inference_geo: 'us' }, 'inference_geo'],
      ['/v1/messages', { ...messages, tools: [{ type: 'web_search_20250305', name: 'web_search' }] }, 'tools'],
      [
        '/v1/messages',
        { ...messages, model: 'claude-web', tools: [{ type: 'web_search_20260209', name: 'web_search' }] },
        'tools',
      ],
      [
        '/v1/responses',
        { ...responses, model: 'gpt-web', tools: [{ type: 'namespace', name: 'n', tools: [{ type: 'web_search' }] }] },
        'tools',
      ],
      [
        '/v1/responses',
        { ...responses, model: 'gpt-web', input: [{ type: 'additional_tools', tools: [{ type: 'web_search' }] }] },
        'input[0]',
      ],
      ['/v1/messages', { ...messages, tools: [{ type: 'web_fetch_20250910', name: 'web_fetch' }] }, 'tools'],
      [
        '/v1/messages',
        {
          ...messages,
          messages: [{ role: 'user', content: [{ type: 'document', source: { type: 'file', file_id: 'f' } }] }],
        },
        'messages[0].content[0]',
      ],
    ] as const) {
      const response = await gateways.post(1, url, body, key);
      const { error } = (await response.json()) as { error: { code: string; message: string } };
      expect([field, response.status, error.code, error.message.split(':')[0]]).toEqual([
        field,
        400,
        'model.not-offered',
        field,
      ]);
    }
    expect(gateways.providers.map(({ requests }) => requests.length)).toEqual(asked);
  });

  it('reaches no route of the provider that reads, or goes on with, what is kept there', async () => {
    const key = await gateways.key(`org_${randomUUID()}`);
    const asked = gateways.providers.map(({ requests }) => requests.length);
    const paths = [
      '/v1/responses/resp_1',
      '/v1/responses/compact',
      '/v1/conversations',
      '/v1/files',
      '/v1/assistants',
      '/v1/threads',
      '/v1/containers',
      '/v1/batches',
    ];
    for (const url of [
      ...paths,
      '/v1/messages/batches',
      '/v1/vector_stores',
      '/v1/chat/completions/chatcmpl_1',
      '/v1/images/generations',
    ])
      expect([url, (await gateways.post(0, url, { model: 'gpt' }, key)).status]).toEqual([url, 404]);
    expect(gateways.providers.map(({ requests }) => requests.length)).toEqual(asked);
  });
});

describe('a search of the web by the provider, where the deployment has a price for it', () => {
  const sentBody = (): unknown => gateways.providers[0]?.requests.at(-1)?.body;

  it('is sent with the limit of the model, or with what a budget pays for, and never above that of the caller', async () => {
    const key = await gateways.key(`org_${randomUUID()}`);
    const tool = { type: 'web_search_20250305', name: 'web_search', blocked_domains: ['x.example'] };
    const asked = { model: 'claude-web', max_tokens: 100, messages: [{ role: 'user', content: 'x' }] };
    for (const [given, written] of [
      [{}, 4],
      [{ max_uses: 9 }, 4],
      [{ max_uses: 2 }, 2],
    ] as const) {
      expect((await gateways.post(0, '/v1/messages', { ...asked, tools: [{ ...tool, ...given }] }, key)).status).toBe(
        200,
      );
      expect(sentBody()).toMatchObject({ tools: [{ ...tool, max_uses: written }] });
    }
    const responses = { model: 'gpt-web', input: 'x', tools: [{ type: 'web_search' }] };
    expect((await gateways.post(0, '/v1/responses', responses, key)).status).toBe(200);
    expect(sentBody()).toMatchObject({ tools: responses.tools, max_tool_calls: 4 });
    expect((await gateways.post(0, '/v1/responses', { ...responses, max_tool_calls: 1 }, key)).status).toBe(200);
    expect(sentBody()).toMatchObject({ max_tool_calls: 1 });
  });

  it('is booked by what the provider counted of it', async () => {
    const searched: BilledTurn = { text: 'found', work: { searches: 3, searchTokens: 1_000, promptTokens: 50 } };
    for (const stream of [true, false])
      for (const [path, model, tool] of [
        ['/v1/messages', 'claude-web', { type: 'web_search_20250305', name: 'web_search' }],
        ['/v1/responses', 'gpt-web', { type: 'web_search' }],
      ] as const) {
        const body = { stream, tools: [tool], ...(path === '/v1/messages' ? { max_tokens: 100 } : {}) };
        const result = await gateways.trial(5, [{ gateway: 0, path, model, body, turns: [searched], aborts: false }]);
        expect({ path, stream, broken: broken(result), sent: result.sent }).toEqual({
          path,
          stream,
          broken: [],
          sent: 1,
        });
        expect(result.ledgerUsd).toBeCloseTo(result.billUsd, 8);
        expect(result.billUsd).toBeGreaterThan(0.03);
      }
  });

  it('is refused twice in one request, and with a limit that is none', async () => {
    const key = await gateways.key(`org_${randomUUID()}`);
    const tool = { type: 'web_search_20250305', name: 'web_search' };
    for (const tools of [
      [tool, { ...tool, name: 'again' }],
      [{ ...tool, max_uses: 0 }],
      [{ ...tool, max_uses: '9' }],
    ]) {
      const response = await gateways.post(
        0,
        '/v1/messages',
        { model: 'claude-web', max_tokens: 9, messages: [], tools },
        key,
      );
      expect([tools, response.status]).toEqual([tools, 400]);
      expect(await response.json()).toMatchObject({ error: { code: 'request.invalid' } });
    }
  });
});

describe('a request without a limit', () => {
  it('is sent with a limit and without unknown fields, and reports what was removed', async () => {
    const key = await gateways.key(`org_${randomUUID()}`);
    const body = {
      model: 'gpt',
      store: true,
      messages: [{ role: 'user', content: 'x' }],
      models: ['dearer'],
      'vendor field': 1,
    };
    const response = await gateways.post(0, '/v1/chat/completions', body, key);
    expect([response.status, response.headers.get('x-slipway-dropped-fields')]).toEqual([200, 'models,vendor?field']);
    const sent = gateways.providers[0]?.requests.at(-1)?.body;
    expect(sent).toEqual({ model: 'gpt', store: false, messages: body.messages, max_tokens: 32_768 });
  });

  it('passes through byte for byte when it says its own limit', async () => {
    const key = await gateways.key(`org_${randomUUID()}`);
    const body = {
      model: 'claude',
      max_tokens: 300,
      messages: [{ role: 'user', content: 'x' }],
      thinking: { type: 'enabled', budget_tokens: 100 },
    };
    await (await gateways.post(0, '/v1/messages', body, key)).text();
    expect(gateways.providers[0]?.requests.at(-1)?.raw.toString('utf8')).toBe(JSON.stringify(body));
  });
});
