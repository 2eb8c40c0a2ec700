import { usageOf } from './completion-wire.js';
import { pieces } from './messages-wire.js';
import type { ModelRequest, ScriptedAnswer } from './model-script.js';

/** What OpenAI's `POST /v1/responses` answers, whole. */
export function responseOf(request: ModelRequest, answer: ScriptedAnswer): object {
  const usage = usageOf(request, answer);
  return {
    ...head(request, 'completed'),
    output: itemsOf(request, answer),
    usage: {
      input_tokens: usage?.prompt_tokens ?? 0,
      input_tokens_details: {
        cached_tokens: usage?.prompt_tokens_details?.cached_tokens ?? 0,
        ...(usage?.prompt_tokens_details?.cache_creation_tokens === undefined
          ? {}
          : { cache_write_tokens: usage.prompt_tokens_details.cache_creation_tokens }),
      },
      output_tokens: usage?.completion_tokens ?? 0,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: usage?.total_tokens ?? 0,
    },
  };
}

/** The same as an event stream, to its end. */
export function* responseEventsOf(request: ModelRequest, answer: ScriptedAnswer): Generator<string> {
  let number = 0;
  const event = (type: string, fields: object): string => {
    const text = `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: number, ...fields })}\n\n`;
    number += 1;
    return text;
  };
  const length = answer.chunkLength ?? 16;
  yield event('response.created', { response: { ...head(request, 'in_progress'), output: [], usage: null } });
  yield event('response.in_progress', { response: { ...head(request, 'in_progress'), output: [], usage: null } });
  for (const [index, item] of itemsOf(request, answer).entries()) {
    const at = { output_index: index, item_id: item.id };
    if (item.type === 'function_call') {
      yield event('response.output_item.added', {
        output_index: index,
        item: { ...item, status: 'in_progress', arguments: '' },
      });
      for (const delta of pieces(item.arguments, length))
        yield event('response.function_call_arguments.delta', { ...at, delta });
      yield event('response.function_call_arguments.done', { ...at, arguments: item.arguments, name: item.name });
    } else if (item.type === 'web_search_call')
      yield event('response.output_item.added', { output_index: index, item: { ...item, status: 'in_progress' } });
    else {
      const [part] = item.content;
      yield event('response.output_item.added', {
        output_index: index,
        item: { ...item, status: 'in_progress', content: [] },
      });
      yield event('response.content_part.added', { ...at, content_index: 0, part: { ...part, text: '' } });
      for (const delta of pieces(part.text, length))
        yield event('response.output_text.delta', { ...at, content_index: 0, delta, logprobs: [] });
      yield event('response.output_text.done', { ...at, content_index: 0, text: part.text, logprobs: [] });
      yield event('response.content_part.done', { ...at, content_index: 0, part });
    }
    yield event('response.output_item.done', { output_index: index, item });
  }
  yield event('response.completed', { response: responseOf(request, answer) });
}

type Item =
  | {
      readonly id: string;
      readonly type: 'message';
      readonly role: 'assistant';
      readonly status: 'completed';
      readonly content: readonly [
        { readonly type: 'output_text'; readonly text: string; readonly annotations: readonly [] },
      ];
    }
  | {
      readonly id: string;
      readonly type: 'web_search_call';
      readonly status: 'completed';
      readonly action: { readonly type: 'search'; readonly query: string };
    }
  | {
      readonly id: string;
      readonly type: 'function_call';
      readonly status: 'completed';
      readonly call_id: string;
      readonly name: string;
      readonly arguments: string;
    };

function itemsOf(request: ModelRequest, answer: ScriptedAnswer): Item[] {
  const message: Item[] =
    answer.text === undefined
      ? []
      : [
          {
            id: `msg_scripted_${request.number}`,
            type: 'message',
            role: 'assistant',
            status: 'completed',
            content: [{ type: 'output_text', text: answer.text, annotations: [] }],
          },
        ];
  const searches = Array.from(
    { length: usageOf(request, answer)?.web_searches ?? 0 },
    (_, index): Item => ({
      id: `ws_scripted_${request.number}_${index}`,
      type: 'web_search_call',
      status: 'completed',
      action: { type: 'search', query: 'x' },
    }),
  );
  const calls = (answer.toolCalls ?? []).map(
    (call, index): Item => ({
      id: `fc_scripted_${request.number}_${index}`,
      type: 'function_call',
      status: 'completed',
      call_id: call.id ?? `call_${request.number}_${index}`,
      name: call.name,
      arguments: typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments),
    }),
  );
  return [...searches, ...message, ...calls];
}

function head(request: ModelRequest, status: 'in_progress' | 'completed'): object {
  return {
    id: `resp_scripted_${request.number}`,
    object: 'response',
    created_at: 1_700_000_000,
    status,
    error: null,
    incomplete_details: null,
    model: request.body.model ?? 'scripted',
    parallel_tool_calls: true,
    tool_choice: 'auto',
    tools: [],
  };
}
