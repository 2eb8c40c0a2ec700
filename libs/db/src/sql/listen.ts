import { PostgresSession, type SessionConnection } from './postgres-session.js';

export interface ListenOptions {
  readonly url: string;
  readonly applicationName: string;
  /** A name of SQL, not escaped. */
  readonly channel: string;
  readonly heard: (payload: string) => void;
  /**
   * Called each time that it listens, the first one and after every outage. What was notified meanwhile is lost:
   * listeners must read the whole state now.
   */
  readonly opened: (connection: SessionConnection) => void;
  /** Called once for each outage, not for each attempt in it. */
  readonly lost: (error: Error) => void;
}

/**
 * Hears a channel of Postgres for as long as the session is open. An outage is noticed as in `PostgresSession`, within
 * 6 s also where nothing says so.
 */
export function listen({ url, applicationName, channel, heard, opened, lost }: ListenOptions): PostgresSession {
  return new PostgresSession({
    url,
    applicationName,
    prepare: async (connection, client) => {
      client.on('notification', ({ payload = '' }) => {
        // What a connection still delivers that was given up already: its outage is known, and made good by `opened`.
        if (!connection.lost.aborted) heard(payload);
      });
      await connection.query({ text: `LISTEN ${channel}` });
    },
    onOpen: opened,
    onLost: lost,
  });
}
