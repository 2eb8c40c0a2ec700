import { SlipwayError } from '@slipway/errors';
import type { z } from 'zod';

/**
 * Environment variables as the schema reads them, frozen. @throws Error that names every wrong variable and never its
 * value.
 */
export function parseConfig<T extends z.ZodType>(
  schema: T,
  source: Readonly<Record<string, string | undefined>>,
): Readonly<z.output<T>> {
  const parsed = schema.safeParse(source);
  if (parsed.success) return Object.freeze(parsed.data as z.output<T> & object);
  throw new SlipwayError(
    'config.invalid',
    `configuration:\n${parsed.error.issues.map((issue) => `  ${issue.path.join('.')}: ${issue.message}`).join('\n')}`,
  );
}
