import type { Target } from '../../wire/exchange.js';
import { type JsonObject, said } from '../../wire/json.js';
import { anthropicEffort, writeSampling, writeThinking } from '../../wire/messages-request.js';
import { traitsOf } from '../../wire/traits.js';
import type { Reasoning, TurnsRequest } from '../../wire/turns.js';

/** Parameters that differ between families of models. */
export interface ModelSettings {
  /** In `inferenceConfig`; a member that is `undefined` must not stand there. */
  readonly inference: JsonObject;
  /** In `additionalModelRequestFields`: refused by models that do not know them. */
  readonly fields: JsonObject;
}

/** Of Anthropic's betas those that Bedrock knows; it refuses a request with another one. */
const BETAS: ReadonlySet<string> = new Set([
  'interleaved-thinking-2025-05-14',
  'output-128k-2025-02-19',
  'token-efficient-tools-2025-02-19',
  'fine-grained-tool-streaming-2025-05-14',
]);

/** A profile of one's own has an address that does not name the model: then the name that callers know does. */
function nameOf(request: TurnsRequest, target: Target): string {
  return target.model.startsWith('arn:') && !/anthropic|nova|gpt-oss/i.test(target.model)
    ? request.model
    : target.model;
}

export function familyOf(request: TurnsRequest, target: Target): 'claude' | 'nova' | 'other' {
  const name = nameOf(request, target);
  if (/anthropic|claude/i.test(name)) return 'claude';
  return /\bnova-/i.test(name) ? 'nova' : 'other';
}

/** @param betas Anthropic's header of the caller. */
export function modelSettings(request: TurnsRequest, target: Target, betas: string | undefined): ModelSettings {
  const family = familyOf(request, target);
  if (family === 'claude') return claude(request, target, betas);
  const { sampling, reasoning } = request;
  // OpenAI's goes to 2, and Bedrock takes none above 1.
  const temperature = sampling.temperature === undefined ? undefined : Math.min(1, sampling.temperature);
  const inference = said({ temperature, topP: sampling.topP });
  if (family === 'nova') return nova(request, target, inference);
  const effort =
    reasoning === null || target.reasoning === 'none' || !/gpt-oss/.test(nameOf(request, target))
      ? undefined
      : effortOf(reasoning);
  return { inference, fields: said({ reasoning_effort: effort }) };
}

function claude(request: TurnsRequest, target: Target, betas = ''): ModelSettings {
  const known = betas.split(',').flatMap((beta) => (BETAS.has(beta.trim()) ? [beta.trim()] : []));
  const traits = traitsOf({ ...target, model: nameOf(request, target) });
  const thinking = writeThinking(request, traits);
  const {
    temperature,
    top_p: topP,
    top_k,
  } = writeSampling(request.sampling, traits, thinking !== undefined && thinking['type'] !== 'disabled');
  const effort =
    traits.reasoning === 'adaptive' && request.reasoning?.on === true ? anthropicEffort(request.reasoning) : undefined;
  return {
    inference: said({ temperature, topP }),
    fields: said({
      thinking,
      top_k,
      output_config: effort === undefined ? undefined : { effort },
      anthropic_beta: known.length === 0 ? undefined : known,
    }),
  };
}

/** The first generation does not reason. With the highest effort the second takes no limits. */
function nova(request: TurnsRequest, target: Target, inference: JsonObject): ModelSettings {
  const { sampling, reasoning } = request;
  const topK = sampling.topK === undefined ? undefined : { topK: sampling.topK };
  if (reasoning === null || target.reasoning === 'none' || !/nova-2/.test(nameOf(request, target)))
    return { inference, fields: said({ inferenceConfig: topK }) };
  const limit = request.maxOutputTokens;
  const limited = limit !== null && limit < (target.maxOutputTokens ?? Number.POSITIVE_INFINITY);
  const wanted = effortOf(reasoning);
  // The highest effort takes no limit at all, and what is granted must stand in the request.
  const effort = wanted === 'high' && limited ? 'medium' : wanted;
  if (!reasoning.on)
    return { inference, fields: said({ inferenceConfig: topK, reasoningConfig: { type: 'disabled' } }) };
  const fields = said({ reasoningConfig: { type: 'enabled', maxReasoningEffort: effort } });
  return effort === 'high'
    ? { inference: { maxTokens: undefined }, fields }
    : { inference, fields: said({ ...fields, inferenceConfig: topK }) };
}

function effortOf({ effort, budgetTokens }: Reasoning): 'low' | 'medium' | 'high' {
  if (effort === 'low' || effort === 'minimal') return 'low';
  if (effort === null)
    return budgetTokens === null
      ? 'medium'
      : budgetTokens <= 4_096
        ? 'low'
        : budgetTokens <= 16_384
          ? 'medium'
          : 'high';
  return effort === 'medium' ? 'medium' : 'high';
}
