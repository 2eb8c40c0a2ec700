import { type Board, lines, number, row } from '../model.ts';
import { gauge, quantile, rate, times, total } from '../query.ts';

const byModel = { by: ['model'] };
const percentiles = (metric: string) => ({ p50: quantile(0.5, metric, byModel), p95: quantile(0.95, metric, byModel) });

export const models: Board = {
  name: 'models',
  title: 'Gateway and models',
  rows: [
    row(
      'Now',
      number('Spent in the selected time', 'usd', total('llm_cost_usd_total'), {
        note: 'Where the price is known. The ledger in Postgres (schema gateway) is the book; this is a meter.',
      }),
      number('Spent per hour now', 'usd', times(rate('llm_cost_usd_total', { window: '15m' }), 3600)),
      number('Calls', 'requests', rate('llm_calls_total')),
      number('Not yet in the ledger', 'number', gauge('sum', 'llm_ledger_pending')),
    ),
    row(
      'Calls',
      lines('Calls by outcome', 'requests', rate('llm_calls_total', { by: ['model', 'outcome'] })),
      lines('Refused before a model', 'requests', rate('llm_requests_refused_total', { by: ['code'] })),
      lines('Time to first byte', 'seconds', percentiles('llm_call_first_byte_seconds'), {
        thresholds: { critical: 60 },
      }),
      lines('Time to the end', 'seconds', percentiles('llm_call_duration_seconds')),
      lines('Tokens per second of an answer', 'number', percentiles('llm_call_tokens_per_second')),
      lines('Attempts by deployment', 'requests', rate('llm_attempts_total', { by: ['deployment', 'outcome'] }), {
        note: 'More attempts than calls: another deployment was asked after one failed.',
      }),
    ),
    row(
      'Money and tokens',
      lines('Money per hour', 'usd', times(rate('llm_cost_usd_total', byModel), 3600)),
      lines('Tokens', 'number', rate('llm_tokens_total', { by: ['model', 'kind'] }), {
        note: 'cached is a part of prompt.',
      }),
      lines('Not yet in the ledger', 'number', gauge('sum', 'llm_ledger_pending', { by: ['instance'] })),
      lines('Key lookups', 'requests', rate('llm_key_lookups_total', { by: ['result'] })),
    ),
  ],
};
