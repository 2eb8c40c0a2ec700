import { FrameReader } from './frame-reader.js';
import { type JsonObject, jsonText, listOf, numberOf, objectOf, textOf } from './json.js';
import type { FinishReason } from './turns.js';
import { readUsage } from './usage.js';

const FINISH: Readonly<Record<string, FinishReason>> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'tool-calls',
  refusal: 'filter',
  pause_turn: 'pause',
};

type Block =
  | { readonly kind: 'thinking'; signature: string }
  | { readonly kind: 'call'; readonly call: number; readonly input: string; written: boolean };

/** Anthropic's messages. What its own tools did is left out: they are offered to callers of the same dialect only. */
export class MessagesAnswerReader extends FrameReader {
  private readonly open = new Map<number, Block>();
  private calls = 0;
  private reason: FinishReason | null = null;
  private stopSequence: string | null = null;

  protected frame(frame: JsonObject): void {
    const index = numberOf(frame['index']) ?? 0;
    switch (frame['type']) {
      case 'message_start':
        this.start(objectOf(frame['message']) ?? {});
        return;
      case 'content_block_start':
        this.begin(index, objectOf(frame['content_block']) ?? {});
        return;
      case 'content_block_delta':
        this.delta(index, objectOf(frame['delta']) ?? {});
        return;
      case 'content_block_stop':
        this.stop(index);
        return;
      case 'message_delta':
        this.stopOf(objectOf(frame['delta']) ?? {});
        this.count(readUsage('messages', frame['usage'], this.usage));
        return;
      case 'message_stop':
        this.ended();
        return;
      case 'error':
        this.fail(objectOf(frame['error']) ?? {});
        return;
      default:
        return;
    }
  }

  protected answer(answer: JsonObject): boolean {
    if (!Array.isArray(answer['content'])) return false;
    this.start(answer);
    for (const [index, block] of listOf(answer['content']).entries()) {
      this.begin(index, objectOf(block) ?? {});
      this.stop(index);
    }
    this.stopOf({ stop_reason: answer['stop_reason'] ?? 'end_turn', stop_sequence: answer['stop_sequence'] });
    this.ended();
    return true;
  }

  protected ended(): void {
    for (const index of this.open.keys()) this.stop(index);
    if (this.reason !== null) this.emit({ kind: 'finish', reason: this.reason, stopSequence: this.stopSequence });
  }

  private start(message: JsonObject): void {
    this.emit({ kind: 'start', id: textOf(message['id']) ?? '', model: textOf(message['model']) ?? '' });
    this.count(readUsage('messages', message['usage'], this.usage));
  }

  private begin(index: number, block: JsonObject): void {
    switch (block['type']) {
      case 'text':
        this.text(textOf(block['text']));
        return;
      case 'thinking':
        this.open.set(index, { kind: 'thinking', signature: textOf(block['signature']) ?? '' });
        this.thinking(textOf(block['thinking']));
        return;
      case 'redacted_thinking':
        this.emit({ kind: 'redacted', data: textOf(block['data']) ?? '' });
        return;
      case 'tool_use': {
        const call = this.calls;
        this.calls += 1;
        // In a stream it begins empty and its arguments follow.
        this.open.set(index, {
          kind: 'call',
          call,
          input: jsonText(objectOf(block['input']) ?? {}) ?? '{}',
          written: false,
        });
        this.emit({ kind: 'tool-begin', call, id: textOf(block['id']) ?? '', name: textOf(block['name']) ?? '' });
        return;
      }
      default:
        return;
    }
  }

  private delta(index: number, delta: JsonObject): void {
    const block = this.open.get(index);
    switch (delta['type']) {
      case 'text_delta':
        this.text(textOf(delta['text']));
        return;
      case 'thinking_delta':
        this.thinking(textOf(delta['thinking']));
        return;
      case 'signature_delta':
        if (block?.kind === 'thinking') block.signature += textOf(delta['signature']) ?? '';
        return;
      case 'input_json_delta': {
        const text = textOf(delta['partial_json']) ?? '';
        if (block?.kind !== 'call' || text === '') return;
        block.written = true;
        this.emit({ kind: 'tool-arguments', call: block.call, text });
        return;
      }
      default:
        return;
    }
  }

  private stop(index: number): void {
    const block = this.open.get(index);
    if (block === undefined) return;
    this.open.delete(index);
    if (block.kind === 'thinking') {
      if (block.signature !== '') this.emit({ kind: 'signature', signature: block.signature });
      return;
    }
    if (!block.written) this.emit({ kind: 'tool-arguments', call: block.call, text: block.input });
    this.emit({ kind: 'tool-end', call: block.call });
  }

  private stopOf(delta: JsonObject): void {
    const reason = textOf(delta['stop_reason']);
    if (reason !== null) this.reason = FINISH[reason] ?? 'stop';
    this.stopSequence = textOf(delta['stop_sequence']) ?? this.stopSequence;
  }

  private text(text: string | null): void {
    if (text !== null && text !== '') this.emit({ kind: 'text', text });
  }

  private thinking(text: string | null): void {
    if (text !== null && text !== '') this.emit({ kind: 'thinking', text });
  }
}
