import { randomBytes } from 'node:crypto';
import { DeleteKeys, type GeneratedKey, GenerateKey } from '@slipway/contracts';
import type { SqlPool } from '@slipway/db/sql';
import type { Clock, Ids } from '@slipway/domain';
import { parseOrThrow, SlipwayError } from '@slipway/errors';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import type { KeyCache } from './key-cache.js';
import { issueKey, revokeKeys } from './keys.queries.js';
import { bearerToken } from './master-key.js';
import { makeKeyToken } from './virtual-key-token.js';

export interface KeyRoutesOptions {
  readonly pool: SqlPool;
  readonly keys: KeyCache;
  readonly isMasterKey: (given: string | null) => boolean;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** `POST /key/generate` and `POST /key/delete`, for the platform's own services. */
export function addKeyRoutes(fastify: FastifyInstance, options: KeyRoutesOptions): void {
  const { pool, keys, clock, ids } = options;
  const requireMasterKey = (request: FastifyRequest): void => {
    if (!options.isMasterKey(bearerToken(request.headers.authorization))) throw new SlipwayError('auth.missing', 'This route wants the master key.');
  };

  fastify.post('/key/generate', async (request): Promise<z.infer<typeof GeneratedKey>> => {
    requireMasterKey(request);
    const wanted = parseOrThrow(GenerateKey, request.body);
    const id = ids.prefixed('key');
    const { token, hash } = makeKeyToken(id, randomBytes(20));
    const expiresAt = new Date(clock.now().getTime() + wanted.duration_seconds * 1000);
    const { org_id: orgId, conversation_id: conversationId, user_id: userId } = wanted.metadata;
    const ended = await available(
      issueKey(pool, orgId, { id, conversationId, userId: userId ?? null, alias: wanted.key_alias ?? null, models: wanted.models, hash, expiresAt }),
    );
    keys.forget(ended);
    return { key: token, key_id: id, expires: expiresAt.toISOString() };
  });

  fastify.post('/key/delete', async (request): Promise<{ deleted_keys: string[] }> => {
    requireMasterKey(request);
    const { conversation_id: conversationId } = parseOrThrow(DeleteKeys, request.body);
    const ended = await available(revokeKeys(pool, conversationId));
    keys.forget(ended);
    return { deleted_keys: ended };
  });
}

/** A database that does not answer is our failure that passes, not a mystery. */
async function available<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    throw new SlipwayError('service.unavailable', 'The keys cannot be changed: the database does not answer.', { cause: error, retryAfterSeconds: 1 });
  }
}
