import type { ChatMessage, Completion, CompletionDelta, CompletionRequest, ToolCall, ToolDefinition } from './chat.js';

/**
 * Tools for a model that has no calls of its own: they are described in the system message, called by text, and
 * answered by a message of the user. The form is the one that open models were trained on: `<function=name>`,
 * `<parameter=key>value</parameter>`, `</function>`.
 */

const OPEN = '<function=';
const CALL = /<function=([^>\s]+)>([\s\S]*?)(?:<\/function>|$)/;
const PARAMETER = /<parameter=([^>\s]+)>([\s\S]*?)<\/parameter>/g;

/** The request without tools, saying the same in words. */
export function withToolsInWords(request: CompletionRequest): CompletionRequest {
  const { tools, messages } = request;
  if (tools.length === 0) return request;
  const names = new Map<string, string>();
  const said = messages.map((message): ChatMessage => {
    switch (message.role) {
      case 'assistant': {
        for (const call of message.toolCalls) names.set(call.id, call.name);
        return {
          role: 'assistant',
          content: [message.content ?? '', ...message.toolCalls.map(callInWords)]
            .filter((part) => part !== '')
            .join('\n\n'),
          toolCalls: [],
        };
      }
      case 'tool':
        return {
          role: 'user',
          content: `EXECUTION RESULT of [${names.get(message.toolCallId) ?? 'unknown'}]:\n${message.content}`,
        };
      default:
        return message;
    }
  });
  const [first, ...rest] = said;
  const manual = manualOf(tools);
  return {
    tools: [],
    messages:
      first?.role === 'system'
        ? [{ role: 'system', content: `${first.content}\n\n${manual}` }, ...rest]
        : [{ role: 'system', content: manual }, ...said],
  };
}

/**
 * The completion with the call that its text holds, if it holds one: what comes before it is the text, what comes after
 * it is dropped.
 */
export function withCallFromWords(completion: Completion, tools: readonly ToolDefinition[]): Completion {
  if (completion.toolCalls.length > 0) return completion;
  const match = CALL.exec(completion.content);
  if (match?.[1] === undefined) return completion;
  const [, name, body = ''] = match;
  const tool = tools.find((each) => each.name === name);
  const call: ToolCall = { id: `call_${completion.id}`, name, arguments: JSON.stringify(argumentsOf(body, tool)) };
  return {
    ...completion,
    content: completion.content.slice(0, match.index).trimEnd(),
    toolCalls: [call],
    finishReason: 'tool_calls',
  };
}

/** Lets the words of an answer through to `onDelta`, and holds back what is, or may become, a call. */
export function withoutCallInDeltas(onDelta: (delta: CompletionDelta) => void): (delta: CompletionDelta) => void {
  let held = '';
  let offset = 0;
  let calling = false;
  return (delta) => {
    if (delta.channel !== 'content') return onDelta(delta);
    if (calling) return;
    if (held === '') offset = delta.offset;
    held += delta.text;
    const at = held.indexOf(OPEN);
    calling = at !== -1;
    const free = calling ? at : held.length - lengthOfBeginning(held);
    if (free === 0) return;
    onDelta({ ...delta, offset, text: held.slice(0, free) });
    held = held.slice(free);
    offset += free;
  };
}

/** Of the end of `text`, how much could be the beginning of a call. */
function lengthOfBeginning(text: string): number {
  for (let length = Math.min(OPEN.length - 1, text.length); length > 0; length -= 1)
    if (OPEN.startsWith(text.slice(-length))) return length;
  return 0;
}

function manualOf(tools: readonly ToolDefinition[]): string {
  const described = tools.map(
    (tool) => `### ${tool.name}\n${tool.description}\nParameters (JSON schema): ${JSON.stringify(tool.parameters)}`,
  );
  return [
    'You have access to the functions below.',
    ...described,
    'To call a function, end your answer with the call, in exactly this form, and with nothing after it:',
    '<function=name_of_the_function>\n<parameter=name_of_a_parameter>value</parameter>\n<parameter=name_of_another>a value\nof several lines</parameter>\n</function>',
    'Call one function at a time. Give every required parameter. Write lists and objects as JSON, text as it is. Without a call your answer is for the user and ends your work.',
  ].join('\n\n');
}

function callInWords(call: ToolCall): string {
  let values: Record<string, unknown>;
  try {
    values = JSON.parse(call.arguments.trim() || '{}') as Record<string, unknown>;
  } catch {
    values = { arguments: call.arguments };
  }
  const parameters = Object.entries(values).map(
    ([key, value]) => `<parameter=${key}>${typeof value === 'string' ? value : JSON.stringify(value)}</parameter>`,
  );
  return [`${OPEN}${call.name}>`, ...parameters, '</function>'].join('\n');
}

function argumentsOf(body: string, tool: ToolDefinition | undefined): Record<string, unknown> {
  const properties = (tool?.parameters['properties'] ?? {}) as Record<string, { type?: unknown } | undefined>;
  const found: Record<string, unknown> = {};
  for (const [, key = '', text = ''] of body.matchAll(PARAMETER)) found[key] = readValue(text, properties[key]?.type);
  return found;
}

/**
 * Text that should be something else is read as JSON; where it is none, it stays text, and whoever checks the arguments
 * says so to the model.
 */
function readValue(text: string, type: unknown): unknown {
  if (type === 'string' || type === undefined) return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return type === 'boolean' && /^(true|false)$/i.test(text.trim()) ? text.trim().toLowerCase() === 'true' : text;
  }
}
