import { notFound, parseOrThrow } from '@slipway/errors';
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { KeyRoutesOptions } from '../keys/key-routes.js';
import { keyInfo } from './keys.queries.js';
import { available, requireMasterKey } from './master-only.js';
import {
  type SpendDay,
  type SpendFilter,
  type SpendLog,
  spendBy,
  spendByDay,
  spendLogs,
  totalSpend,
} from './spend.queries.js';

/** Rows of one answer. */
const MAX_LOGS = 5_000;
const Name = z.string().min(1).max(200).optional();
const Day = z.iso.date().optional();

const SpendQuery = z.object({
  request_id: Name,
  api_key: Name,
  user_id: Name,
  team_id: Name,
  /** Days (UTC), both included. */
  start_date: Day,
  end_date: Day,
  /** With both days, and unless it is false: a row a day instead of a row a call. */
  summarize: z.enum(['true', 'false']).default('true'),
  limit: z.coerce.number().int().min(1).max(MAX_LOGS).default(1_000),
});

/** `/spend/logs` and `/global/spend…` as LiteLLM has them, with the master key: views of the ledger. */
export function addSpendRoutes(fastify: FastifyInstance, { pool, isMasterKey, clock }: KeyRoutesOptions): void {
  const filterOf = async (query: z.infer<typeof SpendQuery>): Promise<SpendFilter> => {
    const key = query.api_key === undefined ? null : await available(keyInfo(pool, query.api_key, clock.now()));
    if (query.api_key !== undefined && key === null) throw notFound();
    const next = (day: string): Date => new Date(Date.parse(day) + 86_400_000);
    return {
      requestId: query.request_id ?? null,
      keyId: key?.key_id ?? null,
      userId: query.user_id ?? null,
      orgId: query.team_id ?? null,
      from: query.start_date === undefined ? null : new Date(query.start_date),
      to: query.end_date === undefined ? null : next(query.end_date),
    };
  };

  fastify.get('/spend/logs', async (request): Promise<SpendLog[] | SpendDay[]> => {
    requireMasterKey(request, isMasterKey);
    const query = parseOrThrow(SpendQuery, request.query);
    const filter = await filterOf(query);
    if (query.start_date !== undefined && query.end_date !== undefined && query.summarize === 'true')
      return available(spendByDay(pool, filter));
    return available(spendLogs(pool, filter, query.limit));
  });

  fastify.get('/global/spend', async (request): Promise<{ spend: number; max_budget: number }> => {
    requireMasterKey(request, isMasterKey);
    return {
      spend: await available(totalSpend(pool, await filterOf(parseOrThrow(SpendQuery, request.query)))),
      max_budget: 0,
    };
  });

  for (const [path, by] of [
    ['models', 'model'],
    ['keys', 'api_key'],
    ['teams', 'team_id'],
    ['users', 'user'],
  ] as const) {
    fastify.get(`/global/spend/${path}`, async (request): Promise<Array<Record<string, string | number | null>>> => {
      requireMasterKey(request, isMasterKey);
      const query = parseOrThrow(SpendQuery, request.query);
      const rows = await available(spendBy(pool, by, await filterOf(query), query.limit));
      return rows.map(({ name, total_spend }) => ({ [by]: name, total_spend }));
    });
  }
}
