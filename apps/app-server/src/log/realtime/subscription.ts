import type { Socket } from 'socket.io';
import type { SocketReader } from './socket-reader.js';

/** One socket's subscription to one conversation. */
export interface Subscription {
  /** `null` while the log is being opened. */
  reader: SocketReader | null;
  stopWatch: () => void;
  leaveSeat: () => void;
}

/** What this process keeps for a socket. */
export interface SocketState {
  /** By conversation; absent before the socket is connected and after its end. */
  subscriptions?: Map<string, Subscription>;
  /** What ends the showing of an organization, by its id; as long as `subscriptions`. */
  orgs?: Map<string, () => void>;
}

export function stateOf(socket: Socket): SocketState {
  return socket.data as SocketState;
}
