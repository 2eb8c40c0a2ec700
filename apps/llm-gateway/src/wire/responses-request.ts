import { effortOf } from './chat-request.js';
import {
  booleanOf,
  invalid,
  type JsonObject,
  listOf,
  numberOf,
  objectOf,
  said,
  shown,
  textOf,
  without,
} from './json.js';
import { argumentsText, readResponseFormat, readSampling, readUserMetadata } from './openai-request.js';
import { imageOf, isText, sourceOfUrl, urlOfSource } from './parts.js';
import type { Traits } from './traits.js';
import type {
  DocumentPart,
  Part,
  ResponseFormat,
  TextPart,
  Tool,
  ToolChoice,
  ToolResultPart,
  Turn,
  TurnsRequest,
} from './turns.js';

const KNOWN: ReadonlySet<string> = new Set([
  'model',
  'input',
  'instructions',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'max_output_tokens',
  'temperature',
  'top_p',
  'reasoning',
  'text',
  'metadata',
  'user',
  'service_tier',
  'stream',
]);
/** Marks what Anthropic hides where Responses has one place for both. */
export const REDACTED = '@slipway.redacted.';

/** @throws SlipwayError `request.invalid` with the path of what is not understood. */
export function readResponsesRequest(body: JsonObject): TurnsRequest {
  const instructions = textOf(body['instructions']);
  const text = objectOf(body['text']);
  const reasoning = objectOf(body['reasoning']);
  const effort = textOf(reasoning?.['effort']);
  const verbosity = text?.['verbosity'];
  return {
    source: 'responses',
    model: textOf(body['model']) ?? '',
    stream: body['stream'] === true,
    includeUsage: true,
    system: instructions === null || instructions === '' ? [] : [{ kind: 'text', text: instructions }],
    turns:
      typeof body['input'] === 'string'
        ? [{ role: 'user', parts: [{ kind: 'text', text: body['input'] }] }]
        : readItems(listOf(body['input'])),
    tools: listOf(body['tools']).map((tool, index) => readTool(tool, `tools[${index}]`)),
    toolChoice: readToolChoice(body['tool_choice']),
    parallelToolCalls: booleanOf(body['parallel_tool_calls']),
    maxOutputTokens: numberOf(body['max_output_tokens']),
    sampling: readSampling({ temperature: body['temperature'], top_p: body['top_p'] }),
    stop: [],
    reasoning:
      reasoning === null
        ? null
        : {
            on: effort !== 'none',
            effort: effort === 'none' ? null : effort,
            budgetTokens: null,
            summary: textOf(reasoning['summary']),
          },
    responseFormat: readResponseFormat(objectOf(text?.['format']), (format) => format),
    ...readUserMetadata(body),
    serviceTier: textOf(body['service_tier']),
    extras: {
      ...without(body, KNOWN),
      ...(verbosity === undefined || verbosity === null ? {} : { text: { verbosity } }),
    },
  };
}

/** What the model said between two words of the user is one turn, though it is many items. */
function readItems(items: readonly unknown[]): Turn[] {
  const turns: { role: Turn['role']; parts: Part[] }[] = [];
  const join = (role: 'user' | 'assistant', part: readonly Part[], kinds: readonly Part['kind'][]): void => {
    const last = turns.at(-1);
    if (last?.role === role && last.parts.every(({ kind }) => kinds.includes(kind))) last.parts.push(...part);
    else turns.push({ role, parts: [...part] });
  };
  const assistant: readonly Part['kind'][] = ['text', 'thinking', 'redacted', 'tool-call'];
  for (const [index, value] of items.entries()) {
    const item = objectOf(value) ?? {};
    const at = `input[${index}]`;
    switch (item['type'] ?? 'message') {
      case 'message': {
        const role = item['role'] === 'developer' ? 'system' : item['role'];
        const parts = readContent(item['content'], `${at}.content`);
        if (role === 'assistant') join('assistant', parts, assistant);
        else if (role === 'user') turns.push({ role, parts });
        else if (role === 'system') turns.push({ role, parts: parts.filter(isText) });
        else throw invalid(`${at}.role`, `${shown(role)} is not understood; use user, assistant, system or developer`);
        break;
      }
      case 'reasoning':
        join('assistant', [readReasoning(item)], assistant);
        break;
      case 'function_call':
        join(
          'assistant',
          [
            {
              kind: 'tool-call',
              id: textOf(item['call_id']) ?? '',
              name: textOf(item['name']) ?? '',
              arguments: argumentsText(item['arguments']),
            },
          ],
          assistant,
        );
        break;
      case 'function_call_output': {
        const parts = readContent(item['output'], `${at}.output`) as ToolResultPart['parts'];
        join(
          'user',
          [{ kind: 'tool-result', callId: textOf(item['call_id']) ?? '', parts, isError: false }],
          ['tool-result'],
        );
        break;
      }
      case 'item_reference':
        throw invalid(
          at,
          'items are kept by providers of this API alone, and this model is reached in another; send the item itself',
        );
      default:
        throw invalid(
          `${at}.type`,
          `${shown(item['type'])} is of OpenAI's Responses alone, and this model is reached in another API`,
        );
    }
  }
  return turns;
}

function readReasoning(item: JsonObject): Part {
  const encrypted = textOf(item['encrypted_content']);
  if (encrypted?.startsWith(REDACTED) === true) return { kind: 'redacted', data: encrypted.slice(REDACTED.length) };
  const textsOf = (list: unknown): string =>
    listOf(list)
      .map((part) => textOf(objectOf(part)?.['text']) ?? '')
      .join('\n\n');
  const id = textOf(item['id']);
  return {
    kind: 'thinking',
    text: textsOf(item['summary']) || textsOf(item['content']),
    signature: encrypted,
    ...(id === null ? {} : { id }),
  };
}

function readContent(content: unknown, at: string): Part[] {
  if (typeof content === 'string') return [{ kind: 'text', text: content }];
  return listOf(content).map((value, index): Part => {
    const part = objectOf(value) ?? {};
    const path = `${at}[${index}]`;
    switch (part['type']) {
      case 'input_text':
      case 'output_text':
      case 'text':
        return { kind: 'text', text: textOf(part['text']) ?? '' };
      case 'refusal':
        return { kind: 'text', text: textOf(part['refusal']) ?? '' };
      case 'input_image': {
        const url = textOf(part['image_url']);
        if (url === null)
          throw invalid(path, 'an image that lies at another provider cannot be shown to this model; send image_url');
        return imageOf(url, part['detail'], undefined);
      }
      case 'input_file':
        return readFile(part, path);
      default:
        throw invalid(
          `${path}.type`,
          `${shown(part['type'])} cannot be shown to this model; use input_text, input_image or input_file`,
        );
    }
  });
}

function readFile(part: JsonObject, path: string): DocumentPart {
  const data = textOf(part['file_data']) ?? textOf(part['file_url']);
  if (data === null)
    throw invalid(
      path,
      'a file that lies at another provider cannot be shown to this model; send file_data or file_url',
    );
  const name = textOf(part['filename']);
  return { kind: 'document', source: sourceOfUrl(data), ...(name === null ? {} : { name }) };
}

function readTool(value: unknown, at: string): Tool {
  const tool = objectOf(value) ?? {};
  if (tool['type'] !== 'function')
    throw invalid(
      at,
      `the tool ${shown(tool['type'])} is of OpenAI's Responses alone, and this model is reached in another API; use functions`,
    );
  return {
    name: textOf(tool['name']) ?? '',
    description: textOf(tool['description']),
    parameters: objectOf(tool['parameters']) ?? { type: 'object', properties: {} },
    strict: booleanOf(tool['strict']),
  };
}

function readToolChoice(value: unknown): ToolChoice | null {
  if (value === undefined || value === null) return null;
  if (value === 'auto' || value === 'none' || value === 'required') return { kind: value };
  const choice = objectOf(value) ?? {};
  const name = textOf(choice['name']);
  if (choice['type'] === 'function' && name !== null) return { kind: 'tool', name };
  throw invalid(
    'tool_choice',
    `${shown(value)} cannot be said to this model; use auto, none, required or the name of a function`,
  );
}

/** @throws SlipwayError `request.invalid` for stop sequences, which Responses does not have. */
export function writeResponsesRequest(request: TurnsRequest, traits: Traits): JsonObject {
  if (request.stop.length > 0)
    throw invalid(
      request.source === 'messages' ? 'stop_sequences' : 'stop',
      'this model is reached in an API without stop sequences',
    );
  const own = request.source === 'responses';
  const sampling = traits.sampling ? request.sampling : {};
  const instructions = request.system.map(({ text }) => text).join('\n\n');
  return said({
    // Nothing is kept at the provider, so that the conversation can go on with any model; the reasoning travels
    // encrypted instead.
    ...(own
      ? request.extras
      : { store: false, include: traits.encryptedReasoning ? ['reasoning.encrypted_content'] : undefined }),
    model: traits.model,
    instructions: instructions === '' ? undefined : instructions,
    input: request.turns.flatMap(items),
    stream: request.stream ? true : undefined,
    tools: request.tools.length === 0 ? undefined : request.tools.map(responsesTool),
    tool_choice: responsesToolChoice(request.toolChoice),
    parallel_tool_calls: request.tools.length === 0 ? undefined : request.parallelToolCalls,
    max_output_tokens: request.maxOutputTokens,
    temperature: sampling.temperature,
    top_p: sampling.topP,
    reasoning: writeReasoning(request, traits),
    text: responsesText(request),
    user: request.user !== null && request.user.length <= 64 ? request.user : undefined,
    metadata: Object.keys(request.metadata).length === 0 ? undefined : request.metadata,
    service_tier: request.source === 'messages' ? undefined : request.serviceTier,
  });
}

function writeReasoning(request: TurnsRequest, traits: Traits): JsonObject | undefined {
  const { reasoning } = request;
  if (reasoning === null || traits.reasoning === 'none') return undefined;
  const own = request.source === 'responses';
  // A summary needs more rights at OpenAI than an answer does: only who asked for one gets it. Who gave no effort here
  // leaves it to the model.
  const summary = own ? reasoning.summary : reasoning.on && reasoning.summary === 'summarized' ? 'auto' : undefined;
  const effort = own && reasoning.on && reasoning.effort === null ? undefined : effortOf(reasoning, traits);
  const written = said({ effort, summary });
  return Object.keys(written).length === 0 && !own ? undefined : written;
}

export function responsesText(request: TurnsRequest): JsonObject | undefined {
  const { responseFormat: format } = request;
  const own = request.source === 'responses' ? objectOf(request.extras['text']) : null;
  if (format === null) return own ?? undefined;
  return { ...own, format: writeFormat(format) };
}

function writeFormat(format: ResponseFormat): JsonObject {
  if (format.kind === 'json-object') return { type: 'json_object' };
  return said({
    type: 'json_schema',
    name: format.name,
    description: format.description,
    schema: format.schema,
    strict: format.strict,
  });
}

export function responsesTool(tool: Tool): JsonObject {
  return {
    type: 'function',
    ...said({ name: tool.name, description: tool.description, parameters: tool.parameters }),
    // Responses treats a schema as strict by default.
    strict: tool.strict ?? false,
  };
}

export function responsesToolChoice(choice: ToolChoice | null): unknown {
  return choice?.kind === 'tool' ? { type: 'function', name: choice.name } : choice?.kind;
}

function items(turn: Turn): JsonObject[] {
  if (turn.role === 'system')
    return [{ type: 'message', role: 'system', content: turn.parts.filter(isText).map(inputPart) }];
  const all: JsonObject[] = [];
  const words: (TextPart | Extract<Part, { kind: 'image' | 'document' }>)[] = [];
  for (const part of turn.parts) {
    if (part.kind === 'tool-result')
      all.push({ type: 'function_call_output', call_id: part.callId, output: output(part) });
    else if (part.kind === 'tool-call')
      all.push({
        type: 'function_call',
        call_id: part.id,
        name: part.name,
        arguments: part.arguments === '' ? '{}' : part.arguments,
      });
    else if (part.kind === 'thinking') all.push(...reasoningItem(part));
    else if (part.kind === 'redacted') continue;
    else if (turn.role === 'assistant')
      all.push({
        type: 'message',
        role: 'assistant',
        content: part.kind === 'text' ? [{ type: 'output_text', text: part.text }] : [],
      });
    else words.push(part);
  }
  return words.length === 0 ? all : [...all, { type: 'message', role: 'user', content: words.map(inputPart) }];
}

/** Without what the provider encrypted there is nothing that it would take back. */
function reasoningItem(part: Extract<Part, { kind: 'thinking' }>): JsonObject[] {
  if (part.signature === null) return [];
  return [
    {
      type: 'reasoning',
      ...(part.id === undefined ? {} : { id: part.id }),
      summary: part.text === '' ? [] : [{ type: 'summary_text', text: part.text }],
      encrypted_content: part.signature,
    },
  ];
}

function output(part: ToolResultPart): unknown {
  const only = part.parts.length === 1 ? part.parts[0] : undefined;
  if (part.parts.length === 0) return '';
  return only?.kind === 'text' ? only.text : part.parts.map(inputPart);
}

function inputPart(part: TextPart | Extract<Part, { kind: 'image' | 'document' }>): JsonObject {
  if (part.kind === 'text') return { type: 'input_text', text: part.text };
  if (part.kind === 'image')
    return { type: 'input_image', image_url: urlOfSource(part.source), detail: part.detail ?? 'auto' };
  const { source, name } = part;
  if (source.kind === 'text') return { type: 'input_text', text: source.text };
  if (source.kind === 'url') return said({ type: 'input_file', file_url: source.url, filename: name });
  return { type: 'input_file', filename: name ?? 'document', file_data: urlOfSource(source) };
}
