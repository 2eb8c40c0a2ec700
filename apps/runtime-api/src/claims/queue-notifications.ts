import { listen, type PostgresSession, type SqlPool, sessionOf } from '@slipway/db/sql';

export interface QueueEvents {
  /** A claim waits for the pool. */
  readonly wanted: (poolId: string) => void;
  /** A waiting claim of the pool was bound. */
  readonly served: (poolId: string) => void;
  /** It is heard from now on: what was said before is not said again. */
  readonly opened: () => void;
}

/**
 * Receives, over one connection, the queue changes of other replicas. A hint: while the connection is away they are
 * lost, and nothing relies on them.
 */
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
