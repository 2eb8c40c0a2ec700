import { SuggestedTasks } from '../repositories/suggested-tasks.js';
import type { Operation } from './operation.js';

/** What waits for the caller at git hosts. */
export const suggestedTaskOperations = {
  listSuggestedTasks: {
    id: 'suggested-tasks.list',
    method: 'GET',
    path: '/api/v1/orgs/{org}/suggested-tasks',
    summary: 'Tasks from the repositories that the caller may write to at the provider; answers are up to a minute old',
    permission: 'conversation:create',
    status: 200,
    response: SuggestedTasks,
    idempotency: 'idempotent',
    errors: [],
  },
} as const satisfies Record<string, Operation>;
