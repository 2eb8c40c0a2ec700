import { SlipwayError, storeUnavailable } from '@slipway/errors';
import type { FastifyRequest } from 'fastify';
import { bearerToken } from '../keys/master-key.js';

/** @throws SlipwayError `auth.missing` */
export function requireMasterKey(request: FastifyRequest, isMasterKey: (given: string | null) => boolean): void {
  if (!isMasterKey(bearerToken(request.headers.authorization)))
    throw new SlipwayError('auth.missing', 'This route wants the master key.');
}

/**
 * What the database answers, or `service.unavailable`: one that does not answer, or has no room, is our failure that
 * passes, not a mystery. Our own errors pass through.
 */
export async function available<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof SlipwayError) throw error;
    throw (
      storeUnavailable(error) ??
      new SlipwayError('service.unavailable', 'The database does not answer.', { cause: error, retryAfterSeconds: 1 })
    );
  }
}
