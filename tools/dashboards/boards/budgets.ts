import { type Board, lines, number, row } from '../model.ts';
import { gauge, rate, times, total } from '../query.ts';

export const budgets: Board = {
  name: 'budgets',
  title: 'Budgets',
  rows: [
    row(
      'Now',
      number(
        'Organizations at 80 % of their budget',
        'number',
        gauge('max', 'budget_organizations', { where: { share: '80' } }),
        {
          thresholds: { warning: 1, critical: 10 },
        },
      ),
      number('Organizations out of budget', 'number', gauge('max', 'budget_stopped', { where: { of: 'org' } }), {
        thresholds: { critical: 1 },
      }),
      number('Users out of budget', 'number', gauge('max', 'budget_stopped', { where: { of: 'user' } })),
      number('Calls ended by a budget', 'number', total('budget_stops_total')),
    ),
    row(
      'Budgets',
      lines(
        'Organizations by share of budget spent',
        'number',
        gauge('max', 'budget_organizations', { by: ['share'] }),
        {
          note: 'Percent of the budget of this cycle. Which organizations they are is in the operator area: no series names one.',
        },
      ),
      lines('Spent budgets', 'number', gauge('max', 'budget_stopped', { by: ['of'] })),
      lines('Calls ended by a budget', 'operations', rate('budget_stops_total', { by: ['kind'] }), {
        note: 'limit: the conversation’s own; budget: of its organization, user or key; answer: in the middle of one.',
      }),
      lines('Money per hour', 'usd', times(rate('llm_cost_usd_total'), 3600)),
    ),
    row(
      'The book',
      lines('Calls not yet in the ledger', 'number', gauge('sum', 'llm_ledger_pending', { by: ['instance'] })),
      lines('Calls under way', 'number', gauge('sum', 'llm_calls_open', { by: ['instance'] })),
      lines(
        'Time since the ledger was last counted',
        'seconds',
        gauge('max', 'sweep_age_seconds', { where: { sweep: 'usage' } }),
        {
          thresholds: { critical: 180 },
        },
      ),
    ),
  ],
};
