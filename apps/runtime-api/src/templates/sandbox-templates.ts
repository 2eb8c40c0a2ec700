import { readFileSync } from 'node:fs';
import type { EgressClass } from '@slipway/contracts/sandboxes';
import { parseOrThrow, SlipwayError } from '@slipway/errors';
import { readTemplates } from '@slipway/sandbox/adapters/kubernetes';
import { parse as parseYaml } from 'yaml';
import { z } from 'zod';
import type { PoolBounds, PoolSpec } from '../pool/pool-context.js';

/** A blank sandbox is replaced at this age. Seconds. */
const MAX_AGE_SECONDS = 4 * 3_600;
/**
 * Of the base size, where a template says nothing: enough to try it out, and no more than a small cluster has. Other
 * sizes are made when they are asked for.
 */
const BASE_BOUNDS: PoolBounds = { min: 2, max: 20 };
const ON_DEMAND: PoolBounds = { min: 0, max: 0 };

const Bounds = z
  .strictObject({ min: z.int().min(0).max(100_000), max: z.int().min(0).max(100_000) })
  .refine(({ min, max }) => min <= max, { path: ['max'], message: 'is less than min' });

/** What a template says beside what its pods are made of. */
const Pooling = z.looseObject({
  /**
   * By size: blank sandboxes that are kept, at least and at most, while the demand is less or more. `max` 0: made on
   * demand.
   */
  pools: z.partialRecord(z.enum(['1', '2', '4', '8']), Bounds).default({}),
  maxAgeSeconds: z
    .int()
    .min(60)
    .max(30 * 86_400)
    .default(MAX_AGE_SECONDS),
});

export interface SandboxTemplates {
  /** For the backend: each as `SandboxTemplate` of the Kubernetes adapter. */
  readonly templates: readonly unknown[];
  /**
   * One for each template and size, in the order in which they are written: the first is for requests that name none.
   */
  readonly pools: readonly [PoolSpec, ...PoolSpec[]];
  /** What sandboxes of each template reach, by its name. */
  readonly egress: ReadonlyMap<string, EgressClass>;
}

/**
 * Reads SANDBOX_TEMPLATES: JSON when it begins like a list, otherwise the path to a file of YAML or JSON.
 * @throws SlipwayError `config.invalid` that names the file or every wrong field.
 */
export function loadTemplates(given: string, nodeEnv: 'development' | 'test' | 'production'): SandboxTemplates {
  try {
    return fromValue(readValue(given), nodeEnv);
  } catch (error) {
    const words = error instanceof SlipwayError ? error.detail : error instanceof Error ? error.message : String(error);
    throw new SlipwayError(
      'config.invalid',
      `configuration:\n  SANDBOX_TEMPLATES: ${words.replaceAll('; ', '\n  SANDBOX_TEMPLATES: ')}`,
      { cause: error },
    );
  }
}

function readValue(given: string): unknown {
  // JSON is YAML.
  if (/^\s*[[{]/.test(given)) return parseYaml(given);
  let text: string;
  try {
    text = readFileSync(given, 'utf8');
  } catch (error) {
    throw new SlipwayError(
      'config.invalid',
      `${given} cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown'})`,
    );
  }
  return parseYaml(text);
}

function fromValue(value: unknown, nodeEnv: 'development' | 'test' | 'production'): SandboxTemplates {
  const entries = parseOrThrow(z.array(Pooling).min(1, 'needs at least one template'), value, 'config.invalid');
  const bare = entries.map(({ pools: _pools, maxAgeSeconds: _maxAgeSeconds, ...template }) => template);
  const templates = [...readTemplates(bare, nodeEnv).values()];
  const pools = templates.flatMap((template, index) => {
    const { pools: bounds, maxAgeSeconds } = entries[index] ?? Pooling.parse({});
    const unknown = Object.keys(bounds).find((size) => !template.sizes.some((known) => String(known) === size));
    if (unknown !== undefined)
      throw new SlipwayError(
        'config.invalid',
        `${index}.pools.${unknown}: is not one of the template's sizes, ${template.sizes.join(', ')}`,
      );
    return template.sizes.map(
      (size): PoolSpec => ({
        poolId: `${template.name}-x${size}`,
        image: template.name,
        imageReference: template.image,
        runtimeClass: template.runtimeClassName ?? null,
        size,
        bounds: bounds[`${size}`] ?? (size === 1 ? BASE_BOUNDS : ON_DEMAND),
        maxAgeSeconds,
      }),
    );
  });
  return {
    templates: bare,
    pools: pools as [PoolSpec, ...PoolSpec[]],
    egress: new Map(templates.map(({ name, egress }) => [name, egress])),
  };
}
