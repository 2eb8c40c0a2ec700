import { type PromptLogMode, PromptLogQuery, type PromptPage, PromptPolicies } from '@slipway/contracts/models';
import type { SqlPool } from '@slipway/db/sql';
import { parseOrThrow } from '@slipway/errors';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { available, requireMasterKey } from '../management/master-only.js';
import { readPrompts, replacePolicies } from './prompt-log.queries.js';

export interface PromptLogRoutesOptions {
  readonly pool: SqlPool;
  readonly mode: z.infer<typeof PromptLogMode>['mode'];
  readonly isMasterKey: (given: string | null) => boolean;
}

/** Policies of 100,000 organizations. Bytes. */
const POLICIES_BODY = 16 * 1024 * 1024;
const PageQuery = PromptLogQuery.extend({
  after: z
    .string()
    .regex(/^[0-9TZ:.-]{20,30}\/[0-9a-f-]{36}$/)
    .optional(),
});

/** Prompt policies, set by worker, and stored prompts, read by app-server. With the master key. */
export function addPromptLogRoutes(
  fastify: FastifyInstance,
  { pool, mode, isMasterKey }: PromptLogRoutesOptions,
): void {
  fastify.get('/internal/prompt-log', async (request): Promise<z.infer<typeof PromptLogMode>> => {
    requireMasterKey(request, isMasterKey);
    return { mode };
  });
  /** Where the installation forbids the prompt log, no policy applies, and stored prompts are deleted. */
  fastify.put('/internal/prompt-policies', { bodyLimit: POLICIES_BODY }, async (request, reply): Promise<void> => {
    requireMasterKey(request, isMasterKey);
    const { policies } = parseOrThrow(PromptPolicies, request.body);
    await available(replacePolicies(pool, mode === 'never' ? [] : policies));
    return reply.code(204).send();
  });
  fastify.get('/internal/prompts/:org', async (request): Promise<PromptPage> => {
    requireMasterKey(request, isMasterKey);
    const query = parseOrThrow(PageQuery, request.query);
    return available(readPrompts(pool, (request.params as { org: string }).org, query));
  });
}
