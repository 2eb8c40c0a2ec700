import type { JsonObject } from '../wire/json.js';

/**
 * What a client of a dialect keeps of a conversation, and what it makes of an answer: the part of an SDK that matters
 * here, written from the dialect's documentation.
 */
export interface TestCaller {
  first(stream: boolean): JsonObject;
  /** The request with the results of all calls, and the answer given back as it came. */
  next(request: JsonObject, answer: JsonObject): JsonObject;
  /** The whole answer of a stream. */
  assemble(frames: readonly JsonObject[]): JsonObject;
  seen(answer: JsonObject): {
    readonly text: string;
    readonly thinking: string;
    readonly calls: ReadonlyArray<{ id: string; name: string; arguments: unknown }>;
    readonly stop: unknown;
  };
}

const QUESTION = 'Which files are there?';
const PICTURE = 'iVBORw0KGgo=';
const SCHEMA = {
  type: 'object',
  properties: { command: { type: 'string' }, timeout: { type: 'integer' } },
  required: ['command'],
  additionalProperties: false,
};
const NAMES = ['terminal', 'read_file'];
export const RESULT = 'a.txt b.txt';

/** The shape is what is tested: an access that does not fit throws. */
// biome-ignore lint/suspicious/noExplicitAny: answers are walked as a client without types does
type Any = Record<string, any>;

const chat: TestCaller = {
  first: (stream) => ({
    model: 'asked',
    stream,
    ...(stream ? { stream_options: { include_usage: true } } : {}),
    messages: [
      { role: 'system', content: 'You are helpful.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: QUESTION },
          { type: 'image_url', image_url: { url: `data:image/png;base64,${PICTURE}` } },
        ],
      },
    ],
    tools: NAMES.map((name) => ({ type: 'function', function: { name, description: name, parameters: SCHEMA } })),
  }),
  next: (request, answer) => {
    const { message } = (answer as Any)['choices'][0];
    const results = message.tool_calls.map((call: Any) => ({
      role: 'tool',
      tool_call_id: call['id'],
      content: RESULT,
    }));
    return { ...request, messages: [...(request as Any)['messages'], message, ...results] };
  },
  assemble: (frames) => {
    const message: Any = { role: 'assistant', content: '', reasoning_content: '', thinking_blocks: [], tool_calls: [] };
    let [finish, usage]: unknown[] = [null, null];
    for (const frame of frames as Any[]) {
      usage = frame['usage'] ?? usage;
      const choice = frame['choices'][0];
      finish = choice?.finish_reason ?? finish;
      message['content'] += choice?.delta.content ?? '';
      message['reasoning_content'] += choice?.delta.reasoning_content ?? '';
      message['thinking_blocks'].push(...(choice?.delta.thinking_blocks ?? []));
      for (const { index, ...delta } of choice?.delta.tool_calls ?? []) {
        const call = message['tool_calls'][index];
        if (call === undefined) message['tool_calls'][index] = delta;
        else call.function.arguments += delta.function.arguments;
      }
    }
    if (message['tool_calls'].length === 0) delete message['tool_calls'];
    return { choices: [{ message, finish_reason: finish }], usage };
  },
  seen: (answer) => {
    const { message, finish_reason: stop } = (answer as Any)['choices'][0];
    const calls = (message.tool_calls ?? []).map((call: Any) => ({
      id: call['id'],
      name: call['function'].name,
      arguments: JSON.parse(call['function'].arguments),
    }));
    return { text: message.content ?? '', thinking: message.reasoning_content ?? '', calls, stop };
  },
};

const messages: TestCaller = {
  first: (stream) => ({
    model: 'asked',
    stream,
    max_tokens: 1_000,
    system: [{ type: 'text', text: 'You are helpful.', cache_control: { type: 'ephemeral' } }],
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: QUESTION },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PICTURE } },
        ],
      },
    ],
    tools: NAMES.map((name) => ({ name, description: name, input_schema: SCHEMA })),
  }),
  next: (request, answer) => {
    const content = answer['content'] as Any[];
    const results = content
      .filter(({ type }) => type === 'tool_use')
      .map(({ id }) => ({ type: 'tool_result', tool_use_id: id, content: RESULT }));
    return {
      ...request,
      messages: [...(request as Any)['messages'], { role: 'assistant', content }, { role: 'user', content: results }],
    };
  },
  assemble: (frames) => {
    let message: Any = {};
    for (const frame of frames as Any[]) {
      if (frame['type'] === 'message_start') message = { ...frame['message'], content: [] };
      if (frame['type'] === 'content_block_start') message['content'][frame['index']] = { ...frame['content_block'] };
      if (frame['type'] === 'message_delta') message = { ...message, ...frame['delta'], usage: frame['usage'] };
      const block = message['content']?.[frame['index']];
      const { delta } = frame;
      if (frame['type'] === 'content_block_delta') {
        if (delta.type === 'text_delta') block.text += delta.text;
        if (delta.type === 'thinking_delta') block.thinking += delta.thinking;
        if (delta.type === 'signature_delta') block.signature += delta.signature;
        if (delta.type === 'input_json_delta') block.json = (block.json ?? '') + delta.partial_json;
      }
      if (frame['type'] === 'content_block_stop' && block.json !== undefined) {
        block.input = JSON.parse(block.json);
        delete block.json;
      }
    }
    return message;
  },
  seen: (answer) => {
    const content = answer['content'] as Any[];
    const of = (type: string, field: string): string =>
      content
        .filter((block) => block['type'] === type)
        .map((block) => block[field])
        .join('');
    const calls = content
      .filter(({ type }) => type === 'tool_use')
      .map((block) => ({ id: block['id'], name: block['name'], arguments: block['input'] }));
    return { text: of('text', 'text'), thinking: of('thinking', 'thinking'), calls, stop: answer['stop_reason'] };
  },
};

const responses: TestCaller = {
  first: (stream) => ({
    model: 'asked',
    stream,
    store: false,
    instructions: 'You are helpful.',
    input: [
      {
        role: 'user',
        content: [
          { type: 'input_text', text: QUESTION },
          { type: 'input_image', image_url: `data:image/png;base64,${PICTURE}` },
        ],
      },
    ],
    include: ['reasoning.encrypted_content'],
    tools: NAMES.map((name) => ({ type: 'function', name, description: name, parameters: SCHEMA })),
  }),
  next: (request, answer) => {
    const output = answer['output'] as Any[];
    const results = output
      .filter(({ type }) => type === 'function_call')
      .map((call) => ({ type: 'function_call_output', call_id: call['call_id'], output: RESULT }));
    return { ...request, input: [...(request as Any)['input'], ...output, ...results] };
  },
  assemble: (frames) => frames.find((frame) => frame['type'] === 'response.completed')?.['response'] as JsonObject,
  seen: (answer) => {
    const output = answer['output'] as Any[];
    const text = output
      .flatMap((item) => (item['type'] === 'message' ? item['content'].map((part: Any) => part['text']) : []))
      .join('');
    const thinking = output
      .flatMap((item) => (item['type'] === 'reasoning' ? item['summary'].map((part: Any) => part['text']) : []))
      .join('');
    const calls = output
      .filter(({ type }) => type === 'function_call')
      .map((call) => ({ id: call['call_id'], name: call['name'], arguments: JSON.parse(call['arguments']) }));
    return { text, thinking, calls, stop: answer['status'] };
  },
};

export const TEST_CALLERS = { chat, messages, responses } as const;

/** Frames of an event stream, whole. */
export function framesOf(text: string): JsonObject[] {
  return text
    .split('\n')
    .flatMap((line) => (line.startsWith('data: {') ? [JSON.parse(line.slice(6)) as JsonObject] : []));
}
