import { FrameReader } from './frame-reader.js';
import { type JsonObject, listOf, numberOf, objectOf, textOf } from './json.js';
import { argumentsText } from './openai-request.js';
import type { FinishReason, ProviderError } from './turns.js';
import { readUsage } from './usage.js';

const FINISH: Readonly<Record<string, FinishReason>> = {
  stop: 'stop',
  eos: 'stop',
  length: 'length',
  max_tokens: 'length',
  tool_calls: 'tool-calls',
  function_call: 'tool-calls',
  content_filter: 'filter',
};

interface Call {
  readonly call: number;
  readonly id: string;
  name: string;
  /** Arguments that came before the name. */
  held: string;
  begun: boolean;
  written: boolean;
}

/**
 * An error where a piece of the answer should be: as OpenAI says it, as a text (Ollama), or as the frame itself (older
 * versions of vLLM).
 */
export function chatErrorOf(frame: JsonObject): ProviderError | null {
  const { error } = frame;
  if (typeof error === 'string') return { message: error };
  return objectOf(error) ?? (frame['object'] === 'error' ? frame : null);
}

/**
 * Chat completions, as OpenAI says them and as vLLM, Ollama, DeepSeek, OpenRouter and LiteLLM do: several fields for
 * reasoning, calls in one piece, no end.
 */
export class ChatAnswerReader extends FrameReader {
  private id = '';
  private started = false;
  /** By the index that the provider gives. */
  private readonly open = new Map<number, Call>();
  private calls = 0;
  private thought = false;
  private reason: FinishReason | null = null;

  protected override data(text: string): void {
    if (text !== '[DONE]') {
      super.data(text);
      return;
    }
    if (this.started) this.reason ??= 'stop';
    this.ended();
  }

  protected frame(frame: JsonObject): void {
    const error = chatErrorOf(frame);
    if (error !== null) {
      this.fail(error);
      return;
    }
    this.start(frame);
    const choice = listOf(frame['choices'])
      .map(objectOf)
      .find((one) => (numberOf(one?.['index']) ?? 0) === 0);
    if (choice !== null && choice !== undefined) {
      this.message(objectOf(choice['delta']) ?? {});
      this.finishOf(choice['finish_reason']);
    }
    this.count(readUsage('chat', frame['usage'], this.usage));
  }

  protected answer(answer: JsonObject): boolean {
    const choice = objectOf(listOf(answer['choices'])[0]);
    if (choice === null) return false;
    this.start(answer);
    this.message(objectOf(choice['message']) ?? {});
    this.finishOf(choice['finish_reason'] ?? 'stop');
    this.count(readUsage('chat', answer['usage'], this.usage));
    this.ended();
    return true;
  }

  protected ended(): void {
    this.endCalls();
    if (this.reason !== null)
      this.emit({
        kind: 'finish',
        reason: this.reason === 'stop' && this.calls > 0 ? 'tool-calls' : this.reason,
        stopSequence: null,
      });
  }

  private start(frame: JsonObject): void {
    const { choices } = frame;
    // Azure sends its filters' findings about the prompt first, of an answer that has no name yet.
    if (this.started || !Array.isArray(choices) || (choices.length === 0 && !textOf(frame['id']))) return;
    this.started = true;
    this.id = textOf(frame['id']) ?? '';
    const created = numberOf(frame['created']);
    this.emit({
      kind: 'start',
      id: this.id,
      model: textOf(frame['model']) ?? '',
      ...(created === null ? {} : { created }),
    });
  }

  private finishOf(value: unknown): void {
    const reason = textOf(value);
    // Some say an empty one until they end.
    if (reason === null || reason === '') return;
    this.reason = FINISH[reason] ?? 'stop';
    this.endCalls();
  }

  private message(delta: JsonObject): void {
    const reasoning = textOf(delta['reasoning_content']) || textOf(delta['reasoning']);
    if (reasoning !== null && reasoning !== '') {
      this.thought = true;
      this.emit({ kind: 'thinking', text: reasoning });
    }
    for (const block of listOf(delta['thinking_blocks'])) this.thinkingBlock(objectOf(block) ?? {});
    const content = delta['content'];
    const text =
      typeof content === 'string'
        ? content
        : listOf(content)
            .map((part) => textOf(objectOf(part)?.['text']) ?? '')
            .join('');
    if (text !== '') {
      this.thought = false;
      this.endCalls();
      this.emit({ kind: 'text', text });
    }
    const refusal = textOf(delta['refusal']);
    if (refusal !== null && refusal !== '') this.emit({ kind: 'refusal', text: refusal });
    for (const [index, call] of listOf(delta['tool_calls']).entries()) this.toolCall(objectOf(call) ?? {}, index);
  }

  /** LiteLLM says the reasoning a second time in these, so that only the signature is new. */
  private thinkingBlock(block: JsonObject): void {
    if (block['type'] === 'redacted_thinking') {
      this.emit({ kind: 'redacted', data: textOf(block['data']) ?? '' });
      return;
    }
    const text = textOf(block['thinking']) ?? '';
    if (!this.thought && text !== '') this.emit({ kind: 'thinking', text });
    const signature = textOf(block['signature']) ?? '';
    if (signature === '') return;
    this.thought = false;
    this.emit({ kind: 'signature', signature });
  }

  private toolCall(delta: JsonObject, position: number): void {
    const fn = objectOf(delta['function']) ?? {};
    const index = numberOf(delta['index']) ?? position;
    const id = textOf(delta['id']);
    const name = textOf(fn['name']) ?? '';
    let call = this.open.get(index);
    // Some say every call with the index 0.
    if (call !== undefined && id !== null && id !== '' && id !== call.id) {
      this.endCall(index, call);
      call = undefined;
    }
    if (call === undefined) {
      call = {
        call: this.calls,
        id: id || `call_${this.id}_${this.calls}`,
        name: '',
        held: '',
        begun: false,
        written: false,
      };
      this.calls += 1;
      this.open.set(index, call);
    }
    if (!call.begun && name !== '') {
      call.begun = true;
      call.name = name;
      const signature = textOf(objectOf(objectOf(delta['extra_content'])?.['google'])?.['thought_signature']);
      this.emit({
        kind: 'tool-begin',
        call: call.call,
        id: call.id,
        name,
        ...(signature === null ? {} : { signature }),
      });
    }
    const written = call.held + argumentsText(fn['arguments']);
    call.held = call.begun ? '' : written;
    if (!call.begun || written === '') return;
    call.written = true;
    this.emit({ kind: 'tool-arguments', call: call.call, text: written });
  }

  private endCalls(): void {
    for (const [index, call] of this.open) this.endCall(index, call);
  }

  private endCall(index: number, call: Call): void {
    this.open.delete(index);
    if (!call.begun) return;
    if (!call.written) this.emit({ kind: 'tool-arguments', call: call.call, text: '{}' });
    this.emit({ kind: 'tool-end', call: call.call });
  }
}
