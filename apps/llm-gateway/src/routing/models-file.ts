import { readFileSync } from 'node:fs';
import { PROVIDER_IDS } from '@slipway/contracts/models';
import { SlipwayError } from '@slipway/errors';
import { MODEL_CAPABILITIES } from '@slipway/llm';
import { z } from 'zod';
import { providerOf } from '../providers/providers.js';
import { DIALECTS } from '../wire/dialect.js';
import { FALLBACK_CLASSES } from './failure-class.js';
import { MAX_ATTEMPTS } from './route.js';
import { STRATEGIES } from './strategies.js';

const usd = z.number().min(0).max(1_000_000);
const prices = {
  input: usd,
  cachedInput: usd,
  cacheWrite: usd.optional(),
  cacheWriteHour: usd.optional(),
  output: usd,
};

/** What an installation knows better than the catalogue. USD for a million tokens; tokens. */
const Facts = z
  .strictObject({
    price: z.strictObject({
      ...prices,
      tiers: z
        .array(z.strictObject({ abovePromptTokens: z.int().positive(), ...prices }))
        .max(10)
        .refine(
          (tiers) => tiers.every((tier, index) => tier.abovePromptTokens > (tiers[index - 1]?.abovePromptTokens ?? 0)),
          'the shortest first',
        )
        .optional(),
      /** What the tiers that callers may ask for multiply the price by; others are refused. */
      serviceTiers: z.record(z.string().min(1).max(50), z.number().positive().max(100)).optional(),
      /** USD for a thousand uses of what is no token. */
      perThousand: z.strictObject({ countTokens: usd.optional(), webSearch: usd.optional() }).optional(),
    }),
    contextWindow: z.int().positive(),
    maxOutput: z.int().positive(),
    /** Limit of an answer for which the caller names none. What is broken off costs as much. */
    defaultOutput: z.int().positive(),
    /** Most searches of the web by the provider in one call. */
    maxSearches: z.int().min(1).max(100),
    capabilities: z.array(z.enum(MODEL_CAPABILITIES)),
  })
  .partial();

const DeploymentEntry = z
  .strictObject({
    /** Its name in metrics and on the health page; `<model>/<number>` when absent. */
    id: z.string().trim().min(1).max(100).optional(),
    provider: z.enum(PROVIDER_IDS),
    /**
     * Up to and including the version; the provider's own when absent. Azure and Bedrock through a gateway of yours
     * need it.
     */
    baseUrl: z.url({ protocol: /^https?$/ }).optional(),
    /** Name of the environment variable that holds the key. Absent: none is sent. */
    apiKeyEnv: z
      .string()
      .regex(/^[A-Z][A-Z0-9_]*$/, 'a variable like ANTHROPIC_API_KEY; the key itself must not stand here')
      .optional(),
    /** As the provider names it; for Azure the deployment. */
    model: z.string().trim().min(1).max(200),
    /** Dialects that it understands by itself. By provider when absent. */
    speaks: z.array(z.enum(DIALECTS)).optional(),
    weight: z.number().positive().max(1_000).default(1),
    /** Calls and tokens a minute, of each replica. */
    rpm: z.int().positive().optional(),
    tpm: z.int().positive().optional(),
    apiVersion: z.string().max(50).optional(),
    region: z.string().max(50).optional(),
    reasoning: z.enum(['none', 'effort', 'budget', 'adaptive']).optional(),
    chatAdditions: z.boolean().optional(),
    firstByteTimeoutSeconds: z.number().positive().max(3_600).optional(),
    silenceTimeoutSeconds: z.number().positive().max(3_600).optional(),
    price: Facts.shape.price,
    /**
     * Pictures and files by their addresses: its provider fetches them, past the egress rules of a sandbox. Every place
     * of a model must allow it.
     */
    mediaByUrl: z.boolean().default(false),
  })
  .superRefine((entry, context) => {
    const missing = (path: string, message: string): void =>
      context.addIssue({ code: 'custom', path: [path], message });
    const { requires } = providerOf(entry.provider);
    for (const setting of ['baseUrl', 'region'] as const) {
      const reason = requires[setting];
      if (reason !== undefined && entry[setting] === undefined) missing(setting, reason);
    }
  });

const fallbacks = z.array(z.string()).max(5).default([]);

const GroupEntry = z.strictObject({
  /** As callers name it. */
  name: z.string().trim().min(1).max(200),
  strategy: z.enum(STRATEGIES).default('weighted'),
  /** Most attempts of one call, its fallbacks' included; by default as many as there are places, up to 3. */
  attempts: z.int().min(1).max(MAX_ATTEMPTS).optional(),
  /** It has been tried here and is recommended. */
  verified: z.boolean().default(false),
  deployments: z.array(DeploymentEntry).min(1).max(100),
  fallbacks: z
    .strictObject({ context: fallbacks, 'content-policy': fallbacks, 'rate-limit': fallbacks, any: fallbacks })
    .prefault({}),
  facts: Facts.prefault({}),
  /**
   * Fields of requests that its provider has alone and that cost nothing beside tokens; others are taken out of
   * requests.
   */
  fields: z.array(z.string().min(1).max(100)).max(100).default([]),
});

export const ModelsFile = z
  .strictObject({ models: z.array(GroupEntry).max(1_000) })
  .superRefine(({ models }, context) => {
    const names = new Set<string>();
    const ids = new Set<string>();
    for (const [index, { name, deployments }] of models.entries()) {
      if (names.has(name))
        context.addIssue({ code: 'custom', path: ['models', index, 'name'], message: `"${name}" is there twice` });
      names.add(name);
      for (const [number, { id = `${name}/${number + 1}` }] of deployments.entries()) {
        if (ids.has(id))
          context.addIssue({
            code: 'custom',
            path: ['models', index, 'deployments', number, 'id'],
            message: `"${id}" is there twice`,
          });
        ids.add(id);
      }
    }
    for (const [index, model] of models.entries()) {
      for (const kind of FALLBACK_CLASSES) {
        for (const other of model.fallbacks[kind]) {
          const wrong =
            other === model.name
              ? 'a model cannot take over for itself'
              : names.has(other)
                ? null
                : `there is no model "${other}" in this file`;
          if (wrong !== null)
            context.addIssue({ code: 'custom', path: ['models', index, 'fallbacks', kind], message: wrong });
        }
      }
    }
  });
export type ModelsFile = z.infer<typeof ModelsFile>;
export type GroupEntry = z.infer<typeof GroupEntry>;
export type DeploymentEntry = z.infer<typeof DeploymentEntry>;

/**
 * @throws SlipwayError `config.invalid` that names the file and every wrong place in it; what stands there is not
 * shown.
 */
export function readModelsFile(path: string): ModelsFile {
  const wrong = (why: string, cause?: unknown): SlipwayError =>
    new SlipwayError('config.invalid', `LLM_MODELS_FILE ${path}: ${why}`, { cause });
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw wrong(
      error instanceof SyntaxError
        ? 'it is not JSON'
        : `it cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`,
      error,
    );
  }
  const parsed = ModelsFile.safeParse(value);
  if (parsed.success) return parsed.data;
  throw wrong(`\n${parsed.error.issues.map((issue) => `  ${issue.path.join('.')}: ${issue.message}`).join('\n')}`);
}
