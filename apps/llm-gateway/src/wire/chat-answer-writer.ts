import type { Usage } from '../calls/usage.js';
import { answerId, assembled } from './assembled.js';
import type { JsonObject } from './json.js';
import type { AnswerEvent, AnswerWriter, FinishReason } from './turns.js';
import { chatUsage } from './usage.js';

const FINISH: Readonly<Record<FinishReason, string>> = {
  stop: 'stop',
  length: 'length',
  'tool-calls': 'tool_calls',
  filter: 'content_filter',
  pause: 'stop',
};

/**
 * Answers as chat completions. Reasoning goes as `reasoning_content`, and what must come back with it as LiteLLM's
 * `thinking_blocks`: a block is sent when it is signed, with its whole text.
 */
export class ChatAnswerWriter implements AnswerWriter {
  private head: JsonObject = {};
  private usage: Usage | null = null;
  private thought: string[] = [];

  constructor(
    private readonly includeUsage: boolean,
    /** Seconds since 1970. */
    private readonly now: () => number,
  ) {}

  write(event: AnswerEvent): string {
    switch (event.kind) {
      case 'start':
        this.head = {
          id: answerId('chatcmpl-', event.id),
          object: 'chat.completion.chunk',
          created: event.created ?? this.now(),
          model: event.model,
        };
        return this.chunk({ role: 'assistant', content: '' });
      case 'text':
        return this.chunk({ content: event.text });
      case 'refusal':
        return this.chunk({ refusal: event.text });
      case 'thinking':
        this.thought.push(event.text);
        return this.chunk({ reasoning_content: event.text });
      case 'signature': {
        const thinking = this.thought.join('');
        this.thought = [];
        return this.chunk({ thinking_blocks: [{ type: 'thinking', thinking, signature: event.signature }] });
      }
      case 'redacted':
        return this.chunk({ thinking_blocks: [{ type: 'redacted_thinking', data: event.data }] });
      case 'tool-begin':
        return this.chunk({ tool_calls: [{ index: event.call, ...call(event.id, event.name, '', event.signature) }] });
      case 'tool-arguments':
        return this.chunk({ tool_calls: [{ index: event.call, function: { arguments: event.text } }] });
      case 'usage':
        this.usage = event.usage;
        return '';
      case 'finish': {
        const last = this.chunk({}, FINISH[event.reason]);
        const counted =
          this.includeUsage && this.usage !== null
            ? frame({ ...this.head, choices: [], usage: chatUsage(this.usage) })
            : '';
        return `${last}${counted}data: [DONE]\n\n`;
      }
      case 'tool-end':
      case 'error':
        return '';
    }
  }

  whole(events: readonly AnswerEvent[]): string {
    const answer = assembled(events);
    const texts = (kind: string): string =>
      answer.parts.map((part) => (part.kind === kind && 'text' in part ? part.text : '')).join('');
    const blocks = answer.parts.flatMap((part): JsonObject[] => {
      if (part.kind === 'redacted') return [{ type: 'redacted_thinking', data: part.data }];
      return part.kind === 'thinking' && part.signature !== null
        ? [{ type: 'thinking', thinking: part.text, signature: part.signature }]
        : [];
    });
    const calls = answer.parts.flatMap((part) =>
      part.kind === 'tool-call' ? [call(part.id, part.name, part.arguments, part.signature)] : [],
    );
    const [content, reasoning, refusal] = [texts('text'), texts('thinking'), texts('refusal')];
    return JSON.stringify({
      id: answerId('chatcmpl-', answer.id),
      object: 'chat.completion',
      created: answer.created ?? this.now(),
      model: answer.model,
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: content === '' && (calls.length > 0 || refusal !== '') ? null : content,
            refusal: refusal === '' ? null : refusal,
            ...(reasoning === '' ? {} : { reasoning_content: reasoning }),
            ...(blocks.length === 0 ? {} : { thinking_blocks: blocks }),
            ...(calls.length === 0 ? {} : { tool_calls: calls }),
          },
          logprobs: null,
          finish_reason: FINISH[answer.reason],
        },
      ],
      ...(answer.usage === null ? {} : { usage: chatUsage(answer.usage) }),
    });
  }

  private chunk(delta: JsonObject, finishReason: string | null = null): string {
    return frame({ ...this.head, choices: [{ index: 0, delta, logprobs: null, finish_reason: finishReason }] });
  }
}

/** A signature goes where Gemini's own answers in this dialect have it. */
function call(id: string, name: string, args: string, signature: string | undefined): JsonObject {
  return {
    id,
    type: 'function',
    function: { name, arguments: args },
    ...(signature === undefined ? {} : { extra_content: { google: { thought_signature: signature } } }),
  };
}

function frame(value: JsonObject): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}
