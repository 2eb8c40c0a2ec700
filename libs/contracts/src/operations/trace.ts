import { ConversationTrace, TraceQuery } from '../conversations/trace.js';
import type { Operation } from './operation.js';

export const traceOperations = {
  readTrace: {
    id: 'conversations.trace.get',
    method: 'GET',
    path: '/api/v1/orgs/{org}/conversations/{conversation}/trace',
    summary:
      'Where the time and the money of a conversation went: its log, starts and model calls as spans, turn by turn',
    permission: 'conversation:read',
    status: 200,
    query: TraceQuery,
    response: ConversationTrace,
    idempotency: 'idempotent',
    errors: [],
  },
} as const satisfies Record<string, Operation>;
