import { PromptLogQuery } from '../models/prompt-log.js';
import type { Operation } from './operation.js';

/** Whether prompts are kept is a setting of the organization (`promptLogDays`), and its owners'. */
export const promptLogOperations = {
  exportPrompts: {
    id: 'prompt-log.export',
    method: 'GET',
    path: '/api/v1/orgs/{org}/prompt-log/export',
    summary:
      'Prompts and answers that the organization keeps, as lines of JSON, oldest first, secrets masked; the export is itself recorded',
    permission: 'prompt-log:read',
    status: 200,
    query: PromptLogQuery,
    produces: 'application/x-ndjson',
    idempotency: 'idempotent',
    errors: [],
  },
} as const satisfies Record<string, Operation>;
