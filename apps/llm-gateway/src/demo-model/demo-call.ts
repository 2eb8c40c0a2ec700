import type { ServerResponse } from 'node:http';
import { SlipwayError } from '@slipway/errors';
import type { Call } from '../completions/call.js';
import { estimateTokens } from '../completions/usage.js';
import { errorFrame } from '../openai-error.js';
import { DemoAnswer } from './demo-wire.js';
import { demoTurn } from './script.js';
import { readTranscript } from './transcript.js';

/** Sends one answer of the demo model. Ends at once when the caller goes away; what had been sent is what it used. */
export class DemoCall {
  private readonly answer: DemoAnswer;
  private timer: NodeJS.Timeout | undefined;
  private sent = 0;
  private over = false;

  /** @throws SlipwayError `request.not-json`. */
  constructor(
    private readonly call: Call,
    private readonly response: ServerResponse,
    private readonly request: { readonly body: Buffer; readonly stream: boolean; readonly delayMs: number; readonly signal: AbortSignal },
  ) {
    let body: unknown;
    try {
      body = JSON.parse(request.body.toString('utf8'));
    } catch (error) {
      throw new SlipwayError('request.not-json', 'The body is not JSON.', { cause: error });
    }
    this.answer = new DemoAnswer(demoTurn(readTranscript(body)), request.body);
  }

  start(): void {
    this.call.firstByte();
    if (!this.request.stream) {
      const body = JSON.stringify(this.answer.completion());
      this.response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), 'x-litellm-response-cost': '0' });
      this.response.end(body);
      this.call.settle({ status: 'ok', usage: this.answer.usage, source: 'reported' });
      return;
    }
    this.response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache', 'x-accel-buffering': 'no' });
    this.response.once('close', this.onCallerGone);
    this.request.signal.addEventListener('abort', this.onShutdown, { once: true });
    this.pump(this.answer.frames());
  }

  private readonly pump = (frames: Iterator<{ readonly frame: string; readonly characters: number }>): void => {
    for (;;) {
      if (this.over) return;
      const next = frames.next();
      if (next.done === true) break;
      this.sent += next.value.characters;
      this.response.write(next.value.frame);
      if (this.request.delayMs === 0) continue;
      this.timer = setTimeout(this.pump, this.request.delayMs, frames);
      return;
    }
    this.finish();
    this.response.end();
    this.call.settle({ status: 'ok', usage: this.answer.usage, source: 'reported' });
  };

  private readonly onCallerGone = (): void => {
    if (this.over) return;
    this.finish();
    this.call.settle({ status: 'aborted', usage: { ...this.answer.usage, completionTokens: estimateTokens(this.sent) }, source: 'estimated' });
  };

  private readonly onShutdown = (): void => {
    if (this.over) return;
    this.finish();
    const error = new SlipwayError('service.unavailable', 'The gateway is restarting.', { retryAfterSeconds: 1 });
    this.response.write(errorFrame(error), () => this.response.destroy());
    this.call.settle({ status: 'failed', code: error.code, usage: { ...this.answer.usage, completionTokens: estimateTokens(this.sent) }, source: 'estimated' });
  };

  private finish(): void {
    this.over = true;
    clearTimeout(this.timer);
    this.response.off('close', this.onCallerGone);
    this.request.signal.removeEventListener('abort', this.onShutdown);
  }
}
