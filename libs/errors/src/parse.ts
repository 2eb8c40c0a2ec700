import type { ErrorCode } from '@slipway/contracts/errors';
import type { z } from 'zod';
import { SlipwayError } from './slipway-error.js';

/**
 * The value as the schema reads it. @throws SlipwayError (`request.invalid` unless another code is given) that names
 * every wrong field.
 */
export function parseOrThrow<T extends z.ZodType>(
  schema: T,
  value: unknown,
  code: ErrorCode = 'request.invalid',
): z.output<T> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const fields = parsed.error.issues.map((issue) => ({ path: issue.path.join('.'), message: issue.message }));
  throw new SlipwayError(
    code,
    fields.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`)).join('; '),
    { fields },
  );
}
