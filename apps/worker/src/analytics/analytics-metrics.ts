import { countWaiting } from '@slipway/analytics';
import type { SendResult } from '@slipway/analytics/posthog';
import type { SqlPool } from '@slipway/db/sql';
import { Counter, Gauge, type Registry } from '@slipway/telemetry/http';
import { system } from '../conversations/conversation.queries.js';

/** There with every worker, whether or not it sends. */
export class AnalyticsMetrics {
  private readonly sent: Counter;

  /** @param registry absent: they are counted without export. */
  constructor(pool: SqlPool, registry: Registry | undefined) {
    const registers = registry === undefined ? [] : [registry];
    this.sent = new Counter({
      name: 'analytics_sent_total',
      help: 'Analytics events sent to the receiver, by its answer; those not accepted are sent again',
      labelNames: ['result'],
      registers,
    });
    for (const result of ['sent', 'unauthorized', 'limited', 'refused', 'failed']) this.sent.inc({ result }, 0);
    const backlog: Gauge = new Gauge({
      name: 'analytics_backlog',
      help: 'Pending analytics events, the same in every worker',
      registers,
      collect: async () => {
        const count = await system(pool, 'waiting analytics events', countWaiting).catch(() => null);
        // Reset, it would say 0.
        if (count === null) backlog.remove();
        else backlog.set(count);
      },
    });
  }

  count(result: SendResult, events: number): void {
    this.sent.inc({ result: result.kind === 'sent' ? 'sent' : labelOf(result.reason) }, events);
  }
}

function labelOf(reason: string): string {
  if (reason === '401' || reason === '403') return 'unauthorized';
  if (reason === '402' || reason === '429') return 'limited';
  return /^4\d\d$/.test(reason) ? 'refused' : 'failed';
}
