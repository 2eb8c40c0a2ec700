import {
  ConversationRecap,
  ConversationTurns,
  EventHits,
  EventSearchQuery,
  RecapQuery,
  TurnsQuery,
} from '../conversations/lookup.js';
import type { Operation } from './operation.js';

export const lookupOperations = {
  listTurns: {
    id: 'conversations.turns.list',
    method: 'GET',
    path: '/api/v1/orgs/{org}/conversations/{conversation}/turns',
    summary: 'The turns of a conversation: what each message of a user brought',
    permission: 'conversation:read',
    status: 200,
    query: TurnsQuery,
    response: ConversationTurns,
    idempotency: 'idempotent',
    errors: [],
  },
  getRecap: {
    id: 'conversations.recap.get',
    method: 'GET',
    path: '/api/v1/orgs/{org}/conversations/{conversation}/recap',
    summary: 'What happened in a conversation after a position of its log, as counts',
    permission: 'conversation:read',
    status: 200,
    query: RecapQuery,
    response: ConversationRecap,
    idempotency: 'idempotent',
    errors: [],
  },
  searchEvents: {
    id: 'conversations.events.search',
    method: 'GET',
    path: '/api/v1/orgs/{org}/conversations/{conversation}/events/search',
    summary: 'Where a text stands in the log, newest first',
    permission: 'conversation:read',
    status: 200,
    query: EventSearchQuery,
    response: EventHits,
    idempotency: 'idempotent',
    errors: [],
  },
} as const satisfies Record<string, Operation>;
