import type { ErrorCode } from '@slipway/contracts';
import type { z } from 'zod';
import { SlipwayError } from './slipway-error.js';

/** The value as the schema reads it. @throws SlipwayError (`request.invalid` unless another code is given) that names every wrong field. */
export function parseOrThrow<T extends z.ZodType>(schema: T, value: unknown, code: ErrorCode = 'request.invalid'): z.output<T> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const fields = parsed.error.issues.map((issue) => ({ path: issue.path.join('.'), message: issue.message }));
  throw new SlipwayError(code, fields.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`)).join('; '), { fields });
}

/** Environment variables as the schema reads them, frozen. @throws Error that names every wrong variable and never its value. */
export function parseConfig<T extends z.ZodType>(schema: T, source: Readonly<Record<string, string | undefined>>): Readonly<z.output<T>> {
  const parsed = schema.safeParse(source);
  if (parsed.success) return Object.freeze(parsed.data as z.output<T> & object);
  throw new SlipwayError('config.invalid', `configuration:\n${parsed.error.issues.map((issue) => `  ${issue.path.join('.')}: ${issue.message}`).join('\n')}`);
}
