import { ERROR_CODES, type ErrorCode } from '@slipway/contracts/errors';
import { z } from 'zod';
import { AgentError } from './agent-error.js';

/** Longest text of a sandbox that is passed on. UTF-16 code units. */
const MAX_DETAIL = 2_000;
const MIB = 1024 * 1024;
/** Largest patch that anybody takes from a sandbox. Bytes. */
export const MAX_PATCH_BYTES = 64 * MIB;
/** In place of the sandbox's own words, which are for programs. */
const WORDS: Readonly<Partial<Record<ErrorCode, string>>> = {
  'conversation.nothing-to-confirm': 'What this answers no longer waits for an answer.',
  'conversation.awaits-confirmation': 'The agent waits for a yes or a no to what it asks for.',
  'conversation.not-running': 'The process in its sandbox was restarted and knows nothing of it yet.',
  'file.too-large': `The changes are larger than ${MAX_PATCH_BYTES / MIB} MiB as text; ask for one file at a time.`,
};

const Refusal = z.object({
  code: z.enum(ERROR_CODES as [ErrorCode, ...ErrorCode[]]),
  detail: z.string().optional().catch(undefined),
  fields: z
    .array(z.object({ path: z.string().max(200), message: z.string().max(200) }))
    .max(100)
    .optional()
    .catch(undefined),
});

/**
 * A refusal of agent-server as an error. @param where method and path, for the log. @param text what it answered; not
 * trusted.
 */
export function refusalOf(where: string, refusals: readonly ErrorCode[], status: number, text: string): AgentError {
  const refusal = Refusal.safeParse(parseOrUndefined(text)).data;
  const code = refusal?.code ?? null;
  const internal = `${where} answered ${status}${code === null ? '' : ` ${code}`}`;
  const failure = { kind: 'answered', status, code } as const;
  if (refusal === undefined || !refusals.includes(refusal.code))
    return new AgentError('sandbox.unreachable', 'The sandbox refused the request.', failure, { internal });
  const detail = WORDS[refusal.code] ?? refusal.detail?.slice(0, MAX_DETAIL) ?? 'The agent refuses it as it is now.';
  return new AgentError(refusal.code, detail, failure, {
    internal,
    ...(refusal.fields === undefined ? {} : { fields: refusal.fields }),
  });
}

/** Not JSON: `undefined`. */
export function parseOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
