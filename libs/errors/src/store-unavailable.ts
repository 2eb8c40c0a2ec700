import { SlipwayError } from './slipway-error.js';

/** What an operating system and Postgres' client say of a server that cannot be reached, or has gone. */
const GONE: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'ETIMEDOUT',
  'EPIPE',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]);
/** Classes of Postgres, and what Prisma says of no connection. */
const AWAY = /^(?:08...|53...|57P..|25006|P1001|P1002|P1008|P1017|P2024|P2028)$/;
/** Postgres' client gives these no code. */
const SILENT =
  /^(?:timeout exceeded when trying to connect|Query read timeout|Connection terminated|Client has encountered a connection error|timeout expired)/;
/** After this a caller may try again. Seconds. */
const RETRY_SECONDS = 2;

/** As Prisma wraps what its driver threw. */
interface Wrapped {
  readonly meta?: { readonly driverAdapterError?: { readonly cause?: unknown } };
}

/**
 * A failure of the database that is none of the request's: it is away (class 08, 57P), read-only (25006), or has no
 * room (class 53: disk, connections, memory). `null` for everything else.
 */
export function storeUnavailable(thrown: unknown): SlipwayError | null {
  if (!(thrown instanceof Error) || thrown instanceof SlipwayError) return null;
  const said = [thrown, thrown.cause, (thrown as Wrapped).meta?.driverAdapterError?.cause].map(saidBy);
  if (said.some(({ code }) => code === '53100'))
    return new SlipwayError(
      'service.unavailable',
      'The database has no room left; nothing of this request was kept. It goes on when there is room.',
      {
        cause: thrown,
        retryAfterSeconds: 30,
      },
    );
  return said.some(({ code, message }) => GONE.has(code) || AWAY.test(code) || SILENT.test(message))
    ? new SlipwayError(
        'service.unavailable',
        'The database does not answer. Try again in a moment; a request with an Idempotency-Key is not done twice.',
        {
          cause: thrown,
          retryAfterSeconds: RETRY_SECONDS,
        },
      )
    : null;
}

function saidBy(thrown: unknown): { code: string; message: string } {
  const { code, originalCode, message } = (thrown ?? {}) as {
    code?: unknown;
    originalCode?: unknown;
    message?: unknown;
  };
  const name = originalCode ?? code;
  return { code: typeof name === 'string' ? name : '', message: typeof message === 'string' ? message : '' };
}
