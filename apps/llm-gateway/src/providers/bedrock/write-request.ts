import type { Target } from '../../wire/exchange.js';
import { type JsonObject, said } from '../../wire/json.js';
import type { Part, ResponseFormat, Tool, ToolChoice, Turn, TurnsRequest } from '../../wire/turns.js';
import { cachePoint, messagesOf, type Takes } from './messages.js';
import { familyOf, modelSettings } from './model-settings.js';

/**
 * The body of `Converse` and `ConverseStream`. One call at a time and a name for the user cannot be expressed and are
 * left out.
 * @param betas Anthropic's header of the caller.
 */
export function converseRequest(request: TurnsRequest, target: Target, betas?: string): JsonObject {
  const family = familyOf(request, target);
  const takes: Takes = { cachePoints: family === 'claude' || family === 'nova', reasoning: family === 'claude' };
  const mayCall = request.tools.length > 0 && request.toolChoice?.kind !== 'none';
  const { system, stop, responseFormat, serviceTier } = request;
  const settings = modelSettings(request, target, betas);
  const inference = said({
    maxTokens: request.maxOutputTokens ?? target.maxOutputTokens,
    stopSequences: stop.length === 0 ? undefined : stop,
    ...settings.inference,
  });
  return said({
    messages: messagesOf(mayCall ? request.turns : withoutCalls(request.turns), takes),
    system:
      system.length === 0
        ? undefined
        : system.flatMap((part) => [{ text: part.text }, ...cachePoint(part.cache, takes)]),
    toolConfig: mayCall ? toolConfig(request.tools, request.toolChoice, takes) : undefined,
    inferenceConfig: filled(inference),
    additionalModelRequestFields: filled(settings.fields),
    additionalModelResponseFieldPaths: family === 'claude' && stop.length > 0 ? ['/stop_sequence'] : undefined,
    outputConfig: responseFormat?.kind === 'json-schema' ? outputConfig(responseFormat) : undefined,
    serviceTier: serviceTier === 'priority' || serviceTier === 'flex' ? { type: serviceTier } : undefined,
  });
}

function filled(object: JsonObject): JsonObject | undefined {
  return Object.keys(object).length === 0 ? undefined : object;
}

function toolConfig(tools: readonly Tool[], choice: ToolChoice | null, takes: Takes): JsonObject {
  const specs = tools.flatMap(({ name, description, parameters, cache }): JsonObject[] => [
    {
      toolSpec: {
        name,
        ...(description ? { description } : {}),
        inputSchema: { json: { ...parameters, type: 'object' } },
      },
    },
    ...cachePoint(cache, takes),
  ]);
  return said({ tools: specs, toolChoice: choice === null ? undefined : choiceOf(choice) });
}

function choiceOf(choice: ToolChoice): JsonObject {
  if (choice.kind === 'tool') return { tool: { name: choice.name } };
  return choice.kind === 'required' ? { any: {} } : { auto: {} };
}

function outputConfig({ name, description, schema }: Extract<ResponseFormat, { kind: 'json-schema' }>): JsonObject {
  const jsonSchema = said({ schema: JSON.stringify(schema), name, description });
  return { textFormat: { type: 'json_schema', structure: { jsonSchema } } };
}

/**
 * A conversation that once had tools and may call none: Bedrock refuses the blocks of calls then, so past calls become
 * text.
 */
function withoutCalls(turns: readonly Turn[]): Turn[] {
  const names = new Map<string, string>();
  return turns.map((turn) => ({ ...turn, parts: turn.parts.flatMap((part) => inWords(part, names)) }));
}

function inWords(part: Part, names: Map<string, string>): Part[] {
  if (part.kind === 'tool-call') {
    names.set(part.id, part.name);
    return [{ kind: 'text', text: `[called ${part.name} with ${part.arguments === '' ? '{}' : part.arguments}]` }];
  }
  if (part.kind !== 'tool-result') return [part];
  const text = `[${names.get(part.callId) ?? 'the tool'} ${part.isError ? 'failed' : 'answered'}]`;
  return [{ kind: 'text', text }, ...part.parts];
}
