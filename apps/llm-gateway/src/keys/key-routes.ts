import { randomBytes, randomUUID } from 'node:crypto';
import { DeleteKeys, GenerateKey, type PutUser, UpdateKey } from '@slipway/contracts/models';
import type { SqlPool } from '@slipway/db/sql';
import type { Clock, Ids } from '@slipway/domain';
import { notFound, parseOrThrow, SlipwayError } from '@slipway/errors';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { secondsOf } from '../management/durations.js';
import { changeKey, DEFAULT_ORG, endKeys, type KeyInfo, keyInfo, NEVER, storeKey } from '../management/keys.queries.js';
import { available, requireMasterKey } from '../management/master-only.js';
import { sealOwnProviders } from '../routing/own-keys.js';
import type { KeyCache } from './key-cache.js';
import { revokeKeys } from './keys.queries.js';
import { bearerToken } from './master-key.js';
import { makeKeyToken } from './virtual-key-token.js';

export interface KeyRoutesOptions {
  readonly pool: SqlPool;
  readonly keys: KeyCache;
  readonly isMasterKey: (given: string | null) => boolean;
  readonly clock: Clock;
  readonly ids: Ids;
}

/** Of a conversation's key that does not say. Seconds. */
const CONVERSATION_KEY_SECONDS = 86_400;
const KeyQuery = z.object({ key: z.string().min(1).max(200).optional() });
const OneKey = z.looseObject({ key: z.string().min(1).max(200) });

/** `/key/…` as LiteLLM has it, with the master key; `GET /key/info` also with the key that it is about. */
export function addKeyRoutes(fastify: FastifyInstance, options: KeyRoutesOptions): void {
  const { pool, keys, clock } = options;

  fastify.post('/key/generate', async (request): Promise<MadeKey> => {
    requireMasterKey(request, options.isMasterKey);
    return makeKey(options, parseOrThrow(GenerateKey, request.body ?? {}));
  });

  fastify.get('/key/info', async (request): Promise<{ key: string; info: KeyInfo }> => {
    const { key } = parseOrThrow(KeyQuery, request.query);
    const own = bearerToken(request.headers.authorization);
    if (!options.isMasterKey(own)) {
      await keys.authenticate(own);
      if (key !== undefined && key !== own) throw notFound();
    }
    const name = key ?? own ?? '';
    const info = await available(keyInfo(pool, name, clock.now()));
    if (info === null) throw notFound();
    return { key: info.token, info };
  });

  fastify.post('/key/update', async (request): Promise<KeyInfo & { key: string }> => {
    requireMasterKey(request, options.isMasterKey);
    const {
      key,
      key_alias: alias,
      models,
      duration,
      blocked,
      metadata,
      ...limits
    } = parseOrThrow(UpdateKey, request.body);
    const info = await available(
      changeKey(
        pool,
        key,
        {
          ...(alias === undefined ? {} : { alias }),
          ...(models === undefined ? {} : { models }),
          ...(duration === undefined
            ? {}
            : { expiresAt: duration === null ? NEVER : new Date(clock.now().getTime() + secondsOf(duration) * 1000) }),
          ...(blocked === undefined || blocked === null ? {} : { blocked }),
          ...(metadata === undefined ? {} : { metadata }),
          limits,
        },
        clock.now(),
      ),
    );
    if (info === null) throw notFound();
    keys.forget([info.key_id]);
    return { key, ...info };
  });

  for (const blocked of [true, false]) {
    fastify.post(blocked ? '/key/block' : '/key/unblock', async (request): Promise<KeyInfo> => {
      requireMasterKey(request, options.isMasterKey);
      const { key } = parseOrThrow(OneKey, request.body);
      const info = await available(changeKey(pool, key, { blocked, limits: {} }, clock.now()));
      if (info === null) throw notFound();
      keys.forget([info.key_id]);
      return info;
    });
  }

  fastify.post('/key/delete', async (request): Promise<{ deleted_keys: string[] }> => {
    requireMasterKey(request, options.isMasterKey);
    const wanted = parseOrThrow(DeleteKeys, request.body);
    if ('conversation_id' in wanted) {
      const ended = await available(revokeKeys(pool, wanted.conversation_id as string));
      keys.forget(ended);
      return { deleted_keys: ended };
    }
    const { named, ids } = await available(endKeys(pool, wanted.keys ?? [], wanted.key_aliases ?? []));
    if (ids.length === 0) throw notFound();
    keys.forget(ids);
    return { deleted_keys: named };
  });
}

export type MadeKey = { key: string } & Omit<KeyInfo, 'token'> & { token: string; token_id: string };

/**
 * Makes a key as it is wanted. @throws SlipwayError `request.invalid` when it names two organizations or users,
 * `service.unavailable`.
 */
export async function makeKey(
  { pool, keys, clock, ids }: Omit<KeyRoutesOptions, 'isMasterKey'>,
  wanted: GenerateKey,
): Promise<MadeKey> {
  const { metadata } = wanted;
  const orgId = one('team_id', wanted.team_id, metadata.org_id) ?? DEFAULT_ORG;
  const userId = one('user_id', wanted.user_id, metadata.user_id);
  const bound = metadata.conversation_id !== undefined;
  const conversationId = metadata.conversation_id ?? randomUUID();
  const seconds =
    wanted.duration_seconds ?? (wanted.duration ? secondsOf(wanted.duration) : bound ? CONVERSATION_KEY_SECONDS : null);
  const id = ids.prefixed('key');
  const { token, hash } = makeKeyToken(id, randomBytes(20));
  const now = clock.now();
  const { info, ended } = await available(
    storeKey(
      pool,
      {
        id,
        orgId,
        conversationId,
        bound,
        userId,
        alias: wanted.key_alias ?? null,
        models: wanted.models,
        hash,
        expiresAt: seconds === null ? NEVER : new Date(now.getTime() + seconds * 1000),
        graceUntil: wanted.grace_seconds === undefined ? null : new Date(now.getTime() + wanted.grace_seconds * 1000),
        blocked: wanted.blocked ?? false,
        metadata,
        sealedProviders: wanted.providers === undefined ? null : sealOwnProviders(token, wanted.providers),
        limits: wanted,
      },
      now,
    ),
  );
  keys.forget(ended);
  return { key: token, token_id: info.token, ...info };
}

/** What a user made of `/user/new` may be called with: LiteLLM makes a key with each. */
export function keyOfUser(user: PutUser, userId: string, orgId: string): GenerateKey {
  return {
    user_id: userId,
    team_id: orgId,
    key_alias: user.key_alias,
    duration: user.duration,
    models: user.models ?? [],
    metadata: user.user_alias === undefined || user.user_alias === null ? {} : { user_label: user.user_alias },
  };
}

function one(field: string, given: string | null | undefined, inMetadata: string | undefined): string | null {
  if (typeof given === 'string' && inMetadata !== undefined && given !== inMetadata)
    throw new SlipwayError('request.invalid', `${field}: metadata names another one`);
  return given ?? inMetadata ?? null;
}
