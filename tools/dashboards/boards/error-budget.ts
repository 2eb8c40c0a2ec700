import { BURN_RATES, type Objective } from '../alert.ts';
import { type Board, lines, number, row } from '../model.ts';
import { OBJECTIVES } from '../objectives.ts';
import { constant, minus, over, type Query } from '../query.ts';

/** Share of bad ones over the share that may be: 1 uses the budget up in exactly thirty days. */
const burn = ({ bad, total, target }: Objective, window: Parameters<Objective['total']>[0]): Query =>
  over(over(bad(window), total(window)), Number((1 - target).toFixed(6)));

/** Datadog shows the objectives themselves, with their budgets. */
export const errorBudget: Board = {
  name: 'error-budget',
  title: 'Error budget',
  objectives: OBJECTIVES.map(({ name }) => name),
  rows: [
    row(
      'Budget left, of thirty days',
      ...OBJECTIVES.map((objective) =>
        number(objective.short, 'share', minus(constant(1), burn(objective, '30d')), { grafanaOnly: true }),
      ),
    ),
    row(
      'How fast it burns',
      ...OBJECTIVES.map((objective) =>
        lines(
          objective.title,
          'number',
          Object.fromEntries(
            BURN_RATES.flatMap(({ short, long }) =>
              [short, long].map((window) => [`over ${window}`, burn(objective, window)]),
            ),
          ),
          {
            note: `Target ${objective.target * 100} %. Times too fast: 14.4 over 5m and 1h rings, and so does 6 over 30m and 6h.`,
            thresholds: { warning: 6, critical: 14.4 },
            grafanaOnly: true,
          },
        ),
      ),
    ),
  ],
};
