/**
 * How a live channel stands, with a reason in words that can be shown.
 * `away` comes back by itself; `refused` only when the user asks for it.
 */
export type LiveState =
  | { readonly phase: 'connecting' }
  | { readonly phase: 'open' }
  | { readonly phase: 'away'; readonly reason: string }
  | { readonly phase: 'refused'; readonly reason: string };

/** One way to a live channel of the sandbox, as `useLiveChannel` gives it. */
export interface LiveChannel {
  readonly state: LiveState;
  /** One JSON message. `false`: it was not sent, because the channel is not open or too much waits already. */
  send(message: object): boolean;
  sendBytes(bytes: Uint8Array<ArrayBuffer>): boolean;
  /** Connects at once instead of when it would by itself; the one way out of `refused`. */
  retry(): void;
}

export interface LiveListener {
  /** The connection stands, for the first time or again: what was here may be old, and is asked for again. */
  onOpen?(): void;
  /** One parsed JSON message, not validated: check it with the channel's schema. */
  onMessage?(message: unknown): void;
  onBytes?(bytes: Uint8Array<ArrayBuffer>): void;
}
