import { type Board, lines, number, row } from '../model.ts';
import { over, quantile, rate, total } from '../query.ts';

const finished = { where: { result: 'finished' } };

export const success: Board = {
  name: 'success',
  title: 'Success of conversations',
  objectives: ['first-event', 'events-on-screen'],
  rows: [
    row(
      'In the time shown',
      number(
        'Finished runs',
        'share',
        over(total('conversations_ended_total', finished), total('conversations_ended_total')),
        {
          note: 'Of all that ended: finished, failed, stuck, stopped by a user, or never started.',
        },
      ),
      number('Ended', 'number', total('conversations_ended_total')),
      number(
        'Cost of a finished run',
        'usd',
        over(total('conversation_cost_usd_sum', finished), total('conversation_cost_usd_count', finished)),
        {
          note: 'What the conversation has cost up to that end.',
        },
      ),
      number('Spent', 'usd', total('llm_cost_usd_total')),
    ),
    row(
      'How they end',
      lines('Ends of runs, by result', 'operations', rate('conversations_ended_total', { by: ['result'] })),
      lines(
        'Ends of runs, by trigger of the conversation',
        'operations',
        rate('conversations_ended_total', { by: ['trigger'] }),
      ),
      lines(
        'Share that finished',
        'share',
        over(
          rate('conversations_ended_total', { where: { result: 'finished' }, by: ['trigger'] }),
          rate('conversations_ended_total', { by: ['trigger'] }),
        ),
      ),
      lines('Cost up to the end of a run', 'usd', {
        p50: quantile(0.5, 'conversation_cost_usd', { by: ['result'] }),
        p95: quantile(0.95, 'conversation_cost_usd', { by: ['result'] }),
      }),
    ),
    row(
      'On the screen',
      lines(
        'Events: from their commit to sockets and streams',
        'seconds',
        { p50: quantile(0.5, 'event_delivery_seconds'), p99: quantile(0.99, 'event_delivery_seconds') },
        {
          thresholds: { critical: 1 },
        },
      ),
      lines('Deliveries of events', 'operations', rate('event_delivery_seconds_count', { by: ['instance'] })),
    ),
  ],
};
