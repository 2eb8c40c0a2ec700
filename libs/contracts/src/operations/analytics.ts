import { RecordPageEvent, WaitingEvents } from '../operate/analytics-events.js';
import type { Operation } from './operation.js';

/** What the page reports, and what is about to be sent. */
export const analyticsOperations = {
  recordPageEvent: {
    id: 'analytics.events.create',
    method: 'POST',
    path: '/api/v1/analytics/events',
    summary:
      'Report one event of the page. 204 whatever becomes of it: it is kept only where the installation, the organization and the user allow analytics',
    permission: null,
    status: 204,
    body: RecordPageEvent,
    idempotency: 'idempotent',
    errors: ['request.not-json', 'request.too-large', 'request.cross-site'],
  },
  listWaitingEvents: {
    id: 'analytics.waiting.list',
    method: 'GET',
    path: '/api/v1/orgs/{org}/analytics/waiting',
    summary: 'Analytics events of the organization that wait to be sent, as they will be',
    permission: 'setting:write',
    status: 200,
    response: WaitingEvents,
    idempotency: 'idempotent',
    errors: [],
  },
} as const satisfies Record<string, Operation>;
