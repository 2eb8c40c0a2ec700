import type { ErrorRow } from './error-row.js';

/** Failures of budgets and of storage. */
export const SPENDING_ERRORS = {
  'budget.exhausted': {
    status: 402,
    title: 'The budget is used up',
    retry: 'never',
    nextStep:
      'Wait until the next period, or ask an admin to raise the budget. The detail names the budget and when it renews.',
  },
  'budget.unpriced': {
    status: 402,
    title: 'The model has no price, and a budget in USD limits the call',
    retry: 'never',
    nextStep: 'Choose a model with a price, or ask an admin to allow models without one on the Budgets page.',
  },
  'storage.exhausted': {
    status: 402,
    title: 'The organization’s storage is full',
    retry: 'never',
    nextStep: 'Delete conversations that are no longer needed, or ask the operator of Slipway for a higher limit.',
  },
} as const satisfies Record<string, ErrorRow>;
