import { usageOf } from './completion-wire.js';
import type { ModelRequest, ScriptedAnswer } from './model-script.js';

/** What Anthropic's `POST /v1/messages` answers, whole. */
export function messageOf(request: ModelRequest, answer: ScriptedAnswer): object {
  const usage = countsOf(request, answer);
  return {
    ...head(request),
    content: blocksOf(request, answer),
    stop_reason: stopReasonOf(answer),
    stop_sequence: null,
    usage,
  };
}

/** The same as an event stream, to its end. */
export function* messageEventsOf(request: ModelRequest, answer: ScriptedAnswer): Generator<string> {
  const { output_tokens: output, ...input } = countsOf(request, answer);
  yield event('message_start', {
    message: {
      ...head(request),
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { ...input, output_tokens: 1 },
    },
  });
  yield event('ping', {});
  for (const [index, block] of blocksOf(request, answer).entries()) {
    const { start, deltas } = partsOf(block, answer.chunkLength ?? 16);
    yield event('content_block_start', { index, content_block: start });
    for (const delta of deltas) yield event('content_block_delta', { index, delta });
    yield event('content_block_stop', { index });
  }
  yield event('message_delta', {
    delta: { stop_reason: stopReasonOf(answer), stop_sequence: null },
    usage: { output_tokens: output },
  });
  yield event('message_stop', {});
}

type Block =
  | { readonly type: 'thinking'; readonly thinking: string; readonly signature: string }
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'tool_use'; readonly id: string; readonly name: string; readonly input: unknown };

function blocksOf(request: ModelRequest, answer: ScriptedAnswer): Block[] {
  return [
    ...(answer.reasoning === undefined
      ? []
      : [{ type: 'thinking' as const, thinking: answer.reasoning, signature: `sig-${request.number}` }]),
    ...(answer.text === undefined ? [] : [{ type: 'text' as const, text: answer.text }]),
    ...(answer.toolCalls ?? []).map((call, index) => ({
      type: 'tool_use' as const,
      id: call.id ?? `toolu_${request.number}_${index}`,
      name: call.name,
      input: typeof call.arguments === 'string' ? JSON.parse(call.arguments) : call.arguments,
    })),
  ];
}

function partsOf(block: Block, length: number): { start: object; deltas: object[] } {
  switch (block.type) {
    case 'thinking':
      return {
        start: { type: 'thinking', thinking: '', signature: '' },
        deltas: [
          ...pieces(block.thinking, length).map((thinking) => ({ type: 'thinking_delta', thinking })),
          { type: 'signature_delta', signature: block.signature },
        ],
      };
    case 'text':
      return {
        start: { type: 'text', text: '' },
        deltas: pieces(block.text, length).map((text) => ({ type: 'text_delta', text })),
      };
    case 'tool_use':
      return {
        start: { type: 'tool_use', id: block.id, name: block.name, input: {} },
        deltas: pieces(JSON.stringify(block.input), length).map((text) => ({
          type: 'input_json_delta',
          partial_json: text,
        })),
      };
  }
}

function head(request: ModelRequest): object {
  return {
    id: `msg_scripted_${request.number}`,
    type: 'message',
    role: 'assistant',
    model: request.body.model ?? 'scripted',
  };
}

function stopReasonOf(answer: ScriptedAnswer): string {
  return answer.finishReason ?? ((answer.toolCalls ?? []).length > 0 ? 'tool_use' : 'end_turn');
}

/** Anthropic's input tokens are those that no cache had and none was given. */
function countsOf(request: ModelRequest, answer: ScriptedAnswer) {
  const usage = usageOf(request, answer);
  const cached = usage?.prompt_tokens_details?.cached_tokens ?? 0;
  const written = usage?.prompt_tokens_details?.cache_creation_tokens ?? 0;
  const searches = usage?.web_searches ?? 0;
  return {
    input_tokens: (usage?.prompt_tokens ?? 0) - cached - written,
    cache_read_input_tokens: cached,
    ...(written === 0 ? {} : { cache_creation_input_tokens: written }),
    ...(searches === 0 ? {} : { server_tool_use: { web_search_requests: searches } }),
    output_tokens: usage?.completion_tokens ?? 0,
  };
}

function event(type: string, fields: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
}

export function pieces(text: string, length: number): string[] {
  return Array.from({ length: Math.ceil(text.length / length) }, (_, index) =>
    text.slice(index * length, (index + 1) * length),
  );
}
