/**
 * One WebSocket of a live channel, `/live/<channel>`. It comes from agent-server, which has authenticated the user and
 * masks what goes out.
 */
export interface LiveConnection {
  /** One JSON message. Nothing is sent any more once the connection is over. */
  send(message: object): void;
  sendBytes(bytes: Uint8Array): void;
  /**
   * What waits to be taken by the other side. Bytes. A channel sends no more while this is over its own bound; past
   * `MAX_WAITING` (live-socket.ts) the connection is closed with 1013.
   */
  readonly buffered: number;
  /** Called each time that all of what waited has been taken. */
  onDrain(listener: () => void): void;
  /**
   * One parsed JSON message, not validated. What comes before the first listener is kept for it. A listener that throws
   * closes the connection with 1008 and its words.
   */
  onMessage(listener: (message: unknown) => void): void;
  onBytes(listener: (bytes: Buffer) => void): void;
  /** Aborts when the connection is over, whoever ended it. */
  readonly signal: AbortSignal;
  /** @param code 1000, 1001, 1008, 1011, 1013 or 4000 to 4999. */
  close(code: number, reason: string): void;
}

/** What serves the connections of one channel; `query` is the address'. Throwing closes the connection with 1011. */
export type LiveChannel = (connection: LiveConnection, query: URLSearchParams) => void;

/** Channels by name. */
export type LiveChannels = Readonly<Record<string, LiveChannel>>;
