import { type LedgerCalls, MAX_TRACE_SPANS } from '@slipway/contracts/conversations';
import {
  BudgetStops,
  ChargePass,
  ConversationSpending,
  type LedgerPage,
  MAX_LEDGER_ROWS,
  OrgLimits,
} from '@slipway/contracts/models';
import type { SqlPool } from '@slipway/db/sql';
import type { Clock } from '@slipway/domain';
import { parseOrThrow, SlipwayError } from '@slipway/errors';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { putChargePass } from '../keys/charge-passes.js';
import { bearerToken } from '../keys/master-key.js';
import { readCalls } from '../ledger/conversation-calls.queries.js';
import { readLedger } from '../ledger/ledger-reader.queries.js';
import { available } from '../management/master-only.js';
import type { ModelDirectory } from '../routing/model-directory.js';
import { replaceBudgetStops } from './budget-stops.queries.js';
import { putConversationSpending } from './conversation-spending.queries.js';
import { replaceOrgLimits } from './limits.queries.js';

export interface PlatformRoutesOptions {
  readonly pool: SqlPool;
  readonly isMasterKey: (given: string | null) => boolean;
  readonly clock: Clock;
  readonly models: ModelDirectory;
}

/** Stops or limits of 50,000 people. Bytes. */
const STOPS_BODY = 16 * 1024 * 1024;

const LedgerQuery = z.object({
  after: z.coerce.number().int().min(0).default(0),
  limit: z.coerce.number().int().min(1).max(MAX_LEDGER_ROWS).default(MAX_LEDGER_ROWS),
});

const CallsQuery = z.object({
  from: z.iso.datetime().optional(),
  to: z.iso.datetime().optional(),
  limit: z.coerce.number().int().min(0).max(MAX_TRACE_SPANS).default(MAX_TRACE_SPANS),
});

/**
 * Routes of app-server and worker, with the master key: a conversation's calls for its trace, the ledger for the
 * roll-up, limits, and spent budgets.
 */
export function addPlatformRoutes(
  fastify: FastifyInstance,
  { pool, isMasterKey, clock, models }: PlatformRoutesOptions,
): void {
  const providerOf = (deployment: string): string | null =>
    models.offered.flatMap(({ group }) => group.deployments).find(({ id }) => id === deployment)?.target.provider ??
    null;
  const requireMasterKey = (request: FastifyRequest): void => {
    if (!isMasterKey(bearerToken(request.headers.authorization)))
      throw new SlipwayError('auth.missing', 'This route wants the master key.');
  };
  fastify.get('/internal/ledger', async (request): Promise<LedgerPage> => {
    requireMasterKey(request);
    const { after, limit } = parseOrThrow(LedgerQuery, request.query);
    return available(readLedger(pool, after, limit));
  });
  fastify.get('/internal/calls/:org/:conversation', async (request): Promise<LedgerCalls> => {
    requireMasterKey(request);
    const { org, conversation } = request.params as { org: string; conversation: string };
    return available(
      readCalls(pool, org, parseOrThrow(z.uuid(), conversation), {
        range: parseOrThrow(CallsQuery, request.query),
        providerOf,
      }),
    );
  });
  fastify.put('/internal/budget-stops/:org', { bodyLimit: STOPS_BODY }, async (request, reply): Promise<void> => {
    requireMasterKey(request);
    const { stops } = parseOrThrow(BudgetStops, request.body);
    await available(replaceBudgetStops(pool, (request.params as { org: string }).org, stops));
    return reply.code(204).send();
  });
  fastify.put('/internal/limits/:org', { bodyLimit: STOPS_BODY }, async (request, reply): Promise<void> => {
    requireMasterKey(request);
    const limits = parseOrThrow(OrgLimits, request.body);
    await available(replaceOrgLimits(pool, (request.params as { org: string }).org, limits));
    return reply.code(204).send();
  });
  fastify.put('/internal/spending/:conversation', async (request, reply): Promise<void> => {
    requireMasterKey(request);
    const conversation = parseOrThrow(z.uuid(), (request.params as { conversation: string }).conversation);
    await available(putConversationSpending(pool, conversation, parseOrThrow(ConversationSpending, request.body)));
    return reply.code(204).send();
  });
  fastify.post('/internal/charge-passes', async (request, reply): Promise<void> => {
    requireMasterKey(request);
    await available(putChargePass(pool, parseOrThrow(ChargePass, request.body), clock.now()));
    return reply.code(204).send();
  });
}
