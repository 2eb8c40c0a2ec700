import { SlipwayError } from '@slipway/errors';
import type { Completion, CompletionDelta, CompletionUsage, ToolCall } from './chat.js';

const NO_USAGE: CompletionUsage = {
  promptTokens: 0,
  completionTokens: 0,
  cacheReadTokens: 0,
  reasoningTokens: 0,
  costUsd: null,
};

/**
 * Most text and arguments of one response, about. UTF-16 code units; there it is broken off, as at a limit of the
 * model's own.
 */
const MAX_RESPONSE_LENGTH = 4 * 1024 * 1024;

/** Why an answer ended that was too long. */
export const CUT_OFF = 'length';

/** Most tool calls of one response: an index beyond it is refused, not made room for. */
const MAX_CALLS = 1_000;
/** Longest name and id of a call that is kept: no tool has a longer name. */
const MAX_NAME = 256;

/**
 * Folds the chunks of a streamed chat completion into one `Completion`. Reads leniently: fields that are missing or of
 * another type count as absent.
 */
export class CompletionAssembler {
  private id = '';
  private model = '';
  private content = '';
  private reasoning = '';
  private finishReason: string | null = null;
  private usage = NO_USAGE;
  private size = 0;
  private full = false;
  private readonly calls: Array<{ id: string; name: string; arguments: string }> = [];

  constructor(
    private readonly fallbackId: string,
    private readonly onDelta: (delta: CompletionDelta) => void,
  ) {}

  /** The response is as long as one may be: nothing that follows is taken in. */
  get isFull(): boolean {
    return this.full;
  }

  /** @throws SlipwayError when the chunk is an error of the provider (`errorOf` names it). */
  add(chunk: unknown, errorOf: (error: Record<string, unknown>) => SlipwayError): void {
    const body = asRecord(chunk);
    if (body === null) throw new SlipwayError('model.bad-response', 'The model sent a chunk that is not an object.');
    const error = asRecord(body['error']);
    if (error !== null) throw errorOf(error);
    if (this.id === '') this.id = asString(body['id']) || this.fallbackId;
    if (this.model === '') this.model = asString(body['model']);
    const usage = asRecord(body['usage']);
    if (usage !== null) this.usage = usageOf(usage);
    const choice = Array.isArray(body['choices']) ? asRecord(body['choices'][0]) : null;
    if (choice === null || this.full) return;
    if (typeof choice['finish_reason'] === 'string') this.finishReason = choice['finish_reason'];
    const delta = asRecord(choice['delta']) ?? asRecord(choice['message']);
    if (delta === null) return;
    const reasoning = asString(delta['reasoning_content']) || asString(delta['reasoning']);
    if (reasoning !== '') {
      this.onDelta({ responseId: this.id, channel: 'reasoning', offset: this.reasoning.length, text: reasoning });
      this.reasoning += reasoning;
      this.grow(reasoning.length);
    }
    const content = asString(delta['content']);
    if (content !== '') {
      this.onDelta({ responseId: this.id, channel: 'content', offset: this.content.length, text: content });
      this.content += content;
      this.grow(content.length);
    }
    if (Array.isArray(delta['tool_calls']))
      for (const [position, call] of delta['tool_calls'].entries()) this.addToolCall(asRecord(call), position);
  }

  /** @throws SlipwayError `model.bad-response` when the stream ended before the response did, or said nothing. */
  finish(sawEnd: boolean): Completion {
    if (!sawEnd && this.finishReason === null)
      throw new SlipwayError('model.bad-response', 'The answer of the model broke off in the middle.');
    const taken = new Set<string>();
    const toolCalls: ToolCall[] = this.calls
      .filter((call) => call.name !== '')
      .map((call, index) => {
        const id = call.id === '' || taken.has(call.id) ? `call_${this.id}_${index}` : call.id;
        taken.add(id);
        return { ...call, id };
      });
    // Blanks alone are nothing either: providers refuse a conversation that holds such an answer.
    const content = this.content.trim() === '' ? '' : this.content;
    if (content === '' && this.reasoning.trim() === '' && toolCalls.length === 0)
      throw new SlipwayError('model.bad-response', 'The model sent an empty answer.');
    return {
      id: this.id,
      model: this.model,
      content,
      reasoning: this.reasoning,
      toolCalls,
      finishReason: this.finishReason,
      usage: this.usage,
    };
  }

  private addToolCall(call: Record<string, unknown> | null, position: number): void {
    if (call === null) return;
    const given = call['index'];
    const index = typeof given === 'number' && Number.isInteger(given) && given >= 0 ? given : position;
    if (index >= MAX_CALLS)
      throw new SlipwayError('model.bad-response', `The model asked for more than ${MAX_CALLS} tools at once.`);
    while (this.calls.length <= index) this.calls.push({ id: '', name: '', arguments: '' });
    const known = this.calls[index];
    const fn = asRecord(call['function']);
    if (known === undefined) return;
    known.id ||= asString(call['id']).slice(0, MAX_NAME);
    known.name ||= asString(fn?.['name']).slice(0, MAX_NAME);
    const args = fn?.['arguments'];
    const text = typeof args === 'string' ? args : args === undefined || args === null ? '' : JSON.stringify(args);
    known.arguments += text;
    this.grow(text.length);
  }

  private grow(by: number): void {
    this.size += by;
    if (this.size <= MAX_RESPONSE_LENGTH) return;
    this.full = true;
    this.finishReason = CUT_OFF;
  }
}

function usageOf(usage: Record<string, unknown>): CompletionUsage {
  return {
    promptTokens: asCount(usage['prompt_tokens']),
    completionTokens: asCount(usage['completion_tokens']),
    cacheReadTokens: asCount(asRecord(usage['prompt_tokens_details'])?.['cached_tokens']),
    reasoningTokens: asCount(asRecord(usage['completion_tokens_details'])?.['reasoning_tokens']),
    costUsd:
      typeof usage['cost'] === 'number' && Number.isFinite(usage['cost']) && usage['cost'] >= 0 ? usage['cost'] : null,
  };
}

export function asRecord(value: unknown): Record<string, unknown> | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : null;
}

function asString(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function asCount(value: unknown): number {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? Math.floor(value) : 0;
}
