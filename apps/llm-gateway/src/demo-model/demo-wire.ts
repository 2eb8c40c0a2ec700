import { createHash } from 'node:crypto';
import { DEMO_MODEL } from '@slipway/contracts/models';
import { estimateTokens, type Usage } from '../calls/usage.js';
import type { DemoTurn } from './script.js';

/** `created` of every answer: the script has no clock. */
const CREATED = 1_795_219_200;
/** Pieces of one answer, at most; together with their pause this bounds how long it takes. */
const MAX_PIECES = 40;
const MIN_PIECE = 12;

/** One answer of the script, ready for the wire. */
export class DemoAnswer {
  readonly usage: Usage;
  private readonly id: string;
  private readonly argumentsText: string;

  /** @param body the request: the answer's id is its hash, so that the same request gets the same bytes. */
  constructor(
    private readonly turn: DemoTurn,
    body: Buffer,
  ) {
    this.id = `chatcmpl-demo-${createHash('sha256').update(body).digest('hex').slice(0, 24)}`;
    this.argumentsText = turn.call === null ? '' : JSON.stringify(turn.call.arguments);
    this.usage = {
      promptTokens: estimateTokens(body.length),
      completionTokens: estimateTokens(turn.text.length + this.argumentsText.length),
      cachedTokens: 0,
      cacheWriteTokens: 0,
      reasoningTokens: 0,
    };
  }

  completion(): object {
    const { text, call } = this.turn;
    const calls =
      call === null
        ? {}
        : {
            tool_calls: [
              { id: this.callId, type: 'function', function: { name: call.tool, arguments: this.argumentsText } },
            ],
          };
    const message = { role: 'assistant', content: text === '' ? null : text, ...calls };
    return {
      ...this.head('chat.completion'),
      choices: [{ index: 0, message, finish_reason: this.finishReason }],
      usage: this.wireUsage,
    };
  }

  /** Frames of the stream with the characters that each brings; the last is `[DONE]`. */
  *frames(): Generator<{ readonly frame: string; readonly characters: number }> {
    const { text, call } = this.turn;
    const size = Math.max(MIN_PIECE, Math.ceil((text.length + this.argumentsText.length) / MAX_PIECES));
    yield this.chunk({ role: 'assistant', content: '' }, 0);
    for (let at = 0; at < text.length; at += size)
      yield this.chunk({ content: text.slice(at, at + size) }, Math.min(size, text.length - at));
    if (call !== null) {
      yield this.chunk(
        { tool_calls: [{ index: 0, id: this.callId, type: 'function', function: { name: call.tool, arguments: '' } }] },
        0,
      );
      for (let at = 0; at < this.argumentsText.length; at += size) {
        yield this.chunk(
          { tool_calls: [{ index: 0, function: { arguments: this.argumentsText.slice(at, at + size) } }] },
          Math.min(size, this.argumentsText.length - at),
        );
      }
    }
    yield this.chunk({}, 0, this.finishReason);
    yield {
      frame: `data: ${JSON.stringify({ ...this.head('chat.completion.chunk'), choices: [], usage: this.wireUsage })}\n\ndata: [DONE]\n\n`,
      characters: 0,
    };
  }

  private get callId(): string {
    return `call_${this.id.slice(-24)}`;
  }

  private get finishReason(): string {
    return this.turn.call === null ? 'stop' : 'tool_calls';
  }

  private get wireUsage(): object {
    const { promptTokens, completionTokens } = this.usage;
    return {
      prompt_tokens: promptTokens,
      completion_tokens: completionTokens,
      total_tokens: promptTokens + completionTokens,
    };
  }

  private head(object: string): object {
    return { id: this.id, object, created: CREATED, model: DEMO_MODEL };
  }

  private chunk(
    delta: object,
    characters: number,
    finishReason: string | null = null,
  ): { frame: string; characters: number } {
    return {
      frame: `data: ${JSON.stringify({ ...this.head('chat.completion.chunk'), choices: [{ index: 0, delta, finish_reason: finishReason }] })}\n\n`,
      characters,
    };
  }
}
