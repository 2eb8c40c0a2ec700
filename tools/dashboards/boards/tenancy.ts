import { type Board, lines, number, row } from '../model.ts';
import { gauge, orZero, rate, total } from '../query.ts';

const foreign = { where: { code: 'resource.not-found' } };

export const tenancy: Board = {
  name: 'tenancy',
  title: 'Tenancy',
  rows: [
    row(
      'In the time shown',
      number('Statements refused by Postgres', 'number', total('db_denied_total'), {
        note: 'A row of another organization, or a right that the role has not. Anything but 0 is a fault of ours, which the database has caught.',
        thresholds: { critical: 1 },
      }),
      number('Requests for a foreign organization', 'number', total('access_refused_total', foreign), {
        note: 'Answered 404.',
        thresholds: { warning: 100, critical: 1000 },
      }),
      number(
        'Requests without a permission',
        'number',
        total('access_refused_total', { where: { code: 'permission.denied' } }),
      ),
      number(
        'Requests without a session or key',
        'number',
        total('access_refused_total', { where: { code: 'auth.missing' } }),
      ),
    ),
    row(
      'Refused',
      lines('Statements refused by Postgres', 'operations', rate('db_denied_total', { by: ['job'] }), {
        thresholds: { critical: 0.001 },
      }),
      lines('Requests refused before their operation', 'requests', rate('access_refused_total', { by: ['code'] })),
      lines('Requests over a rate limit', 'requests', orZero(rate('http_rate_limited_total'))),
      lines('Streams and sockets over a limit', 'operations', orZero(rate('streams_refused_total'))),
    ),
    row(
      'Shares of one',
      lines('Most streams of a user, an organization', 'number', gauge('max', 'streams_fullest', { by: ['of'] })),
      lines(
        'Most sandbox requests of a user, an organization',
        'number',
        gauge('max', 'sandbox_gateway_seats_fullest', { by: ['of'] }),
      ),
      lines('Organizations near and at their storage limit', 'number', {
        near: gauge('max', 'storage_near_limit_organizations'),
        full: gauge('max', 'storage_full_organizations'),
      }),
      lines(
        'Unknown keys of agents',
        'requests',
        orZero(rate('llm_key_lookups_total', { where: { result: 'unknown' } })),
        {
          thresholds: { critical: 1 },
        },
      ),
    ),
  ],
};
