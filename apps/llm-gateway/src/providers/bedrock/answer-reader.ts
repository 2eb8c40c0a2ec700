import { randomUUID } from 'node:crypto';
import { type JsonObject, jsonText, listOf, numberOf, objectOf, parseObject, textOf } from '../../wire/json.js';
import type { AnswerEvent, AnswerReader, FinishReason, ProviderError } from '../../wire/turns.js';
import { usageOfBedrock } from '../usage.js';
import { EventStreamReader, type StreamMessage } from './event-stream.js';
import { statusOfException } from './refusal.js';

/** Calls in one answer. More than any model makes. */
const MAX_CALLS = 1_024;
const REASONS: Readonly<Record<string, FinishReason>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  tool_use: 'tool-calls',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  guardrail_intervened: 'filter',
  content_filtered: 'filter',
};
/** The answer is worth nothing, and the next may be right. */
const FAILED = new Set(['malformed_model_output', 'malformed_tool_use']);

/** Reads `Converse` and `ConverseStream`. */
export class BedrockReader implements AnswerReader {
  private readonly stream = new EventStreamReader();
  private started = false;
  private said = false;
  private over = false;
  private calls = 0;
  /** Calls that are being written, by their blocks. */
  private readonly open = new Map<number, { readonly call: number; written: boolean }>();
  /** Comes before the counts, and is reported after them. */
  private stopped: { readonly reason: string; readonly sequence: string | null } | null = null;

  constructor(private readonly model: string) {}

  push(chunk: Buffer): AnswerEvent[] {
    const events = this.stream.push(chunk).flatMap((message) => (this.over ? [] : this.message(message)));
    if (this.stream.broken !== null && !this.over)
      events.push(
        this.failed({ message: `Bedrock's stream cannot be read: ${this.stream.broken}.`, type: 'bad_response' }),
      );
    return events;
  }

  end(): AnswerEvent[] {
    return this.finish();
  }

  whole(body: Buffer): AnswerEvent[] {
    const answer = parseObject(body.toString('utf8'));
    const message = objectOf(objectOf(answer?.['output'])?.['message']);
    if (answer === null || message === null)
      return [this.failed({ message: 'That is not an answer of Bedrock.', type: 'bad_response' })];
    const blocks = listOf(message['content']).flatMap((block, index) => this.block(index, objectOf(block)));
    return [...this.start(), ...blocks, ...this.counted(answer['usage']), ...this.stop(answer), ...this.finish()];
  }

  private message({ headers, payload }: StreamMessage): AnswerEvent[] {
    const type = headers.get(':message-type');
    const value = parseObject(payload.toString('utf8'));
    if (type === 'exception') {
      const name = headers.get(':exception-type') ?? '';
      return [
        this.failed({
          message: value?.['message'] ?? value?.['originalMessage'] ?? name,
          code: statusOfException(name),
          type: name,
        }),
      ];
    }
    if (type === 'error')
      return [this.failed({ message: headers.get(':error-message'), type: headers.get(':error-code') })];
    if (type !== 'event' || value === null) return [];
    switch (headers.get(':event-type')) {
      case 'messageStart':
        return this.start();
      case 'contentBlockStart':
        return [...this.start(), ...this.begin(indexOf(value), objectOf(objectOf(value['start'])?.['toolUse']))];
      case 'contentBlockDelta':
        return [...this.start(), ...this.delta(indexOf(value), objectOf(value['delta']))];
      case 'contentBlockStop':
        return this.close(indexOf(value));
      case 'messageStop':
        return [...this.start(), ...this.stop(value)];
      case 'metadata':
        return [...this.start(), ...this.counted(value['usage']), ...this.finish()];
      default:
        return [];
    }
  }

  private start(): AnswerEvent[] {
    if (this.started) return [];
    this.started = true;
    return [{ kind: 'start', id: randomUUID().replaceAll('-', ''), model: this.model }];
  }

  private begin(block: number, call: JsonObject | null): AnswerEvent[] {
    if (call === null) return [];
    if (this.calls >= MAX_CALLS)
      return [this.failed({ message: `Bedrock's answer has more than ${MAX_CALLS} calls.`, type: 'bad_response' })];
    const number = this.calls;
    this.calls += 1;
    this.said = true;
    this.open.set(block, { call: number, written: false });
    return [
      { kind: 'tool-begin', call: number, id: textOf(call['toolUseId']) ?? '', name: textOf(call['name']) ?? '' },
    ];
  }

  private delta(block: number, delta: JsonObject | null): AnswerEvent[] {
    if (delta === null) return [];
    const input = textOf(objectOf(delta['toolUse'])?.['input']) ?? '';
    const open = this.open.get(block);
    if (input !== '' && open !== undefined) {
      open.written = true;
      return [{ kind: 'tool-arguments', call: open.call, text: input }];
    }
    const reasoning = objectOf(delta['reasoningContent']);
    return [...this.text(delta['text']), ...(reasoning === null ? [] : this.reasoning(reasoning))];
  }

  private text(value: unknown): AnswerEvent[] {
    const text = textOf(value);
    if (text === null || text === '') return [];
    this.said = true;
    return [{ kind: 'text', text }];
  }

  private reasoning(content: JsonObject): AnswerEvent[] {
    const [text, signature, redacted] = [
      textOf(content['text']),
      textOf(content['signature']),
      textOf(content['redactedContent']),
    ];
    return [
      ...(text ? [{ kind: 'thinking', text } as const] : []),
      ...(signature ? [{ kind: 'signature', signature } as const] : []),
      ...(redacted ? [{ kind: 'redacted', data: redacted } as const] : []),
    ];
  }

  private close(block: number): AnswerEvent[] {
    const open = this.open.get(block);
    if (open === undefined) return [];
    this.open.delete(block);
    const { call, written } = open;
    return [...(written ? [] : [{ kind: 'tool-arguments', call, text: '{}' } as const]), { kind: 'tool-end', call }];
  }

  /** A block of an answer in one piece. */
  private block(index: number, block: JsonObject | null): AnswerEvent[] {
    if (block === null) return [];
    const call = objectOf(block['toolUse']);
    if (call !== null) {
      const begin = this.begin(index, call);
      return [
        ...begin,
        ...this.delta(index, { toolUse: { input: jsonText(call['input'] ?? {}) } }),
        ...this.close(index),
      ];
    }
    const reasoning = objectOf(block['reasoningContent']);
    if (reasoning === null) return this.text(block['text']);
    return this.reasoning({ ...objectOf(reasoning['reasoningText']), redactedContent: reasoning['redactedContent'] });
  }

  private counted(value: unknown): AnswerEvent[] {
    const usage = usageOfBedrock(value);
    return usage === null ? [] : [{ kind: 'usage', usage }];
  }

  private stop(value: JsonObject): AnswerEvent[] {
    const reason = textOf(value['stopReason']);
    if (reason !== null)
      this.stopped ??= {
        reason,
        sequence: textOf(objectOf(value['additionalModelResponseFields'])?.['stop_sequence']),
      };
    return [];
  }

  private finish(): AnswerEvent[] {
    if (this.over || this.stopped === null) return [];
    const { reason, sequence } = this.stopped;
    if (FAILED.has(reason))
      return [this.failed({ message: `The model ended its answer: ${reason}.`, type: 'malformed_answer' })];
    const meaning = REASONS[reason] ?? 'stop';
    if (meaning === 'filter' && !this.said)
      return [
        this.failed({
          message: `Bedrock blocked the answer: ${reason}.`,
          code: 'content_policy_violation',
          type: 'content_policy',
        }),
      ];
    this.over = true;
    return [{ kind: 'finish', reason: meaning, stopSequence: sequence }];
  }

  private failed(error: ProviderError): AnswerEvent {
    this.over = true;
    return { kind: 'error', error };
  }
}

function indexOf(value: JsonObject): number {
  return numberOf(value['contentBlockIndex']) ?? -1;
}
