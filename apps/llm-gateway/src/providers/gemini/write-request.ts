import type { Target } from '../../wire/exchange.js';
import type { Reasoning, ToolChoice, TurnsRequest } from '../../wire/turns.js';
import { contentsOf } from './contents.js';
import { geminiSchema } from './tool-schema.js';

/** Tokens of reasoning for an effort, as Google's own OpenAI-compatible server has them. */
const BUDGETS: Readonly<Record<string, number>> = {
  minimal: 512,
  low: 1_024,
  medium: 8_192,
  high: 24_576,
  xhigh: 24_576,
  max: 24_576,
};
/** Minimum accepted by the larger 2.5 model. Tokens. */
const LEAST_BUDGET = 128;

/**
 * The body of `generateContent`. What Gemini cannot express at all (marks for its cache, one call at a time, a name for
 * the user) is left out: it changes no answer's meaning.
 */
export function geminiRequest(request: TurnsRequest, target: Target): Record<string, unknown> {
  const { system, tools, toolChoice } = request;
  const config = generationConfig(request, target);
  return {
    contents: contentsOf(request.turns, isAtLeastThree(target.model)),
    ...(system.length === 0 ? {} : { systemInstruction: { parts: system.map(({ text }) => ({ text })) } }),
    ...(tools.length === 0 ? {} : { tools: [{ functionDeclarations: tools.map(declarationOf) }] }),
    ...(toolChoice === null || tools.length === 0 ? {} : { toolConfig: { functionCallingConfig: modeOf(toolChoice) } }),
    ...(Object.keys(config).length === 0 ? {} : { generationConfig: config }),
  };
}

/** From its third generation on the model takes levels of thinking and refuses calls that are not signed. */
function isAtLeastThree(model: string): boolean {
  return /(^|\/)gemini-(?![12]\b)/.test(model);
}

function declarationOf(tool: TurnsRequest['tools'][number]): object {
  const schema = geminiSchema(tool.parameters);
  const takesNothing =
    Object.keys(asObject(schema['properties'])).length === 0 &&
    schema['$ref'] === undefined &&
    schema['anyOf'] === undefined;
  return {
    name: tool.name,
    description: tool.description ?? '',
    ...(takesNothing ? {} : { parametersJsonSchema: schema }),
  };
}

function modeOf(choice: ToolChoice): object {
  switch (choice.kind) {
    case 'auto':
      return { mode: 'AUTO' };
    case 'none':
      return { mode: 'NONE' };
    case 'required':
      return { mode: 'ANY' };
    case 'tool':
      return { mode: 'ANY', allowedFunctionNames: [choice.name] };
  }
}

function generationConfig(
  { sampling, stop, maxOutputTokens, responseFormat, reasoning }: TurnsRequest,
  target: Target,
): Record<string, unknown> {
  const thinking = reasoning === null ? null : withinLimit(thinkingConfig(reasoning, target), maxOutputTokens);
  return {
    ...sampling,
    ...(maxOutputTokens === null ? {} : { maxOutputTokens }),
    ...(stop.length === 0 ? {} : { stopSequences: stop }),
    ...(responseFormat === null ? {} : { responseMimeType: 'application/json' }),
    ...(responseFormat?.kind === 'json-schema' ? { responseJsonSchema: geminiSchema(responseFormat.schema) } : {}),
    ...(thinking === null ? {} : { thinkingConfig: thinking }),
  };
}

interface ThinkingConfig {
  readonly thinkingBudget?: number;
  readonly thinkingLevel?: string;
  readonly includeThoughts?: boolean;
}

function thinkingConfig({ on, effort, budgetTokens }: Reasoning, target: Target): ThinkingConfig | null {
  const takes =
    target.reasoning ??
    (isAtLeastThree(target.model) ? 'effort' : /gemini-2\.5/.test(target.model) ? 'budget' : 'none');
  const isPro = /\bpro\b/.test(target.model);
  if (takes === 'none') return null;
  if (takes === 'budget') {
    if (!on) return { thinkingBudget: isPro ? LEAST_BUDGET : 0 };
    const budget = budgetTokens ?? BUDGETS[effort ?? ''];
    return { includeThoughts: true, ...(budget === undefined ? {} : { thinkingBudget: budget }) };
  }
  if (!on) return { thinkingLevel: isPro ? 'low' : 'minimal' };
  const level =
    effort === null
      ? levelOf(budgetTokens)
      : effort === 'minimal' && isPro
        ? 'low'
        : ['xhigh', 'max'].includes(effort)
          ? 'high'
          : effort;
  return { includeThoughts: true, ...(level === null ? {} : { thinkingLevel: level }) };
}

/** Thoughts are part of the answer that the limit bounds: half of it is left for what is said. */
function withinLimit(config: ThinkingConfig | null, limit: number | null): ThinkingConfig | null {
  if (config?.thinkingBudget === undefined || limit === null || config.thinkingBudget < limit) return config;
  return { ...config, thinkingBudget: Math.max(LEAST_BUDGET, Math.floor(limit / 2)) };
}

function levelOf(budgetTokens: number | null): string | null {
  if (budgetTokens === null) return null;
  return budgetTokens <= 2_048 ? 'low' : budgetTokens <= 12_288 ? 'medium' : 'high';
}

function asObject(value: unknown): object {
  return typeof value === 'object' && value !== null ? value : {};
}
