import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { SlipwayError } from '@slipway/errors';
import type { Dispatcher } from 'undici';
import { errorFrame, sendOpenAiError } from '../openai-error.js';
import type { Call } from './call.js';
import { StreamUsageReader } from './stream-usage-reader.js';
import { brokenOf, inStreamErrorOf, refusalOf } from './upstream-failure.js';
import { estimateTokens, NO_USAGE, type Usage, usageOf } from './usage.js';

/** Longest answer that is not a stream. Bytes. */
const MAX_ANSWER = 32 * 1024 * 1024;
/** Of a refusal, this much is read. Bytes. */
const MAX_REFUSAL = 64 * 1024;

type Mode = 'waiting' | 'stream' | 'whole' | 'refused';

/**
 * Carries one answer of the provider to the caller.
 *
 * A stream passes through as the buffers that arrive, at the caller's pace, and is read beside. An answer in one piece is held until it is whole, so
 * that its cost can stand in a header. Every failure has a code; after the first byte of a stream it comes as an error frame, and the connection is then
 * broken off, so that no client takes the rest for an end. When the caller goes away the provider's connection is closed at once.
 */
export class UpstreamCall implements Dispatcher.DispatchHandler {
  private controller: Dispatcher.DispatchController | null = null;
  private mode: Mode = 'waiting';
  private status = 0;
  private retryAfter: string | undefined;
  private contentType = '';
  private parts: Buffer[] = [];
  private length = 0;
  private readonly reader = new StreamUsageReader();
  private over = false;

  constructor(
    private readonly call: Call,
    private readonly response: ServerResponse,
    private readonly request: { readonly bytes: number; readonly stream: boolean; readonly apiKey: string | null; readonly signal: AbortSignal },
  ) {
    response.once('close', this.onCallerGone);
    request.signal.addEventListener('abort', this.onShutdown, { once: true });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    if (this.over) controller.abort(new Error('the caller has gone'));
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (this.over || status < 200) return;
    this.call.firstByte();
    this.status = status;
    this.contentType = headers['content-type'] ?? '';
    const retryAfter = headers['retry-after'];
    this.retryAfter = typeof retryAfter === 'string' ? retryAfter : undefined;
    if (status >= 300) this.mode = 'refused';
    else if (/^text\/event-stream\b/i.test(this.contentType) && this.request.stream) this.beginStream();
    else if (/\bjson\b/i.test(this.contentType)) this.mode = 'whole';
    else
      this.fail(
        new SlipwayError(
          'model.bad-response',
          `The model's address answers with ${this.contentType.slice(0, 100) || 'no content type'}, which is not a completion; correct LLM_BASE_URL.`,
        ),
        'none',
      );
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.over) return;
    if (this.mode === 'stream') {
      if (!this.response.write(chunk)) {
        controller.pause();
        this.response.once('drain', () => controller.resume());
      }
      this.reader.push(chunk);
      return;
    }
    this.length += chunk.length;
    if (this.mode === 'refused') {
      this.parts.push(chunk);
      if (this.length > MAX_REFUSAL) this.refuse();
      return;
    }
    this.parts.push(chunk);
    if (this.length > MAX_ANSWER) this.fail(new SlipwayError('model.bad-response', 'The answer of the model is larger than 32 MiB.'), 'estimated');
  }

  onResponseEnd(): void {
    if (this.over) return;
    if (this.mode === 'stream') this.endStream();
    else if (this.mode === 'refused') this.refuse();
    else this.endWhole(Buffer.concat(this.parts));
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    // A provider that was never reached has counted nothing.
    const reached = this.mode !== 'waiting' || (error as NodeJS.ErrnoException).code === 'UND_ERR_HEADERS_TIMEOUT';
    this.fail(brokenOf(error, this.mode !== 'waiting'), reached && this.mode !== 'refused' ? 'estimated' : 'none');
  }

  private beginStream(): void {
    this.mode = 'stream';
    this.response.writeHead(200, { 'content-type': this.contentType, 'cache-control': 'no-cache', 'x-accel-buffering': 'no' });
    // With the first chunk if it is here already, else now.
    setImmediate(() => {
      if (!this.over) this.response.flushHeaders();
    });
  }

  private endStream(): void {
    const { error, chunks, usage } = this.reader;
    this.finish();
    this.response.end();
    if (error !== null) this.settleFailed(inStreamErrorOf(error, this.request.apiKey), 'estimated');
    else if (chunks === 0) this.settleFailed(new SlipwayError('model.bad-response', 'The stream held no chunk of a completion.'), 'estimated');
    else this.call.settle({ status: 'ok', usage: usage ?? this.estimate(), source: usage === null ? 'estimated' : 'reported' });
  }

  private endWhole(body: Buffer): void {
    let value: unknown;
    try {
      value = JSON.parse(body.toString('utf8'));
    } catch {
      value = null;
    }
    const completion = value as { choices?: unknown; usage?: unknown; error?: unknown } | null;
    if (typeof completion !== 'object' || completion === null || !Array.isArray(completion.choices)) {
      const error = typeof completion === 'object' ? completion?.error : undefined;
      const isError = typeof error === 'object' && error !== null;
      this.fail(
        isError ? inStreamErrorOf(error, this.request.apiKey) : new SlipwayError('model.bad-response', 'The answer of the model is not a completion.'),
        isError ? 'none' : 'estimated',
      );
      return;
    }
    this.reader.characters = JSON.stringify(completion.choices).length;
    const reported = usageOf(completion.usage);
    const usage = reported ?? this.estimate();
    this.finish();
    this.response.writeHead(200, {
      'content-type': this.contentType,
      'content-length': body.length,
      'x-litellm-response-cost': String(this.call.costOf(usage)),
    });
    this.response.end(body);
    this.call.settle({ status: 'ok', usage, source: reported === null ? 'estimated' : 'reported' });
  }

  private refuse(): void {
    const body = Buffer.concat(this.parts).subarray(0, MAX_REFUSAL).toString('utf8');
    this.fail(refusalOf(this.status, body, this.retryAfter, this.request.apiKey), 'none');
  }

  private fail(error: SlipwayError, source: 'estimated' | 'none'): void {
    if (this.over) return;
    this.finish();
    this.controller?.abort(error);
    if (this.mode !== 'stream') sendOpenAiError(this.response, error);
    else if (!this.response.destroyed) this.response.write(errorFrame(error), () => this.response.destroy());
    this.settleFailed(error, source);
  }

  private settleFailed(error: SlipwayError, source: 'estimated' | 'none'): void {
    const { usage } = this.reader;
    this.call.settle({
      status: 'failed',
      code: error.code,
      usage: usage ?? (source === 'none' ? NO_USAGE : this.estimate()),
      source: usage === null ? source : 'reported',
    });
  }

  private readonly onCallerGone = (): void => {
    if (this.over) return;
    this.finish();
    this.controller?.abort(new Error('the caller has gone'));
    const { usage } = this.reader;
    const source = usage !== null ? 'reported' : this.controller === null ? 'none' : 'estimated';
    this.call.settle({ status: 'aborted', usage: usage ?? this.estimate(), source });
  };

  private readonly onShutdown = (): void => {
    this.fail(new SlipwayError('service.unavailable', 'The gateway is restarting.', { retryAfterSeconds: 1 }), this.controller === null ? 'none' : 'estimated');
  };

  private estimate(): Usage {
    return { ...NO_USAGE, promptTokens: estimateTokens(this.request.bytes), completionTokens: estimateTokens(this.reader.characters) };
  }

  private finish(): void {
    this.over = true;
    this.parts = [];
    this.response.off('close', this.onCallerGone);
    this.request.signal.removeEventListener('abort', this.onShutdown);
  }
}
