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
import { argumentsText, readResponseFormat, readSampling, readStop, readUserMetadata } from './openai-request.js';
import { cacheControl, imageOf, isText, readCacheMark, sourceOfUrl, urlOfSource } from './parts.js';
import type { Traits } from './traits.js';
import type { Part, Reasoning, TextPart, Tool, ToolChoice, ToolResultPart, Turn, TurnsRequest } from './turns.js';

const KNOWN: ReadonlySet<string> = new Set([
  'model',
  'messages',
  'stream',
  'stream_options',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'max_tokens',
  'max_completion_tokens',
  'temperature',
  'top_p',
  'top_k',
  'frequency_penalty',
  'presence_penalty',
  'seed',
  'stop',
  'reasoning_effort',
  'thinking',
  'response_format',
  'user',
  'metadata',
  'service_tier',
]);

/** @throws SlipwayError `request.invalid` with the path of what is not understood. */
export function readChatRequest(body: JsonObject): TurnsRequest {
  const system: TextPart[] = [];
  const turns: Turn[] = [];
  for (const [index, value] of listOf(body['messages']).entries())
    readMessage(value, `messages[${index}]`, system, turns);
  return {
    source: 'chat',
    model: textOf(body['model']) ?? '',
    stream: body['stream'] === true,
    includeUsage: objectOf(body['stream_options'])?.['include_usage'] === true,
    system,
    turns,
    tools: listOf(body['tools']).map((tool, index) => readTool(tool, `tools[${index}]`)),
    toolChoice: readToolChoice(body['tool_choice']),
    parallelToolCalls: booleanOf(body['parallel_tool_calls']),
    maxOutputTokens: numberOf(body['max_completion_tokens']) ?? numberOf(body['max_tokens']),
    sampling: readSampling(body),
    stop: readStop(body['stop']),
    reasoning: readReasoning(body),
    responseFormat: readResponseFormat(
      objectOf(body['response_format']),
      (format) => objectOf(format['json_schema']) ?? {},
    ),
    ...readUserMetadata(body),
    serviceTier: textOf(body['service_tier']),
    extras: without(body, KNOWN),
  };
}

function readMessage(value: unknown, at: string, system: TextPart[], turns: Turn[]): void {
  const message = objectOf(value) ?? {};
  const content = message['content'];
  switch (message['role']) {
    case 'system':
    case 'developer': {
      const parts = readContent(content, message, at).filter(isText);
      if (turns.length === 0) system.push(...parts);
      else turns.push({ role: 'system', parts });
      return;
    }
    case 'user':
      turns.push({ role: 'user', parts: readContent(content, message, at) });
      return;
    case 'assistant':
      turns.push({ role: 'assistant', parts: readAssistant(message, at) });
      return;
    case 'tool': {
      const parts = readContent(content, {}, at) as ToolResultPart['parts'];
      const cache = readCacheMark(message['cache_control']);
      const result: ToolResultPart = {
        kind: 'tool-result',
        callId: textOf(message['tool_call_id']) ?? '',
        parts,
        isError: message['is_error'] === true,
        ...cache,
      };
      const last = turns.at(-1);
      // The results of calls that were made together belong together.
      if (last?.role === 'user' && last.parts.every(({ kind }) => kind === 'tool-result'))
        turns[turns.length - 1] = { role: 'user', parts: [...last.parts, result] };
      else turns.push({ role: 'user', parts: [result] });
      return;
    }
    default:
      throw invalid(
        `${at}.role`,
        `${shown(message['role'])} cannot be said to this model; use system, user, assistant or tool`,
      );
  }
}

/** `carrier` may hold a cache mark for a content that is a text. */
function readContent(content: unknown, carrier: JsonObject, at: string): Part[] {
  if (typeof content === 'string') return [{ kind: 'text', text: content, ...readCacheMark(carrier['cache_control']) }];
  return listOf(content).map((value, index): Part => {
    const part = objectOf(value) ?? {};
    const cache = readCacheMark(part['cache_control']);
    const path = `${at}.content[${index}]`;
    switch (part['type']) {
      case 'text':
        return { kind: 'text', text: textOf(part['text']) ?? '', ...cache };
      case 'refusal':
        return { kind: 'text', text: textOf(part['refusal']) ?? '' };
      case 'image_url': {
        const image = objectOf(part['image_url']);
        return imageOf(textOf(image?.['url'] ?? part['image_url']) ?? '', image?.['detail'], part['cache_control']);
      }
      case 'file': {
        const file = objectOf(part['file']) ?? {};
        const data = textOf(file['file_data']);
        if (data === null)
          throw invalid(
            `${path}.file`,
            'a file that lies at another provider cannot be shown to this model; send file_data',
          );
        const name = textOf(file['filename']);
        return { kind: 'document', source: sourceOfUrl(data), ...(name === null ? {} : { name }), ...cache };
      }
      default:
        throw invalid(
          `${path}.type`,
          `${shown(part['type'])} cannot be shown to this model; use text, image_url or file`,
        );
    }
  });
}

function readAssistant(message: JsonObject, at: string): Part[] {
  const parts: Part[] = [];
  const blocks = listOf(message['thinking_blocks']);
  for (const value of blocks) {
    const block = objectOf(value) ?? {};
    if (block['type'] === 'redacted_thinking') parts.push({ kind: 'redacted', data: textOf(block['data']) ?? '' });
    else
      parts.push({
        kind: 'thinking',
        text: textOf(block['thinking']) ?? '',
        signature: textOf(block['signature']) || null,
      });
  }
  const reasoning = textOf(message['reasoning_content']) ?? textOf(message['reasoning']);
  if (blocks.length === 0 && reasoning !== null && reasoning !== '')
    parts.push({ kind: 'thinking', text: reasoning, signature: null });
  if (message['content'] !== '') parts.push(...readContent(message['content'], message, at));
  for (const [index, value] of listOf(message['tool_calls']).entries()) {
    const call = objectOf(value) ?? {};
    const fn = objectOf(call['function']);
    if (fn === null) throw invalid(`${at}.tool_calls[${index}]`, 'only calls of functions can be shown to this model');
    const signature = textOf(objectOf(objectOf(call['extra_content'])?.['google'])?.['thought_signature']);
    parts.push({
      kind: 'tool-call',
      id: textOf(call['id']) ?? '',
      name: textOf(fn['name']) ?? '',
      arguments: argumentsText(fn['arguments']),
      ...(signature === null ? {} : { signature }),
      ...readCacheMark(call['cache_control']),
    });
  }
  return parts;
}

function readTool(value: unknown, at: string): Tool {
  const tool = objectOf(value) ?? {};
  const fn = objectOf(tool['function']);
  if (tool['type'] !== 'function' || fn === null)
    throw invalid(at, `a tool of the type ${shown(tool['type'])} is not offered by this model; use functions`);
  return {
    name: textOf(fn['name']) ?? '',
    description: textOf(fn['description']),
    parameters: objectOf(fn['parameters']) ?? { type: 'object', properties: {} },
    strict: booleanOf(fn['strict']),
    ...readCacheMark(tool['cache_control'] ?? fn['cache_control']),
  };
}

function readToolChoice(value: unknown): ToolChoice | null {
  if (value === undefined || value === null) return null;
  if (value === 'auto' || value === 'none' || value === 'required') return { kind: value };
  const choice = objectOf(value) ?? {};
  const name = textOf(objectOf(choice['function'])?.['name']);
  if (choice['type'] === 'function' && name !== null) return { kind: 'tool', name };
  throw invalid(
    'tool_choice',
    `${shown(value)} cannot be said to this model; use auto, none, required or the name of a function`,
  );
}

function readReasoning(body: JsonObject): Reasoning | null {
  const thinking = objectOf(body['thinking']);
  const effort = textOf(body['reasoning_effort']);
  if (thinking !== null && effort === null) {
    const on = thinking['type'] !== 'disabled';
    return { on, effort: null, budgetTokens: on ? numberOf(thinking['budget_tokens']) : null, summary: null };
  }
  return effort === null
    ? null
    : { on: effort !== 'none', effort: effort === 'none' ? null : effort, budgetTokens: null, summary: null };
}

export function writeChatRequest(request: TurnsRequest, traits: Traits): JsonObject {
  const additions = traits.chatAdditions;
  const messages: JsonObject[] = [];
  if (request.system.length > 0)
    messages.push({ role: 'system', content: contentOf(request.system, additions, '\n\n') });
  for (const turn of request.turns) {
    if (turn.role === 'assistant') messages.push(assistantMessage(turn.parts, additions));
    else if (turn.role === 'system')
      messages.push({ role: 'system', content: contentOf(turn.parts, additions, '\n\n') });
    else messages.push(...userMessages(turn.parts, additions));
  }
  const { responseFormat: format, toolChoice: choice } = request;
  const sampling = traits.sampling ? request.sampling : {};
  return said({
    ...(request.source === 'chat' ? request.extras : {}),
    model: traits.model,
    messages,
    stream: request.stream ? true : undefined,
    // The count is the gateway's need, whatever the caller wants to see of it.
    stream_options: request.stream ? { include_usage: true } : undefined,
    tools: request.tools.length === 0 ? undefined : request.tools.map((tool) => chatTool(tool, additions)),
    tool_choice: choice?.kind === 'tool' ? { type: 'function', function: { name: choice.name } } : choice?.kind,
    parallel_tool_calls: request.tools.length === 0 ? undefined : request.parallelToolCalls,
    [traits.chatLimit]: request.maxOutputTokens,
    temperature: sampling.temperature,
    top_p: sampling.topP,
    top_k: additions ? sampling.topK : undefined,
    frequency_penalty: sampling.frequencyPenalty,
    presence_penalty: sampling.presencePenalty,
    seed: sampling.seed,
    stop: request.stop.length === 0 ? undefined : request.stop,
    reasoning_effort: traits.reasoning === 'none' ? undefined : effortOf(request.reasoning, traits),
    response_format:
      format === null
        ? undefined
        : format.kind === 'json-object'
          ? { type: 'json_object' }
          : {
              type: 'json_schema',
              json_schema: said({
                name: format.name,
                description: format.description,
                schema: format.schema,
                strict: format.strict,
              }),
            },
    user: request.user !== null && request.user.length <= 64 ? request.user : undefined,
    // OpenAI takes it here only with what it stores.
    metadata: request.source === 'chat' && Object.keys(request.metadata).length > 0 ? request.metadata : undefined,
    service_tier: request.source === 'messages' ? undefined : request.serviceTier,
  });
}

/** An effort, as OpenAI's models take it; a budget of tokens becomes the nearest one. */
export function effortOf(reasoning: Reasoning | null, traits: Traits): string | undefined {
  if (reasoning === null) return undefined;
  if (!reasoning.on) return traits.leastEffort ?? undefined;
  if (reasoning.effort !== null) return reasoning.effort === 'max' ? 'xhigh' : reasoning.effort;
  if (reasoning.budgetTokens === null) return 'medium';
  return reasoning.budgetTokens <= 4_096 ? 'low' : reasoning.budgetTokens <= 16_384 ? 'medium' : 'high';
}

/** A text wherever it can be one, since not every server takes lists. */
function contentOf(parts: readonly Part[], additions: boolean, between: string): string | JsonObject[] {
  const marked = additions && parts.some((part) => 'cache' in part && part.cache !== undefined);
  if (!marked && parts.every(isText)) return parts.map((part) => part.text).join(between);
  return parts.flatMap((part): JsonObject[] => {
    const mark = additions && 'cache' in part ? cacheControl(part.cache) : {};
    if (part.kind === 'text') return [{ type: 'text', text: part.text, ...mark }];
    if (part.kind === 'image')
      return [{ type: 'image_url', image_url: said({ url: urlOfSource(part.source), detail: part.detail }), ...mark }];
    if (part.kind !== 'document') return [];
    if (part.source.kind === 'text') return [{ type: 'text', text: part.source.text, ...mark }];
    if (part.source.kind === 'url')
      throw invalid('messages', 'this model takes documents with their content only, not by address');
    return [
      { type: 'file', file: { filename: part.name ?? 'document', file_data: urlOfSource(part.source) }, ...mark },
    ];
  });
}

function userMessages(parts: readonly Part[], additions: boolean): JsonObject[] {
  const messages: JsonObject[] = [];
  const rest: Part[] = [];
  for (const part of parts) {
    if (part.kind !== 'tool-result') {
      rest.push(part);
      continue;
    }
    const texts = part.parts.filter(isText);
    const others = part.parts.filter((inner) => !isText(inner));
    const empty =
      texts.length === 0 && others.length > 0
        ? [{ kind: 'text' as const, text: 'The result follows in the next message of the user.' }]
        : texts;
    messages.push({
      role: 'tool',
      tool_call_id: part.callId,
      content: contentOf(empty, additions, '\n'),
      ...(additions ? cacheControl(part.cache) : {}),
    });
    // A message of a tool holds text only.
    if (others.length > 0)
      rest.push({ kind: 'text', text: `Part of the result of the call ${part.callId}:` }, ...others);
  }
  if (rest.length > 0) messages.push({ role: 'user', content: userContent(rest, additions) });
  return messages;
}

/** Texts of a user stay separate. */
function userContent(parts: readonly Part[], additions: boolean): string | JsonObject[] {
  const only = parts.length === 1 ? parts[0] : undefined;
  if (only !== undefined) return contentOf(parts, additions, '');
  return parts.flatMap((part) => {
    const content = contentOf([part], additions, '');
    return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  });
}

function assistantMessage(parts: readonly Part[], additions: boolean): JsonObject {
  const texts = parts.filter(isText);
  const calls = parts.flatMap((part) => (part.kind === 'tool-call' ? [part] : []));
  const reasoning = parts.flatMap((part) => (part.kind === 'thinking' ? [part.text] : [])).join('');
  const blocks = parts.flatMap((part): JsonObject[] => {
    if (part.kind === 'redacted') return [{ type: 'redacted_thinking', data: part.data }];
    return part.kind === 'thinking' && part.signature !== null
      ? [{ type: 'thinking', thinking: part.text, signature: part.signature }]
      : [];
  });
  return {
    role: 'assistant',
    content: texts.length === 0 ? (calls.length === 0 ? '' : null) : contentOf(texts, additions, ''),
    ...(additions && reasoning !== '' ? { reasoning_content: reasoning } : {}),
    ...(additions && blocks.length > 0 ? { thinking_blocks: blocks } : {}),
    ...(calls.length === 0
      ? {}
      : {
          tool_calls: calls.map((call) => ({
            id: call.id,
            type: 'function',
            function: { name: call.name, arguments: call.arguments === '' ? '{}' : call.arguments },
            ...(additions && call.signature !== undefined
              ? { extra_content: { google: { thought_signature: call.signature } } }
              : {}),
            ...(additions ? cacheControl(call.cache) : {}),
          })),
        }),
  };
}

function chatTool(tool: Tool, additions: boolean): JsonObject {
  return {
    type: 'function',
    function: said({
      name: tool.name,
      description: tool.description,
      parameters: tool.parameters,
      strict: tool.strict,
    }),
    ...(additions ? cacheControl(tool.cache) : {}),
  };
}
