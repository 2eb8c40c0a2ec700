import { FrameReader } from './frame-reader.js';
import { type JsonObject, listOf, numberOf, objectOf, textOf } from './json.js';
import { argumentsText } from './openai-request.js';
import { REDACTED } from './responses-request.js';
import type { FinishReason } from './turns.js';
import { readUsage } from './usage.js';

interface Item {
  /** Of a call of a function. */
  readonly call: number | null;
  /** Something of it came as a delta, so that its end says nothing new. */
  written: boolean;
}

/** OpenAI's Responses. What its own tools did is left out: they are offered to callers of the same dialect only. */
export class ResponsesAnswerReader extends FrameReader {
  private started = false;
  /** By `output_index`. */
  private readonly items = new Map<number, Item>();
  private calls = 0;
  private reason: FinishReason | null = null;

  protected frame(frame: JsonObject): void {
    const index = numberOf(frame['output_index']) ?? 0;
    switch (frame['type']) {
      case 'response.created':
      case 'response.in_progress':
        this.start(objectOf(frame['response']) ?? {});
        return;
      case 'response.output_item.added':
        this.begin(index, objectOf(frame['item']) ?? {});
        return;
      case 'response.output_text.delta':
        this.delta(index, 'text', frame['delta']);
        return;
      case 'response.refusal.delta':
        this.delta(index, 'refusal', frame['delta']);
        return;
      case 'response.reasoning_summary_text.delta':
      case 'response.reasoning_text.delta':
        this.delta(index, 'thinking', frame['delta']);
        return;
      case 'response.reasoning_summary_part.added':
        if ((numberOf(frame['summary_index']) ?? 0) > 0) this.delta(index, 'thinking', '\n\n');
        return;
      case 'response.function_call_arguments.delta':
        this.arguments(index, textOf(frame['delta']) ?? '');
        return;
      case 'response.output_item.done':
        this.endItem(index, objectOf(frame['item']) ?? {});
        return;
      case 'response.completed':
      case 'response.incomplete':
        this.finish(objectOf(frame['response']) ?? {});
        this.ended();
        return;
      case 'response.failed':
        this.fail(objectOf(objectOf(frame['response'])?.['error']) ?? {});
        return;
      case 'error':
        this.fail(objectOf(frame['error']) ?? { message: frame['message'], code: frame['code'] });
        return;
      default:
        return;
    }
  }

  protected answer(answer: JsonObject): boolean {
    if (!Array.isArray(answer['output'])) return false;
    this.start(answer);
    if (answer['status'] === 'failed') {
      this.fail(objectOf(answer['error']) ?? {});
      return true;
    }
    for (const [index, value] of listOf(answer['output']).entries()) {
      const item = objectOf(value) ?? {};
      this.begin(index, item);
      this.endItem(index, item);
    }
    this.finish(answer);
    this.ended();
    return true;
  }

  protected ended(): void {
    if (this.reason !== null)
      this.emit({
        kind: 'finish',
        reason: this.reason === 'stop' && this.calls > 0 ? 'tool-calls' : this.reason,
        stopSequence: null,
      });
  }

  private start(response: JsonObject): void {
    if (this.started) return;
    this.started = true;
    const created = numberOf(response['created_at']);
    this.emit({
      kind: 'start',
      id: textOf(response['id']) ?? '',
      model: textOf(response['model']) ?? '',
      ...(created === null ? {} : { created }),
    });
  }

  private begin(index: number, item: JsonObject): void {
    if (item['type'] !== 'function_call') {
      this.items.set(index, { call: null, written: false });
      return;
    }
    this.items.set(index, { call: this.calls, written: false });
    this.emit({
      kind: 'tool-begin',
      call: this.calls,
      id: textOf(item['call_id']) ?? textOf(item['id']) ?? '',
      name: textOf(item['name']) ?? '',
    });
    this.calls += 1;
  }

  private delta(index: number, kind: 'text' | 'refusal' | 'thinking', value: unknown): void {
    const text = textOf(value) ?? '';
    if (text === '') return;
    const item = this.items.get(index);
    if (item !== undefined) item.written = true;
    this.emit({ kind, text });
  }

  private arguments(index: number, text: string): void {
    const item = this.items.get(index);
    if (item?.call === null || item === undefined || text === '') return;
    item.written = true;
    this.emit({ kind: 'tool-arguments', call: item.call, text });
  }

  private endItem(index: number, item: JsonObject): void {
    if (!this.items.has(index)) this.begin(index, item);
    const { call = null, written = false } = this.items.get(index) ?? {};
    this.items.delete(index);
    if (call !== null) {
      if (!written) this.emit({ kind: 'tool-arguments', call, text: argumentsText(item['arguments']) || '{}' });
      this.emit({ kind: 'tool-end', call });
      return;
    }
    const texts = (list: unknown, between: string): string =>
      listOf(list)
        .map((part) => textOf(objectOf(part)?.['text']) ?? '')
        .join(between);
    if (item['type'] === 'reasoning') {
      const thought = texts(item['summary'], '\n\n') || texts(item['content'], '\n\n');
      if (!written && thought !== '') this.emit({ kind: 'thinking', text: thought });
      const encrypted = textOf(item['encrypted_content']) ?? '';
      const id = textOf(item['id']);
      if (encrypted.startsWith(REDACTED)) this.emit({ kind: 'redacted', data: encrypted.slice(REDACTED.length) });
      else if (encrypted !== '') this.emit({ kind: 'signature', signature: encrypted, ...(id === null ? {} : { id }) });
    } else if (item['type'] === 'message' && !written) {
      for (const part of listOf(item['content']).map(objectOf)) {
        const text = textOf(part?.['text']) ?? '';
        const refusal = textOf(part?.['refusal']) ?? '';
        if (text !== '') this.emit({ kind: 'text', text });
        if (refusal !== '') this.emit({ kind: 'refusal', text: refusal });
      }
    }
  }

  private finish(response: JsonObject): void {
    this.start(response);
    const why = objectOf(response['incomplete_details'])?.['reason'];
    this.reason = response['status'] !== 'incomplete' ? 'stop' : why === 'content_filter' ? 'filter' : 'length';
    this.count(readUsage('responses', response['usage'], this.usage));
  }
}
