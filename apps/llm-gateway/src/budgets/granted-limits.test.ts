import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { BilledTurn } from '@slipway/testing';
import { type BilledCallPlan, type TrialResult } from './testing/billed-gateways.js';
import { broken, gateways, HARMLESS, setUpBilledGateways } from './testing/trials.js';

setUpBilledGateways();

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
