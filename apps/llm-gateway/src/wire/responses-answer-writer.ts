import type { Usage } from '../calls/usage.js';
import { answerId } from './assembled.js';
import type { JsonObject } from './json.js';
import { REDACTED, responsesText, responsesTool, responsesToolChoice } from './responses-request.js';
import type { AnswerEvent, AnswerWriter, FinishReason, TurnsRequest } from './turns.js';
import { responsesUsage } from './usage.js';

/** An item that is being written. */
interface Open {
  readonly kind: 'text' | 'refusal' | 'thinking' | 'call';
  readonly outputIndex: number;
  readonly id: string;
  readonly callId: string;
  readonly name: string;
  readonly pieces: string[];
}

/**
 * Answers as OpenAI's Responses, with all of its events in their order. What is said in pieces is said once more when
 * it is whole, as that API does.
 */
export class ResponsesAnswerWriter implements AnswerWriter {
  private sequence = 0;
  private response: JsonObject = {};
  private id = '';
  private usage: Usage | null = null;
  /** Items that are whole, by their place. */
  private readonly output: JsonObject[] = [];
  private places = 0;
  /** Words or reasoning; calls may overlap and stand apart. */
  private words: Open | null = null;
  private readonly calls = new Map<number, Open>();

  constructor(
    private readonly request: TurnsRequest,
    /** Seconds since 1970. */
    private readonly now: () => number,
  ) {}

  write(event: AnswerEvent): string {
    switch (event.kind) {
      case 'start':
        this.begin(event.id, event.model, event.created ?? this.now());
        return (
          this.frame('response.created', { response: this.response }) +
          this.frame('response.in_progress', { response: this.response })
        );
      case 'text':
      case 'refusal':
      case 'thinking':
        return this.say(event.kind, event.text);
      case 'signature': {
        const opened = this.words?.kind === 'thinking' ? '' : this.closeWords() + this.open('thinking');
        return opened + this.closeWords(event.signature, event.id);
      }
      case 'redacted':
        return this.closeWords() + this.open('thinking') + this.closeWords(REDACTED + event.data);
      case 'tool-begin': {
        // Items of calls have no place for a signature: it goes with the reasoning before it, which callers send back.
        const signed =
          event.signature === undefined ? '' : this.write({ kind: 'signature', signature: event.signature });
        const closed = signed + this.closeWords();
        const call = this.place('call', event.id, event.name);
        this.calls.set(event.call, call);
        return (
          closed +
          this.frame('response.output_item.added', {
            output_index: call.outputIndex,
            item: callItem(call, 'in_progress'),
          })
        );
      }
      case 'tool-arguments': {
        const call = this.calls.get(event.call);
        if (call === undefined) return '';
        call.pieces.push(event.text);
        return this.frame('response.function_call_arguments.delta', {
          item_id: call.id,
          output_index: call.outputIndex,
          delta: event.text,
        });
      }
      case 'tool-end':
        return this.closeCall(event.call);
      case 'usage':
        this.usage = event.usage;
        return '';
      case 'finish': {
        const closed = this.closeWords() + [...this.calls.keys()].map((call) => this.closeCall(call)).join('');
        const { status, ...more } = ended(event.reason);
        this.response = {
          ...this.response,
          status,
          ...more,
          output: this.output,
          usage: this.usage === null ? null : responsesUsage(this.usage),
        };
        return closed + this.frame(`response.${status}`, { response: this.response });
      }
      case 'error':
        return '';
    }
  }

  whole(events: readonly AnswerEvent[]): string {
    // The same items as a stream has, in one piece.
    for (const event of events) this.write(event);
    return JSON.stringify(this.response);
  }

  private begin(id: string, model: string, createdAt: number): void {
    this.id = answerId('resp_', id);
    const { request } = this;
    this.response = {
      id: this.id,
      object: 'response',
      created_at: createdAt,
      status: 'in_progress',
      background: false,
      error: null,
      incomplete_details: null,
      instructions: request.system.map(({ text }) => text).join('\n\n') || null,
      max_output_tokens: request.maxOutputTokens,
      model,
      output: [],
      parallel_tool_calls: request.parallelToolCalls ?? true,
      previous_response_id: null,
      reasoning: { effort: request.reasoning?.effort ?? null, summary: request.reasoning?.summary ?? null },
      store: false,
      temperature: request.sampling.temperature ?? 1,
      text: responsesText(request) ?? { format: { type: 'text' } },
      tool_choice: responsesToolChoice(request.toolChoice) ?? 'auto',
      tools: request.tools.map(responsesTool),
      top_p: request.sampling.topP ?? 1,
      truncation: 'disabled',
      usage: null,
      user: request.user,
      metadata: request.metadata,
    };
  }

  private frame(type: string, members: JsonObject): string {
    const said = `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: this.sequence, ...members })}\n\n`;
    this.sequence += 1;
    return said;
  }

  private place(kind: Open['kind'], callId = '', name = ''): Open {
    const outputIndex = this.places;
    this.places += 1;
    const prefix = kind === 'call' ? 'fc' : kind === 'thinking' ? 'rs' : 'msg';
    return {
      kind,
      outputIndex,
      id: `${prefix}_${this.id.slice('resp_'.length)}_${outputIndex}`,
      callId,
      name,
      pieces: [],
    };
  }

  private say(kind: 'text' | 'refusal' | 'thinking', text: string): string {
    const opened = this.words?.kind === kind ? '' : this.closeWords() + this.open(kind);
    const words = this.words as Open;
    words.pieces.push(text);
    const at = { item_id: words.id, output_index: words.outputIndex };
    if (kind === 'thinking') {
      const part =
        words.pieces.length > 1
          ? ''
          : this.frame('response.reasoning_summary_part.added', { ...at, summary_index: 0, part: summaryPart('') });
      return (
        opened + part + this.frame('response.reasoning_summary_text.delta', { ...at, summary_index: 0, delta: text })
      );
    }
    if (kind === 'refusal')
      return opened + this.frame('response.refusal.delta', { ...at, content_index: 0, delta: text });
    return opened + this.frame('response.output_text.delta', { ...at, content_index: 0, delta: text, logprobs: [] });
  }

  private open(kind: 'text' | 'refusal' | 'thinking'): string {
    const words = this.place(kind);
    this.words = words;
    // A summary may have no part at all.
    if (kind === 'thinking')
      return this.frame('response.output_item.added', {
        output_index: words.outputIndex,
        item: { id: words.id, type: 'reasoning', summary: [] },
      });
    const at = { item_id: words.id, output_index: words.outputIndex };
    const item = { id: words.id, type: 'message', status: 'in_progress', role: 'assistant', content: [] };
    return (
      this.frame('response.output_item.added', { output_index: words.outputIndex, item }) +
      this.frame('response.content_part.added', { ...at, content_index: 0, part: contentPart(kind, '') })
    );
  }

  private closeWords(encrypted?: string, id?: string): string {
    const { words } = this;
    if (words === null) return '';
    this.words = null;
    const text = words.pieces.join('');
    const at = { item_id: words.id, output_index: words.outputIndex };
    let said = '';
    let item: JsonObject;
    if (words.kind === 'thinking') {
      const part = summaryPart(text);
      item = {
        id: id ?? words.id,
        type: 'reasoning',
        summary: text === '' ? [] : [part],
        ...(encrypted === undefined ? {} : { encrypted_content: encrypted }),
      };
      if (text !== '')
        said =
          this.frame('response.reasoning_summary_text.done', { ...at, summary_index: 0, text }) +
          this.frame('response.reasoning_summary_part.done', { ...at, summary_index: 0, part });
    } else {
      const part = contentPart(words.kind, text);
      item = { id: words.id, type: 'message', status: 'completed', role: 'assistant', content: [part] };
      said =
        (words.kind === 'refusal'
          ? this.frame('response.refusal.done', { ...at, content_index: 0, refusal: text })
          : this.frame('response.output_text.done', { ...at, content_index: 0, text, logprobs: [] })) +
        this.frame('response.content_part.done', { ...at, content_index: 0, part });
    }
    return said + this.done(words.outputIndex, item);
  }

  private closeCall(number: number): string {
    const call = this.calls.get(number);
    if (call === undefined) return '';
    this.calls.delete(number);
    const item = callItem(call, 'completed');
    return (
      this.frame('response.function_call_arguments.done', {
        item_id: call.id,
        output_index: call.outputIndex,
        name: call.name,
        arguments: item['arguments'],
      }) + this.done(call.outputIndex, item)
    );
  }

  private done(outputIndex: number, item: JsonObject): string {
    this.output[outputIndex] = item;
    return this.frame('response.output_item.done', { output_index: outputIndex, item });
  }
}

function callItem(call: Open, status: string): JsonObject {
  return {
    id: call.id,
    type: 'function_call',
    status,
    call_id: call.callId,
    name: call.name,
    arguments: call.pieces.join(''),
  };
}

function summaryPart(text: string): JsonObject {
  return { type: 'summary_text', text };
}

function contentPart(kind: Open['kind'], text: string): JsonObject {
  return kind === 'refusal'
    ? { type: 'refusal', refusal: text }
    : { type: 'output_text', text, annotations: [], logprobs: [] };
}

function ended(reason: FinishReason): { readonly status: string; readonly incomplete_details: JsonObject | null } {
  if (reason === 'length') return { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } };
  if (reason === 'filter') return { status: 'incomplete', incomplete_details: { reason: 'content_filter' } };
  return { status: 'completed', incomplete_details: null };
}
