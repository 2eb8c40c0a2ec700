import { z } from 'zod';

/**
 * An RFC 9457 problem, as every HTTP surface of Slipway answers a failure. `code` is one of `ERRORS`, kept open for
 * older clients.
 */
export const Problem = z.looseObject({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  detail: z.string(),
  code: z.string(),
  retry: z.enum(['never', 'later']),
  requestId: z.string().optional(),
  fields: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
});
export type Problem = z.infer<typeof Problem>;
