import type { ServerResponse } from 'node:http';
import { DEMO_MODEL } from '@slipway/contracts/models';
import { SlipwayError } from '@slipway/errors';
import type { Call } from '../calls/call.js';
import type { CallerAnswer } from '../calls/caller-answer.js';
import { estimateTokens } from '../calls/usage.js';
import type { Answer, Asked, Target } from '../wire/exchange.js';
import { openExchange } from '../wire/open-exchange.js';
import { DemoAnswer } from './demo-wire.js';
import { demoTurn } from './script.js';
import { readTranscript } from './transcript.js';

/** It costs nothing. */
const DEMO_DEPLOYMENT = { id: DEMO_MODEL, price: { input: 0, cachedInput: 0, output: 0 } };
/** It speaks chat; callers of the other dialects have it translated as from any other. */
const DEMO_TARGET: Target = {
  provider: 'openai',
  baseUrl: 'http://demo.invalid/v1',
  apiKey: null,
  model: DEMO_MODEL,
  speaks: ['chat'],
};

interface Frame {
  readonly frame: string;
  readonly characters: number;
}

/** Sends one answer of the demo model. Ends at once when the caller goes away; what had been sent is what it used. */
export class DemoCall {
  private readonly demo: DemoAnswer;
  /** `null`: the caller speaks chat, too. */
  private readonly answer: Answer | null;
  private timer: NodeJS.Timeout | undefined;
  private sent = 0;
  private over = false;

  /** @throws SlipwayError `request.not-json`, or `request.invalid` for what the demo model cannot be asked. */
  constructor(
    private readonly call: Call,
    private readonly response: ServerResponse,
    private readonly caller: CallerAnswer,
    private readonly asked: Asked,
    private readonly options: { readonly delayMs: number; readonly signal: AbortSignal },
  ) {
    const exchange = asked.dialect === 'chat' ? null : openExchange(asked, DEMO_TARGET);
    this.answer = exchange?.answer ?? null;
    const body = exchange?.body ?? asked.body;
    let value: unknown;
    try {
      value = JSON.parse(body.toString('utf8'));
    } catch (error) {
      throw new SlipwayError('request.not-json', 'The body is not JSON.', { cause: error });
    }
    this.demo = new DemoAnswer(demoTurn(readTranscript(value)), body);
  }

  start(): void {
    this.call.asks(DEMO_DEPLOYMENT);
    this.call.firstByte();
    if (!this.asked.stream) {
      const body = Buffer.from(JSON.stringify(this.demo.completion()));
      this.caller.whole(this.answer === null ? body : this.answer.whole(body), 0);
      this.call.settle({ status: 'ok', usage: this.demo.usage, source: 'reported' });
      return;
    }
    this.caller.open(this.answer?.contentType ?? 'text/event-stream', DEMO_DEPLOYMENT.price);
    this.response.once('close', this.onCallerGone);
    this.options.signal.addEventListener('abort', this.onShutdown, { once: true });
    const frames = this.demo.frames();
    this.pump(frames, frames.next());
  }

  /** No pause behind the last frame: a caller who has it may go, and the call has not been broken off. */
  private readonly pump = (frames: Iterator<Frame>, first: IteratorResult<Frame>): void => {
    for (let next = first; next.done !== true; ) {
      if (this.over) return;
      this.sent += next.value.characters;
      this.say(this.answer === null ? next.value.frame : this.answer.push(Buffer.from(next.value.frame)));
      next = frames.next();
      if (this.options.delayMs === 0 || next.done === true) continue;
      this.timer = setTimeout(this.pump, this.options.delayMs, frames, next);
      return;
    }
    this.finish();
    this.say(this.answer?.end() ?? null);
    this.response.end();
    this.call.settle({ status: 'ok', usage: this.demo.usage, source: 'reported' });
  };

  private say(piece: Buffer | string | null): void {
    if (piece !== null) this.caller.piece(piece);
  }

  private readonly onCallerGone = (): void => {
    if (this.over) return;
    this.finish();
    this.call.settle({
      status: 'aborted',
      usage: { ...this.demo.usage, completionTokens: estimateTokens(this.sent) },
      source: 'estimated',
    });
  };

  private readonly onShutdown = (): void => {
    if (this.over) return;
    this.finish();
    const error = new SlipwayError('service.unavailable', 'The gateway is restarting.', { retryAfterSeconds: 1 });
    this.caller.breakOff(error, this.answer, null);
    this.call.settle({
      status: 'failed',
      code: error.code,
      usage: { ...this.demo.usage, completionTokens: estimateTokens(this.sent) },
      source: 'estimated',
    });
  };

  private finish(): void {
    this.over = true;
    clearTimeout(this.timer);
    this.response.off('close', this.onCallerGone);
    this.options.signal.removeEventListener('abort', this.onShutdown);
  }
}
