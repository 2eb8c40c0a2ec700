import { parseOrThrow } from '@slipway/errors';
import { z } from 'zod';

/** Of a file or folder, as the caller names it. */
export const PathQuery = z.object({ path: z.string().min(1).max(4096) });

/** The query string as the schema reads it; of a name given twice, the last. @throws SlipwayError `request.invalid`. */
export const queryOf = <T extends z.ZodType>(schema: T, query: URLSearchParams): z.output<T> =>
  parseOrThrow(schema, Object.fromEntries(query));
