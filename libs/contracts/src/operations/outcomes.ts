import {
  ConversationOutcomes,
  ConversationOutcomesQuery,
  Outcomes,
  OutcomesQuery,
  UserOutcomes,
} from '../spending/outcomes.js';
import type { Operation } from './operation.js';

const OUTCOMES = '/api/v1/orgs/{org}/outcomes';
const TABLE = {
  permission: 'usage:read',
  status: 200,
  alternative: 'text/csv',
  idempotency: 'idempotent',
  errors: [],
} as const;

/** What an organization's work came to. */
export const outcomeOperations = {
  getOutcomes: {
    id: 'outcomes.get',
    method: 'GET',
    path: OUTCOMES,
    summary:
      'Cost per merged pull request, shares merged, reverted and edited, and waits, by repository, user, model, source and day; with Accept: text/csv as a table',
    query: OutcomesQuery,
    response: Outcomes,
    ...TABLE,
  },
  getUserOutcomes: {
    id: 'outcomes.users',
    method: 'GET',
    path: `${OUTCOMES}/users`,
    summary:
      'What each user began, spent in this month, this year and ever, and had merged; with Accept: text/csv as a table',
    response: UserOutcomes,
    ...TABLE,
  },
  getConversationOutcomes: {
    id: 'outcomes.conversations',
    method: 'GET',
    path: `${OUTCOMES}/conversations`,
    summary:
      'Tokens, cost, duration and pull requests of each conversation of a span; with Accept: text/csv as a table',
    query: ConversationOutcomesQuery,
    response: ConversationOutcomes,
    ...TABLE,
  },
} as const satisfies Record<string, Operation>;
