import { NO_USAGE, type Usage } from '../calls/usage.js';
import { type AnswerPart, answerId, assembled } from './assembled.js';
import type { JsonObject } from './json.js';
import { argumentsOf } from './parts.js';
import type { AnswerEvent, AnswerWriter, FinishReason } from './turns.js';
import { messagesUsage } from './usage.js';

type Open =
  | { readonly kind: 'text' }
  | { readonly kind: 'thinking' }
  | { readonly kind: 'call'; readonly call: number };

/** A call whose turn has not come: blocks follow each other, and other providers' calls may overlap. */
interface Waiting {
  readonly event: Extract<AnswerEvent, { kind: 'tool-begin' }>;
  readonly pieces: string[];
  ended: boolean;
}

/**
 * Answers as Anthropic's messages: one block after the other, and the counts where Anthropic has them, at the end in
 * full.
 */
export class MessagesAnswerWriter implements AnswerWriter {
  private usage: Usage | null = null;
  private index = -1;
  private open: Open | null = null;
  private readonly waiting = new Map<number, Waiting>();

  write(event: AnswerEvent): string {
    switch (event.kind) {
      case 'start':
        return this.start(event);
      case 'text':
      case 'refusal':
        return (
          this.into({ kind: 'text' }, { type: 'text', text: '' }) + this.delta({ type: 'text_delta', text: event.text })
        );
      case 'thinking':
        return this.into({ kind: 'thinking' }, THINKING) + this.delta({ type: 'thinking_delta', thinking: event.text });
      case 'signature':
        return (
          this.into({ kind: 'thinking' }, THINKING) +
          this.delta({ type: 'signature_delta', signature: event.signature }) +
          this.close()
        );
      case 'redacted':
        return (
          this.close() + this.begin({ kind: 'text' }, { type: 'redacted_thinking', data: event.data }) + this.close()
        );
      case 'tool-begin': {
        if (this.open?.kind === 'call') {
          this.waiting.set(event.call, { event, pieces: [], ended: false });
          return '';
        }
        return this.close() + this.beginCall(event);
      }
      case 'tool-arguments':
        if (this.open?.kind === 'call' && this.open.call === event.call)
          return this.delta({ type: 'input_json_delta', partial_json: event.text });
        this.waiting.get(event.call)?.pieces.push(event.text);
        return '';
      case 'tool-end':
        return this.endCall(event.call);
      case 'usage':
        this.usage = event.usage;
        return '';
      case 'finish':
        return this.finish(event);
      case 'error':
        return '';
    }
  }

  whole(events: readonly AnswerEvent[]): string {
    const answer = assembled(events);
    return JSON.stringify({
      id: answerId('msg_', answer.id),
      type: 'message',
      role: 'assistant',
      model: answer.model,
      content: answer.parts.map(blockOf),
      ...stopOf(answer),
      usage: messagesUsage(answer.usage ?? NO_USAGE),
    });
  }

  private start(event: Extract<AnswerEvent, { kind: 'start' }>): string {
    const message = {
      id: answerId('msg_', event.id),
      type: 'message',
      role: 'assistant',
      model: event.model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: messagesUsage(this.usage ?? NO_USAGE),
    };
    return frame({ type: 'message_start', message }) + frame({ type: 'ping' });
  }

  private into(open: Open, block: JsonObject): string {
    return this.open?.kind === open.kind ? '' : this.endOpenCall() + this.close() + this.begin(open, block);
  }

  private begin(open: Open, block: JsonObject): string {
    this.index += 1;
    this.open = open;
    return frame({ type: 'content_block_start', index: this.index, content_block: block });
  }

  private beginCall(event: Extract<AnswerEvent, { kind: 'tool-begin' }>): string {
    return this.begin(
      { kind: 'call', call: event.call },
      { ...toolUse(event.id, event.name, event.signature), input: {} },
    );
  }

  private delta(delta: JsonObject): string {
    return frame({ type: 'content_block_delta', index: this.index, delta });
  }

  private close(): string {
    if (this.open === null) return '';
    this.open = null;
    return frame({ type: 'content_block_stop', index: this.index });
  }

  private endCall(call: number): string {
    const waits = this.waiting.get(call);
    if (waits !== undefined) waits.ended = true;
    return this.open?.kind === 'call' && this.open.call === call ? this.close() + this.next() : '';
  }

  /** Words came while a call was open: it is over for Anthropic's clients. */
  private endOpenCall(): string {
    return this.open?.kind === 'call' ? this.close() + this.next(true) : '';
  }

  /** Calls that have waited, in their order, up to one that is still being written (`all`: that one too). */
  private next(all = false): string {
    let said = '';
    for (const [call, { event, pieces, ended }] of this.waiting) {
      this.waiting.delete(call);
      said += this.beginCall(event);
      if (pieces.length > 0) said += this.delta({ type: 'input_json_delta', partial_json: pieces.join('') });
      if (!ended && !all) return said;
      said += this.close();
    }
    return said;
  }

  private finish(event: Extract<AnswerEvent, { kind: 'finish' }>): string {
    const end = this.close() + this.next(true);
    return (
      end +
      frame({ type: 'message_delta', delta: stopOf(event), usage: messagesUsage(this.usage ?? NO_USAGE) }) +
      frame({ type: 'message_stop' })
    );
  }
}

const THINKING: JsonObject = { type: 'thinking', thinking: '', signature: '' };
const FINISH: Readonly<Record<FinishReason, string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  'tool-calls': 'tool_use',
  filter: 'refusal',
  pause: 'pause_turn',
};

function stopOf(finish: { readonly reason: FinishReason; readonly stopSequence: string | null }): JsonObject {
  const sequence = finish.reason === 'stop' ? finish.stopSequence : null;
  return { stop_reason: sequence === null ? FINISH[finish.reason] : 'stop_sequence', stop_sequence: sequence };
}

function toolUse(id: string, name: string, signature: string | undefined): JsonObject {
  return { type: 'tool_use', id, name, ...(signature === undefined ? {} : { signature }) };
}

function blockOf(part: AnswerPart): JsonObject {
  switch (part.kind) {
    case 'text':
    case 'refusal':
      return { type: 'text', text: part.text };
    case 'thinking':
      return { type: 'thinking', thinking: part.text, signature: part.signature ?? '' };
    case 'redacted':
      return { type: 'redacted_thinking', data: part.data };
    case 'tool-call':
      return { ...toolUse(part.id, part.name, part.signature), input: argumentsOf(part) };
  }
}

function frame(value: JsonObject): string {
  return `event: ${String(value['type'])}\ndata: ${JSON.stringify(value)}\n\n`;
}
