import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { until } from '@slipway/testing';
import { writeMessage } from '../providers/test-event-stream.js';
import { startTestGateway, type TestGateway } from '../test-gateway.js';

const data = (frame: object | string, event?: string): string =>
  `${event === undefined ? '' : `event: ${event}\n`}data: ${typeof frame === 'string' ? frame : JSON.stringify(frame)}\n\n`;

const event = (type: string, payload: object | string): Buffer =>
  writeMessage(
    { ':message-type': 'event', ':event-type': type, ':content-type': 'application/json' },
    Buffer.from(typeof payload === 'string' ? payload : JSON.stringify(payload)),
  );

/** A stream of each API: its beginning, and what says that it is whole. */
const STREAMS: Readonly<Record<string, { begins: string; ends: string }>> = {
  chat: {
    begins: data({
      id: 'c',
      model: 'm',
      choices: [{ index: 0, delta: { role: 'assistant', content: 'half' }, finish_reason: null }],
    }),
    ends:
      data({ id: 'c', model: 'm', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }) +
      data({ id: 'c', model: 'm', choices: [], usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 } }) +
      data('[DONE]'),
  },
  responses: {
    begins:
      data(
        {
          type: 'response.created',
          sequence_number: 0,
          response: { id: 'r', model: 'm', status: 'in_progress', output: [] },
        },
        'response.created',
      ) +
      data(
        {
          type: 'response.output_text.delta',
          sequence_number: 1,
          output_index: 0,
          item_id: 'i',
          content_index: 0,
          delta: 'half',
        },
        'response.output_text.delta',
      ),
    ends: data(
      {
        type: 'response.completed',
        sequence_number: 2,
        response: {
          id: 'r',
          model: 'm',
          status: 'completed',
          output: [],
          usage: { input_tokens: 5, output_tokens: 2, total_tokens: 7 },
        },
      },
      'response.completed',
    ),
  },
  messages: {
    begins:
      data(
        {
          type: 'message_start',
          message: { id: 'm', model: 'm', content: [], usage: { input_tokens: 5, output_tokens: 1 } },
        },
        'message_start',
      ) +
      data(
        { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
        'content_block_start',
      ) +
      data(
        { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'half' } },
        'content_block_delta',
      ),
    ends:
      data({ type: 'content_block_stop', index: 0 }, 'content_block_stop') +
      data(
        { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } },
        'message_delta',
      ) +
      data({ type: 'message_stop' }, 'message_stop'),
  },
  gemini: {
    begins: data({ candidates: [{ content: { role: 'model', parts: [{ text: 'half' }] } }] }),
    ends: data({
      candidates: [{ content: { parts: [] }, finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 2 },
    }),
  },
};
const BEDROCK = {
  begins: Buffer.concat([
    event('messageStart', { role: 'assistant' }),
    event('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'half' } }),
  ]),
  ends: Buffer.concat([
    event('messageStop', { stopReason: 'end_turn' }),
    event('metadata', { usage: { inputTokens: 5, outputTokens: 2 } }),
  ]),
};
const PROVIDERS = [...Object.keys(STREAMS), 'bedrock'];

/** What a provider says up to the end of its stream. */
function streamOf(name: string, garbage: boolean, ends: boolean): Buffer {
  const { begins, ends: end } = STREAMS[name] ?? BEDROCK;
  const noise =
    name === 'bedrock' ? event('contentBlockDelta', 'not json') : Buffer.from(data('not json') + data('{"cut":'));
  return Buffer.concat([Buffer.from(begins), ...(garbage ? [noise] : []), ...(ends ? [Buffer.from(end)] : [])]);
}
const CALLERS: Readonly<Record<string, { path: string; body: object; error: RegExp }>> = {
  chat: {
    path: '/v1/chat/completions',
    body: { messages: [{ role: 'user', content: 'hi' }] },
    error: /data: \{"error":\{"message":".*in the middle/,
  },
  responses: { path: '/v1/responses', body: { input: 'hi' }, error: /"type":"response\.failed".*in the middle/ },
  messages: {
    path: '/v1/messages',
    body: { max_tokens: 50, messages: [{ role: 'user', content: 'hi' }] },
    error: /"type":"error".*in the middle/,
  },
};

let provider: Server;
let said: Buffer = Buffer.alloc(0);
let contentType = '';
let folder: string;
let test: TestGateway;
beforeAll(async () => {
  provider = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(200, { 'content-type': contentType }).end(said));
  });
  await new Promise<void>((resolve) => provider.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
  folder = await mkdtemp(path.join(os.tmpdir(), 'slipway-endings-'));
  const place = (name: string): object => ({
    name: `m-${name}`,
    deployments: [
      name === 'bedrock'
        ? {
            provider: 'bedrock',
            model: 'anthropic.claude',
            region: 'eu-central-1',
            apiKeyEnv: 'A_KEY',
            baseUrl: origin,
          }
        : name === 'gemini'
          ? { provider: 'gemini', model: 'gemini-2.5-flash', apiKeyEnv: 'A_KEY', baseUrl: `${origin}/v1beta` }
          : {
              provider: name === 'messages' ? 'anthropic' : 'openai',
              model: 'm',
              speaks: [name],
              apiKeyEnv: 'A_KEY',
              baseUrl: `${origin}/v1`,
            },
    ],
  });
  const file = path.join(folder, 'models.json');
  await writeFile(file, JSON.stringify({ models: PROVIDERS.map(place) }));
  test = await startTestGateway({ LLM_MODELS_FILE: file, A_KEY: 'k' });
});
afterAll(async () => {
  await test.close();
  provider.close();
  await rm(folder, { recursive: true, force: true });
});

/** What a caller gets of a stream, and the row of the ledger. */
async function call(
  caller: string,
  name: string,
  stream: Buffer,
  more: object = {},
): Promise<{ text: string; broken: boolean; row: { status: string; error_code: string | null } }> {
  said = stream;
  contentType = name === 'bedrock' ? 'application/vnd.amazon.eventstream' : 'text/event-stream';
  const conversation = randomUUID();
  const { path: where, body } = CALLERS[caller] ?? { path: '', body: {} };
  const response = await test.post(
    where,
    { model: `m-${name}`, stream: true, ...body, ...more },
    await test.key(conversation),
  );
  let text = '';
  let broken = false;
  const decoder = new TextDecoder();
  try {
    for await (const part of response.body ?? []) text += decoder.decode(part as Uint8Array, { stream: true });
  } catch {
    broken = true;
  }
  const [row] = await until('its row', async () => {
    const { rows } = await test.owner.query<{ status: string; error_code: string | null }>(
      'SELECT status, error_code FROM gateway.ledger WHERE conversation_id = $1',
      [conversation],
    );
    return rows.length > 0 ? rows : null;
  });
  return { text, broken, row: row as { status: string; error_code: string | null } };
}

describe('a stream', () => {
  for (const caller of Object.keys(CALLERS))
    for (const name of PROVIDERS) {
      it(`of ${name}, asked in ${caller}, that ends without saying so is a failure`, async () => {
        const { text, broken, row } = await call(caller, name, streamOf(name, false, false));
        expect(text).toMatch(CALLERS[caller]?.error ?? /^$/);
        expect(text).not.toContain('[DONE]');
        expect([broken, row.status, row.error_code]).toEqual([true, 'failed', 'model.bad-response']);
      });

      it(`of ${name}, asked in ${caller}, with garbage in it is read without it`, async () => {
        const { text, broken, row } = await call(caller, name, streamOf(name, true, true));
        expect(text).toContain('half');
        expect(text).not.toContain('not json');
        expect(text).not.toContain('"cut"');
        expect([broken, row.status, row.error_code]).toEqual([false, 'ok', null]);
      });
    }

  for (const name of PROVIDERS)
    it(`of ${name}, asked in chat, has a frame of counts only for a caller who asked for it`, async () => {
      const counts = /"choices":\[\]/;
      for (const [options, wanted] of [
        [undefined, false],
        [{ include_usage: false }, false],
        [{ include_usage: true }, true],
      ] as const) {
        const { text, row } = await call(
          'chat',
          name,
          streamOf(name, false, true),
          options === undefined ? {} : { stream_options: options },
        );
        expect([options, counts.test(text), text.includes('[DONE]'), row.status]).toEqual([
          options,
          wanted,
          true,
          'ok',
        ]);
      }
    });
});
