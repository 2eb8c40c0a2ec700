import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { completionOf, frame, framesOf } from './completion-wire.js';
import { messageEventsOf, messageOf } from './messages-wire.js';
import type {
  ModelFault,
  ModelRequest,
  ModelRequestBody,
  ModelScript,
  ModelTurn,
  ScriptedAnswer,
} from './model-script.js';
import { responseEventsOf, responseOf } from './responses-wire.js';

/** How an answer is said at each path: whole, as events, and what ends the stream. */
const DIALECTS: Readonly<Record<string, { whole: typeof completionOf; events: typeof framesOf; end: string }>> = {
  '/v1/chat/completions': { whole: completionOf, events: framesOf, end: 'data: [DONE]\n\n' },
  '/v1/messages': { whole: messageOf, events: messageEventsOf, end: '' },
  '/v1/responses': { whole: responseOf, events: responseEventsOf, end: '' },
};

export interface ModelServer {
  /** Base URL as LLM_BASE_URL wants it, ending in `/v1`. */
  readonly url: string;
  /** Every completion request so far, in order of arrival. */
  readonly requests: readonly ModelRequest[];
  /** From now on another script; requests under way keep theirs. */
  use(script: ModelScript): void;
  close(): Promise<void>;
}

export interface ModelServerOptions {
  readonly script: ModelScript;
  /** Answers of `GET /v1/models`. */
  readonly models?: readonly string[];
  /** When set, requests without it as `Authorization: Bearer` or `x-api-key` are answered 401. */
  readonly apiKey?: string;
  readonly port?: number;
  /**
   * Hears of each `POST /v1/messages/count_tokens` and answers the tokens; without it the server does not count (404).
   */
  readonly counted?: (body: ModelRequestBody) => number;
}

/**
 * A model provider under a test's control: a real HTTP server on loopback that speaks OpenAI's chat completions and
 * responses and Anthropic's messages, streamed and not; faults have the form of completions. A list that is used up,
 * and a script that throws, answer 500 with the reason, so that the test sees it.
 */
export async function startModelServer(options: ModelServerOptions): Promise<ModelServer> {
  const requests: ModelRequest[] = [];
  let script = options.script;
  let used = 0;

  const next = async (request: ModelRequest): Promise<ModelTurn> => {
    if (typeof script === 'function') return script(request);
    const turn = script[used];
    used += 1;
    return (
      turn ?? {
        fault: 'status',
        status: 500,
        message: `the script has ${script.length} turns and this is request ${used}`,
      }
    );
  };

  const server = createServer((incoming, response) => {
    void serve(incoming, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else sendError(response, { fault: 'status', status: 500, message: `model server: ${String(error)}` });
    });
  });

  const serve = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = (incoming.url ?? '').split('?')[0] ?? '';
    const raw = await readAll(incoming);
    if (
      options.apiKey !== undefined &&
      incoming.headers.authorization !== `Bearer ${options.apiKey}` &&
      incoming.headers['x-api-key'] !== options.apiKey
    ) {
      return sendError(response, {
        fault: 'status',
        status: 401,
        message: 'Incorrect API key provided.',
        code: 'invalid_api_key',
      });
    }
    if (path === '/v1/models') {
      const data = (options.models ?? ['scripted']).map((id) => ({
        id,
        object: 'model',
        created: 1_700_000_000,
        owned_by: 'scripted',
      }));
      return void response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ object: 'list', data }));
    }
    if (path === '/v1/messages/count_tokens' && options.counted !== undefined) {
      const tokens = options.counted(JSON.parse(raw.toString('utf8')) as ModelRequestBody);
      return void response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ input_tokens: tokens }));
    }
    if (DIALECTS[path] === undefined)
      return sendError(response, { fault: 'status', status: 404, message: `no route ${path}` });
    const body = JSON.parse(raw.toString('utf8')) as ModelRequestBody;
    const request: ModelRequest = {
      number: requests.length + 1,
      path,
      headers: incoming.headers,
      raw,
      body,
      at: performance.now(),
      abortedAt: null,
      finished: false,
    };
    requests.push(request);
    response.on('close', () => {
      if (response.writableFinished) request.finished = true;
      else request.abortedAt = performance.now();
    });
    const turn = await next(request);
    if ('fault' in turn) await misbehave(request, response, turn);
    else await answer(request, response, turn);
  };

  await new Promise<void>((resolve, reject) =>
    server.once('error', reject).listen(options.port ?? 0, '127.0.0.1', resolve),
  );
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    requests,
    use: (other) => {
      script = other;
      used = 0;
    },
    close: () => {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      return closed;
    },
  };
}

async function answer(request: ModelRequest, response: ServerResponse, turn: ScriptedAnswer): Promise<void> {
  if (turn.delayMs !== undefined) await wait(turn.delayMs);
  const { whole, events, end } = DIALECTS[request.path] ?? { whole: completionOf, events: framesOf, end: '' };
  if (request.body.stream !== true)
    return void response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify(whole(request, turn)));
  openStream(response);
  for (const text of events(request, turn)) {
    if (response.destroyed) return;
    response.write(text);
    if (turn.chunkDelayMs !== undefined) await wait(turn.chunkDelayMs);
  }
  if (turn.lingerMs !== undefined) {
    response.write(end);
    await wait(turn.lingerMs);
    return void response.end();
  }
  response.end(end);
}

async function misbehave(request: ModelRequest, response: ServerResponse, fault: ModelFault): Promise<void> {
  const stream = request.body.stream === true;
  switch (fault.fault) {
    case 'status':
      return sendError(response, fault);
    case 'hang':
      return;
    case 'cut':
      return void response.destroy();
    case 'hang-mid-stream':
      return begin(request, response, fault.text);
    case 'cut-mid-stream':
      begin(request, response, fault.text);
      // The bytes before the cut must have left, or the client sees a connection that never answered.
      await wait(20);
      return void response.destroy();
    case 'error-in-stream':
      begin(request, response, fault.text);
      return void response.end(
        `${frame({ error: { message: fault.message ?? 'The server had an error', type: 'server_error', code: null } })}data: [DONE]\n\n`,
      );
    case 'malformed-json':
      if (!stream)
        return void response
          .writeHead(200, { 'content-type': 'application/json' })
          .end('{"id":"chatcmpl-1","choices":[{"message":');
      openStream(response);
      return void response.end('data: {"id":"chatcmpl-1","choices":[{"delta":\n\ndata: [DONE]\n\n');
    case 'malformed-sse':
      openStream(response);
      response.write(`:\n\n\n\ndata\nevent: nothing\nid 5\n{"no":"field"}\ndata: not json\n\n`);
      for (const text of framesOf(request, { text: 'after the noise' })) response.write(text);
      return void response.end('data: [DONE]\n\n');
    case 'huge-line': {
      const bytes = fault.bytes ?? 10 * 1024 * 1024;
      if (stream) openStream(response);
      else response.writeHead(200, { 'content-type': 'application/json' });
      response.write(stream ? 'data: {"id":"x","choices":[{"delta":{"content":"' : '{"x":"');
      const piece = Buffer.alloc(64 * 1024, 0x61);
      for (let sent = 0; sent < bytes && !response.destroyed; sent += piece.length) {
        if (!response.write(piece)) await drained(response);
      }
      return void response.end();
    }
    case 'wrong-content-type':
      return void response
        .writeHead(200, { 'content-type': 'text/html' })
        .end('<!doctype html><title>Login</title><p>Please sign in to the proxy.</p>');
    case 'nonsense':
      if (!stream)
        return void response
          .writeHead(200, { 'content-type': 'application/json' })
          .end('{"weather":"sunny","choices":"none"}');
      openStream(response);
      return void response.end(`${frame({ weather: 'sunny' })}${frame([1, 2, 3])}${frame('text')}data: [DONE]\n\n`);
  }
}

/** Until the client has taken what was written, or is gone. */
function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done).off('close', done);
      resolve();
    };
    response.on('drain', done).on('close', done);
  });
}

/** Head and first text of a stream that will not end well. */
function begin(request: ModelRequest, response: ServerResponse, text = 'The beginning of an answer'): void {
  openStream(response);
  const frames = [...framesOf(request, { text })];
  for (const part of frames.slice(0, frames.findLastIndex((candidate) => candidate.includes('"content"')) + 1))
    response.write(part);
}

function openStream(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  response.flushHeaders();
}

function sendError(response: ServerResponse, fault: Extract<ModelFault, { fault: 'status' }>): void {
  response
    .writeHead(fault.status, {
      'content-type': 'application/json',
      ...(fault.retryAfterSeconds === undefined ? {} : { 'retry-after': String(fault.retryAfterSeconds) }),
    })
    .end(
      fault.body ??
        JSON.stringify({
          error: {
            message: fault.message ?? `scripted ${fault.status}`,
            type: 'scripted',
            code: fault.code ?? null,
            param: null,
          },
        }),
    );
}

async function readAll(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of stream) parts.push(part);
  return Buffer.concat(parts);
}
