import type { FastifyReply } from 'fastify';

/**
 * Wait for a sandbox when none is ready, unless `Prefer: wait=N` says another one (RFC 7240). Seconds; below the 20 s
 * that Slipway's worker waits for the answer.
 */
const WAIT_SECONDS = 12;
const MOST_WAIT_SECONDS = 15;

/** Milliseconds. A preference that is none is none. */
export function waitOf(prefer: string | undefined): number {
  if (prefer === undefined) return 1_000 * WAIT_SECONDS;
  const asked = /(?:^|[,;\s])wait=(\d{1,4})(?:$|[,;\s])/.exec(prefer)?.[1];
  return 1_000 * (asked === undefined ? WAIT_SECONDS : Math.min(MOST_WAIT_SECONDS, Math.max(1, Number(asked))));
}

/** Aborted when the caller closes the connection before its answer is complete. */
export function goneSignal(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) gone.abort(new Error('the caller went away'));
  });
  return gone.signal;
}

/** `APP_KEY_SHA256_HEADER`; `null` for what is no SHA-256. */
export function keyHashOf(header: string | string[] | undefined): string | null {
  return typeof header === 'string' && /^[A-Za-z0-9_-]{43}$/.test(header) ? header : null;
}
