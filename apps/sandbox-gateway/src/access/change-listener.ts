import { listen, type PostgresSession, type SqlPool, sessionOf } from '@slipway/db/sql';
import type { Logger } from '@slipway/telemetry';

/**
 * Calls `changed` within milliseconds of any change of a grant, and each time that it listens again, for missed
 * changes. Only speeds up the polls of `GrantWatch`: it may be away without harm.
 */
export function listenForChanges(pool: SqlPool, changed: () => void, logger: Logger): PostgresSession {
  return listen({
    ...sessionOf(pool, 'changes'),
    channel: 'slipway_sandbox_access',
    heard: changed,
    opened: changed,
    lost: (error) => logger.warn({ err: error }, 'change listener connection lost, reconnecting'),
  });
}
