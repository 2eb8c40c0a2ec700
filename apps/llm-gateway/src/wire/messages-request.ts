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
import { argumentsOf, cacheControl, isText, merged, readCacheMark, withSystemFirst } from './parts.js';
import type { Traits } from './traits.js';
import type {
  DocumentPart,
  ImagePart,
  Part,
  Reasoning,
  ResponseFormat,
  Sampling,
  TextPart,
  Tool,
  ToolChoice,
  ToolResultPart,
  Turn,
  TurnsRequest,
} from './turns.js';

const KNOWN: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'max_tokens',
  'system',
  'tools',
  'tool_choice',
  'thinking',
  'output_config',
  'temperature',
  'top_p',
  'top_k',
  'stop_sequences',
  'metadata',
  'stream',
  'service_tier',
]);
/**
 * Claude Code's note to Anthropic alone. It differs in every request, so that no other provider would ever find the
 * beginning of one in its cache.
 */
const BILLING = 'x-anthropic-billing-header:';
/** Anthropic's smallest budget. Tokens. */
const MIN_BUDGET = 1_024;
const BUDGETS: Readonly<Record<string, number>> = {
  minimal: MIN_BUDGET,
  low: 2_048,
  medium: 8_192,
  high: 16_384,
  xhigh: 32_768,
  max: 32_768,
};

/** @throws SlipwayError `request.invalid` with the path of what is not understood. */
export function readMessagesRequest(body: JsonObject): TurnsRequest {
  const choice = objectOf(body['tool_choice']);
  const config = objectOf(body['output_config']);
  const tier = textOf(body['service_tier']);
  return {
    source: 'messages',
    model: textOf(body['model']) ?? '',
    stream: body['stream'] === true,
    includeUsage: true,
    system: readSystem(body['system']),
    turns: listOf(body['messages']).flatMap((value, index) => readMessage(value, `messages[${index}]`)),
    tools: listOf(body['tools']).map((tool, index) => readTool(tool, `tools[${index}]`)),
    toolChoice: readToolChoice(choice),
    parallelToolCalls:
      typeof choice?.['disable_parallel_tool_use'] === 'boolean' ? !choice['disable_parallel_tool_use'] : null,
    maxOutputTokens: numberOf(body['max_tokens']),
    sampling: readSampling(body),
    stop: listOf(body['stop_sequences']).filter((text): text is string => typeof text === 'string'),
    reasoning: readThinking(objectOf(body['thinking']), textOf(config?.['effort'])),
    responseFormat: readFormat(objectOf(config?.['format'])),
    user: textOf(objectOf(body['metadata'])?.['user_id']),
    metadata: {},
    serviceTier: tier === 'standard_only' ? 'default' : tier,
    extras: without(body, KNOWN),
  };
}

function readSampling(body: JsonObject): Sampling {
  const temperature = numberOf(body['temperature']);
  const topP = numberOf(body['top_p']);
  const topK = numberOf(body['top_k']);
  return {
    ...(temperature === null ? {} : { temperature }),
    ...(topP === null ? {} : { topP }),
    ...(topK === null ? {} : { topK }),
  };
}

function readSystem(value: unknown): TextPart[] {
  if (typeof value === 'string') return value === '' ? [] : [{ kind: 'text', text: value }];
  return listOf(value)
    .map((block) => readText(objectOf(block) ?? {}))
    .filter(({ text }) => !text.startsWith(BILLING));
}

function readText(block: JsonObject): TextPart {
  return { kind: 'text', text: textOf(block['text']) ?? '', ...readCacheMark(block['cache_control']) };
}

function readMessage(value: unknown, at: string): Turn[] {
  const message = objectOf(value) ?? {};
  const { role, content } = message;
  if (role !== 'user' && role !== 'assistant' && role !== 'system')
    throw invalid(`${at}.role`, `${shown(role)} is not understood; use user or assistant`);
  if (typeof content === 'string') return [{ role, parts: [{ kind: 'text', text: content }] }];
  const turns: Turn[] = [];
  let parts: Part[] = [];
  for (const [index, block] of listOf(content).entries()) {
    const object = objectOf(block) ?? {};
    if (object['type'] !== 'mid_conv_system') {
      parts.push(readBlock(object, `${at}.content[${index}]`));
      continue;
    }
    if (parts.length > 0) turns.push({ role, parts });
    parts = [];
    turns.push({ role: 'system', parts: readSystem(object['content']) });
  }
  return parts.length > 0 || turns.length === 0 ? [...turns, { role, parts }] : turns;
}

function readBlock(block: JsonObject, at: string): Part {
  const cache = readCacheMark(block['cache_control']);
  switch (block['type']) {
    case 'text':
      return readText(block);
    case 'image':
      return { kind: 'image', source: readSource(objectOf(block['source']), at), ...cache };
    case 'document':
      return readDocument(block, at);
    case 'thinking':
      return { kind: 'thinking', text: textOf(block['thinking']) ?? '', signature: textOf(block['signature']) || null };
    case 'redacted_thinking':
      return { kind: 'redacted', data: textOf(block['data']) ?? '' };
    case 'tool_use': {
      const signature = textOf(block['signature']);
      return {
        kind: 'tool-call',
        id: textOf(block['id']) ?? '',
        name: textOf(block['name']) ?? '',
        arguments: JSON.stringify(block['input'] ?? {}),
        ...(signature === null ? {} : { signature }),
        ...cache,
      };
    }
    case 'tool_result':
      return {
        kind: 'tool-result',
        callId: textOf(block['tool_use_id']) ?? '',
        parts: readResult(block['content'], at),
        isError: block['is_error'] === true,
        ...cache,
      };
    case 'search_result':
      return {
        kind: 'text',
        text: [
          textOf(block['title']),
          textOf(block['source']),
          ...readSystem(block['content']).map(({ text }) => text),
        ].join('\n'),
        ...cache,
      };
    default:
      throw invalid(
        `${at}.type`,
        `${shown(block['type'])} is of Anthropic's API alone, and this model is reached in another`,
      );
  }
}

function readResult(content: unknown, at: string): ToolResultPart['parts'] {
  if (typeof content === 'string') return [{ kind: 'text', text: content }];
  return listOf(content).map((value, index) => {
    const part = readBlock(objectOf(value) ?? {}, `${at}.content[${index}]`);
    if (part.kind !== 'text' && part.kind !== 'image' && part.kind !== 'document')
      throw invalid(`${at}.content[${index}].type`, 'use text, image or document');
    return part;
  });
}

function readSource(source: JsonObject | null, at: string): ImagePart['source'] {
  if (source?.['type'] === 'base64')
    return { kind: 'base64', mediaType: textOf(source['media_type']) ?? '', data: textOf(source['data']) ?? '' };
  if (source?.['type'] === 'url') return { kind: 'url', url: textOf(source['url']) ?? '' };
  throw invalid(`${at}.source`, 'what lies at another provider cannot be shown to this model; send base64 or a url');
}

function readDocument(block: JsonObject, at: string): DocumentPart {
  const source = objectOf(block['source']);
  const name = textOf(block['title']);
  const text =
    source?.['type'] === 'text'
      ? textOf(source['data'])
      : source?.['type'] === 'content'
        ? readResult(source['content'], `${at}.source`)
            .map((part) => (part.kind === 'text' ? part.text : ''))
            .join('\n')
        : null;
  return {
    kind: 'document',
    source: text === null ? readSource(source, at) : { kind: 'text', text },
    ...(name === null ? {} : { name }),
    ...readCacheMark(block['cache_control']),
  };
}

function readTool(value: unknown, at: string): Tool {
  const tool = objectOf(value) ?? {};
  const type = tool['type'] ?? 'custom';
  if (type !== 'custom')
    throw invalid(
      at,
      `the tool ${shown(type)} is run by Anthropic alone, and this model is reached in another API; use tools with an input_schema`,
    );
  return {
    name: textOf(tool['name']) ?? '',
    description: textOf(tool['description']),
    parameters: objectOf(tool['input_schema']) ?? { type: 'object', properties: {} },
    strict: booleanOf(tool['strict']),
    ...readCacheMark(tool['cache_control']),
  };
}

function readToolChoice(choice: JsonObject | null): ToolChoice | null {
  if (choice === null) return null;
  const type = choice['type'];
  if (type === 'auto' || type === 'none') return { kind: type };
  if (type === 'any') return { kind: 'required' };
  if (type === 'tool') return { kind: 'tool', name: textOf(choice['name']) ?? '' };
  throw invalid('tool_choice.type', `${shown(type)} is not understood; use auto, any, tool or none`);
}

function readThinking(thinking: JsonObject | null, effort: string | null): Reasoning | null {
  if (thinking === null) return effort === null ? null : { on: true, effort, budgetTokens: null, summary: null };
  const on = thinking['type'] !== 'disabled';
  return {
    on,
    effort: on ? effort : null,
    budgetTokens: on ? numberOf(thinking['budget_tokens']) : null,
    summary: textOf(thinking['display']),
  };
}

function readFormat(format: JsonObject | null): ResponseFormat | null {
  const schema = objectOf(format?.['schema']);
  return schema === null ? null : { kind: 'json-schema', name: 'answer', description: null, schema, strict: null };
}

export function writeMessagesRequest(request: TurnsRequest, traits: Traits): JsonObject {
  const first = withSystemFirst(request);
  // A conversation of instructions only has no turn, and Anthropic wants one.
  const { system, turns } =
    first.turns.length === 0 ? { system: [], turns: [{ role: 'user' as const, parts: first.system }] } : first;
  const thinking = writeThinking(request, traits);
  const { reasoning, responseFormat: format } = request;
  const effort = traits.reasoning === 'adaptive' && reasoning?.on === true ? anthropicEffort(reasoning) : undefined;
  const config = said({
    effort,
    format: format?.kind === 'json-schema' ? { type: 'json_schema', schema: format.schema } : undefined,
  });
  return said({
    ...(request.source === 'messages' ? request.extras : {}),
    model: traits.model,
    max_tokens: request.maxOutputTokens ?? traits.maxOutputTokens,
    system:
      system.length === 0
        ? undefined
        : system.length === 1 && system[0]?.cache === undefined
          ? system[0]?.text
          : system.flatMap(block),
    messages: merged(turns).flatMap(message),
    stream: request.stream ? true : undefined,
    tools: request.tools.length === 0 ? undefined : request.tools.map(messagesTool),
    tool_choice: writeToolChoice(request),
    thinking,
    output_config: Object.keys(config).length === 0 ? undefined : config,
    ...writeSampling(request.sampling, traits, thinking?.['type'] === 'enabled' || thinking?.['type'] === 'adaptive'),
    stop_sequences: request.stop.length === 0 ? undefined : request.stop,
    metadata: request.user === null ? undefined : { user_id: request.user },
    service_tier:
      request.serviceTier === 'default' ? 'standard_only' : request.serviceTier === 'auto' ? 'auto' : undefined,
  });
}

/**
 * Anthropic refuses a thinking that may not be signed: with a call that is forced, or in the middle of calls that were
 * made without.
 */
export function writeThinking(request: TurnsRequest, traits: Traits): JsonObject | undefined {
  const { reasoning, maxOutputTokens } = request;
  if (reasoning === null || traits.reasoning === 'none' || traits.reasoning === 'effort') return undefined;
  if (!reasoning.on) return { type: 'disabled' };
  if (request.toolChoice?.kind === 'required' || request.toolChoice?.kind === 'tool') return undefined;
  const display = reasoning.summary === 'omitted' ? 'omitted' : 'summarized';
  if (traits.reasoning === 'adaptive') return { type: 'adaptive', display };
  const last = request.turns.findLast(({ role }) => role === 'assistant');
  const inCalls = request.turns.at(-1)?.parts.some(({ kind }) => kind === 'tool-result') === true;
  if (
    inCalls &&
    last?.parts.every((part) => part.kind !== 'redacted' && (part.kind !== 'thinking' || part.signature === null)) ===
      true
  )
    return undefined;
  const limit = maxOutputTokens ?? traits.maxOutputTokens;
  const wanted = reasoning.budgetTokens ?? BUDGETS[reasoning.effort ?? 'medium'] ?? MIN_BUDGET;
  const budget = Math.max(MIN_BUDGET, wanted < limit ? wanted : Math.floor(limit / 2));
  return budget < limit ? { type: 'enabled', budget_tokens: budget } : undefined;
}

export function anthropicEffort(reasoning: Reasoning): string | undefined {
  if (reasoning.effort !== null) return reasoning.effort === 'minimal' ? 'low' : reasoning.effort;
  if (reasoning.budgetTokens === null) return undefined;
  return reasoning.budgetTokens <= 4_096 ? 'low' : reasoning.budgetTokens <= 16_384 ? 'medium' : 'high';
}

/**
 * With thinking only the default temperature is taken; newer models take one of temperature and top_p, and the newest
 * neither.
 */
export function writeSampling(sampling: Sampling, traits: Traits, thinks: boolean): JsonObject {
  if (!traits.sampling || thinks) return {};
  const temperature = sampling.temperature === undefined ? undefined : Math.min(1, sampling.temperature);
  return { temperature, top_p: temperature === undefined ? sampling.topP : undefined, top_k: sampling.topK };
}

function writeToolChoice(request: TurnsRequest): JsonObject | undefined {
  if (request.tools.length === 0) return undefined;
  const { toolChoice: choice, parallelToolCalls: parallel } = request;
  if (choice?.kind === 'none') return { type: 'none' };
  const alone = parallel === null ? {} : { disable_parallel_tool_use: !parallel };
  if (choice === null) return parallel === null ? undefined : { type: 'auto', ...alone };
  if (choice.kind === 'tool') return { type: 'tool', name: choice.name, ...alone };
  return { type: choice.kind === 'required' ? 'any' : 'auto', ...alone };
}

function messagesTool(tool: Tool): JsonObject {
  // Anthropic wants the schema of an object, whatever it holds.
  const schema = tool.parameters['type'] === undefined ? { type: 'object', ...tool.parameters } : tool.parameters;
  return {
    ...said({
      name: tool.name,
      description: tool.description,
      input_schema: schema,
      strict: tool.strict === true ? true : undefined,
    }),
    ...cacheControl(tool.cache),
  };
}

function message(turn: Turn): JsonObject[] {
  const only = turn.parts.length === 1 ? turn.parts[0] : undefined;
  if (only?.kind === 'text' && only.cache === undefined)
    return only.text === '' ? [] : [{ role: turn.role, content: only.text }];
  const content = turn.parts.flatMap(block);
  return content.length === 0 ? [] : [{ role: turn.role, content }];
}

function block(part: Part): JsonObject[] {
  switch (part.kind) {
    case 'text':
      // An empty one is refused.
      return part.text === '' ? [] : [{ type: 'text', text: part.text, ...cacheControl(part.cache) }];
    case 'image':
      return [{ type: 'image', source: writeSource(part.source), ...cacheControl(part.cache) }];
    case 'document':
      return [
        {
          type: 'document',
          source:
            part.source.kind === 'text'
              ? { type: 'text', media_type: 'text/plain', data: part.source.text }
              : writeSource(part.source),
          ...(part.name === undefined ? {} : { title: part.name }),
          ...cacheControl(part.cache),
        },
      ];
    case 'thinking':
      return part.signature === null ? [] : [{ type: 'thinking', thinking: part.text, signature: part.signature }];
    case 'redacted':
      return [{ type: 'redacted_thinking', data: part.data }];
    case 'tool-call':
      return [
        { type: 'tool_use', id: idOf(part.id), name: part.name, input: argumentsOf(part), ...cacheControl(part.cache) },
      ];
    case 'tool-result': {
      const texts = part.parts.every(isText) && part.parts.every(({ cache }) => cache === undefined);
      const content =
        texts && part.parts.length <= 1 ? (part.parts.filter(isText)[0]?.text ?? '') : part.parts.flatMap(block);
      return [
        {
          type: 'tool_result',
          tool_use_id: idOf(part.callId),
          content,
          ...(part.isError ? { is_error: true } : {}),
          ...cacheControl(part.cache),
        },
      ];
    }
  }
}

/** Anthropic takes fewer characters in the id of a call than others give. */
function idOf(id: string): string {
  return id.replace(/[^A-Za-z0-9_-]/g, '_');
}

function writeSource(source: ImagePart['source']): JsonObject {
  return source.kind === 'url'
    ? { type: 'url', url: source.url }
    : { type: 'base64', media_type: source.mediaType, data: source.data };
}
