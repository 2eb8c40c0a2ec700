import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { SlipwayError } from '@slipway/errors';
import { makeTraceparent, traceIdOf } from '@slipway/telemetry';
import { DemoCall } from '../demo-model/demo-call.js';
import type { KeyCache } from '../keys/key-cache.js';
import { bearerToken } from '../keys/master-key.js';
import { sendOpenAiError } from '../openai-error.js';
import { Call, type CallSinks } from './call.js';
import type { Models } from './models.js';
import { readBody } from './request-body.js';
import { askForUsage, readRoutingFields } from './routing-fields.js';
import type { Upstream } from './upstream.js';
import { UpstreamCall } from './upstream-call.js';

export interface CompletionsOptions extends CallSinks {
  readonly keys: KeyCache;
  readonly models: Models;
  readonly upstream: Upstream | null;
  /** Pause between two pieces of the demo model's text. Milliseconds. */
  readonly demoDelayMs: number;
  /** Aborted when the process must end: calls that are still under way end with `service.unavailable`. */
  readonly shutdown: AbortSignal;
}

const REQUEST_ID = /^[A-Za-z0-9._-]{8,64}$/;
const PATHS = new Set(['/v1/chat/completions', '/chat/completions']);

/** The hot path. Answers `true` for a request that is a completion and takes it over; the others are for the control routes. */
export function createCompletionsRoute(options: CompletionsOptions): (request: IncomingMessage, response: ServerResponse) => boolean {
  return (request, response) => {
    if (request.method !== 'POST' || !PATHS.has((request.url ?? '').split('?', 1)[0] ?? '')) return false;
    void answer(options, request, response);
    return true;
  };
}

async function answer(options: CompletionsOptions, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const givenId = request.headers['x-request-id'];
  const requestId = typeof givenId === 'string' && REQUEST_ID.test(givenId) ? givenId : `req_${randomUUID()}`;
  response.setHeader('x-request-id', requestId);
  try {
    await carry(options, request, response, requestId);
  } catch (thrown) {
    if (response.headersSent || response.destroyed) return void response.destroy();
    // What is left of the body is not read: the connection cannot be used again.
    if (!request.complete) response.setHeader('connection', 'close');
    const { error, status } = sendOpenAiError(response, thrown);
    options.metrics.refused.inc({ code: error.code });
    const line = { request_id: requestId, code: error.code, status, reason: error.message, err: error.more.cause };
    if (status >= 500) options.logger.error(line, 'completion refused');
    else options.logger.debug(line, 'completion refused');
  }
}

async function carry(options: CompletionsOptions, request: IncomingMessage, response: ServerResponse, requestId: string): Promise<void> {
  const token = bearerToken(request.headers.authorization);
  const known = options.keys.authenticate(token);
  const key = known instanceof Promise ? await known : known;
  const body = await readBody(request);
  const fields = readRoutingFields(body);
  const place = options.models.route(fields.model, key.models);
  if (response.destroyed) return;
  const traceparent = request.headers['traceparent'];
  const traceId = traceIdOf(typeof traceparent === 'string' ? traceparent : undefined);
  const call = new Call({ key, requestId, traceId, model: fields.model, streamed: fields.stream }, options);
  if (place === 'demo') return new DemoCall(call, response, { body, stream: fields.stream, delayMs: options.demoDelayMs, signal: options.shutdown }).start();
  const { upstream } = options;
  if (upstream === null) throw new SlipwayError('model.unknown', 'No model provider is set up.');
  const sent = fields.stream ? askForUsage(body, fields) : body;
  const handler = new UpstreamCall(call, response, { bytes: sent.length, stream: fields.stream, apiKey: upstream.apiKey, signal: options.shutdown });
  upstream.dispatcher.dispatch(
    {
      origin: upstream.origin,
      path: upstream.path,
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: fields.stream ? 'text/event-stream' : 'application/json',
        'user-agent': 'slipway-llm-gateway',
        traceparent: makeTraceparent(traceId),
        ...(upstream.apiKey === null ? {} : { authorization: `Bearer ${upstream.apiKey}` }),
      },
      body: sent,
    },
    handler,
  );
}
