import { listen, type PostgresSession, type SqlPool, sessionOf } from '@slipway/db/sql';

export interface QueueEvents {
  /** Somebody waits for the pool. */
  readonly wanted: (poolId: string) => void;
  /** Somebody who waited for the pool was bound. */
  readonly served: (poolId: string) => void;
  /** It is heard from now on: what was said before is not said again. */
  readonly opened: () => void;
}

/** Hears, over one connection, what other replicas do with the queues. A hint: while the connection is away nothing is heard, and nobody relies on it. */
export function listenToQueues(db: SqlPool, events: QueueEvents, lost: (error: Error) => void): PostgresSession {
  return listen({
    ...sessionOf(db, 'queues'),
    channel: 'slipway_runtime',
    heard: (payload) => {
      const [what, poolId = ''] = payload.split(' ', 2);
      if (what === 'wanted' || what === 'served') events[what](poolId);
    },
    opened: events.opened,
    lost,
  });
}
