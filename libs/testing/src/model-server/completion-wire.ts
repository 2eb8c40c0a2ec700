import type { ModelRequest, ScriptedAnswer, ScriptedUsage } from './model-script.js';

/** The `chat.completion` object of an answer. */
export function completionOf(request: ModelRequest, answer: ScriptedAnswer): object {
  const usage = usageOf(request, answer);
  return {
    id: idOf(request, answer),
    object: 'chat.completion',
    created: 1_700_000_000,
    model: request.body.model ?? 'scripted',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: answer.text ?? null,
          ...(answer.reasoning === undefined ? {} : { reasoning_content: answer.reasoning }),
          ...(answer.toolCalls === undefined ? {} : { tool_calls: toolCallsOf(request, answer) }),
        },
        finish_reason: finishReasonOf(answer),
      },
    ],
    ...(usage === null ? {} : { usage }),
  };
}

/** The frames of an answer's event stream, `data: …` with their blank line, without the last `[DONE]`. */
export function* framesOf(request: ModelRequest, answer: ScriptedAnswer): Generator<string> {
  const length = answer.chunkLength ?? 16;
  const head = {
    id: idOf(request, answer),
    object: 'chat.completion.chunk',
    created: 1_700_000_000,
    model: request.body.model ?? 'scripted',
  };
  const chunk = (delta: object, finishReason: string | null = null): string =>
    frame({ ...head, choices: [{ index: 0, delta, finish_reason: finishReason }] });
  yield chunk({ role: 'assistant', content: '' });
  for (const piece of pieces(answer.reasoning ?? '', length)) yield chunk({ reasoning_content: piece });
  for (const piece of pieces(answer.text ?? '', length)) yield chunk({ content: piece });
  for (const [index, call] of toolCallsOf(request, answer).entries()) {
    yield chunk({
      tool_calls: [{ index, id: call.id, type: 'function', function: { name: call.function.name, arguments: '' } }],
    });
    for (const piece of pieces(call.function.arguments, length))
      yield chunk({ tool_calls: [{ index, function: { arguments: piece } }] });
  }
  yield chunk({}, finishReasonOf(answer));
  const usage = usageOf(request, answer);
  const asked = (request.body['stream_options'] as { include_usage?: boolean } | undefined)?.include_usage === true;
  if (asked && usage !== null) yield frame({ ...head, choices: [], usage });
}

export function frame(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

function idOf(request: ModelRequest, answer: ScriptedAnswer): string {
  return answer.id ?? `chatcmpl-scripted-${request.number}`;
}

function toolCallsOf(
  request: ModelRequest,
  answer: ScriptedAnswer,
): Array<{ id: string; type: 'function'; function: { name: string; arguments: string } }> {
  return (answer.toolCalls ?? []).map((call, index) => ({
    id: call.id ?? `call_${request.number}_${index}`,
    type: 'function',
    function: {
      name: call.name,
      arguments: typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments),
    },
  }));
}

function finishReasonOf(answer: ScriptedAnswer): string {
  return answer.finishReason ?? ((answer.toolCalls ?? []).length > 0 ? 'tool_calls' : 'stop');
}

export function usageOf(request: ModelRequest, answer: ScriptedAnswer): ScriptedUsage | null {
  if (answer.usage !== undefined) return answer.usage;
  const prompt = Math.ceil(request.raw.length / 4);
  const completion = Math.ceil(
    ((answer.text ?? '').length + (answer.reasoning ?? '').length + JSON.stringify(answer.toolCalls ?? '').length) / 4,
  );
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion };
}

function* pieces(text: string, length: number): Generator<string> {
  for (let start = 0; start < text.length; start += length) yield text.slice(start, start + length);
}
