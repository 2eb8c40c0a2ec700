import { listen, type PostgresSession, type SqlPool, sessionOf } from '@slipway/db/sql';
import type { Logger } from '@slipway/telemetry';

/**
 * Calls `changed` within milliseconds of any change of a grant, and for what changed while nobody listened each time that it listens again.
 * Only makes faster what the looks of `GrantWatch` find out anyway: it may be away, and nothing is wrong.
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
