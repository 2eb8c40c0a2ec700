import { SOCKET_MAX_BYTES, SOCKET_MAX_FRAMES } from '@slipway/contracts/events';
import { takenBytes, type WritingSocket } from '@slipway/net';
import type { Socket } from 'socket.io';
import { FRAME_LENGTH } from '../events/log-line.js';

/** Below these a socket counts as keeping up: it may go live and gets deltas. */
const LOW_FRAMES = SOCKET_MAX_FRAMES / 8;
const LOW_BYTES = SOCKET_MAX_BYTES / 8;

export interface Backlog {
  readonly frames: number;
  readonly bytes: number;
}

/** The parts of engine.io's socket, and of the WebSocket under it, that show what has not been sent. */
interface Connection {
  readonly writeBuffer?: ReadonlyArray<{ readonly data?: string | Buffer }>;
  readonly transport?: {
    readonly socket?: { readonly bufferedAmount?: number; readonly _socket?: WritingSocket | null; terminate?(): void };
  };
}

/**
 * What waits for a socket in this process: frames that engine.io holds, and bytes that the kernel has not taken yet.
 */
export function backlogOf(socket: Socket): Backlog {
  const connection = socket.conn as unknown as Connection;
  const waiting = connection.writeBuffer ?? [];
  let bytes = connection.transport?.socket?.bufferedAmount ?? 0;
  for (const { data } of waiting) bytes += data?.length ?? 0;
  return { frames: waiting.length, bytes };
}

/** Bytes that the kernel has taken since the connection stands; `null` while it is polling. */
export function takenOf(socket: Socket): number | null {
  const wire = (socket.conn as unknown as Connection).transport?.socket?._socket;
  return wire === undefined || wire === null ? null : takenBytes(wire);
}

/**
 * What ends the connection without a word, with whatever waits for it in this process; also when engine.io has turned
 * away from it already. Harmless at its end.
 */
export function cutterOf(socket: Socket): () => void {
  const wire = (socket.conn as unknown as Connection).transport?.socket;
  return () => {
    if (wire?.terminate === undefined) socket.conn.close(true);
    else wire.terminate();
  };
}

/** One more frame could be more than may wait. */
export function tooMuch({ frames, bytes }: Backlog): boolean {
  return frames >= SOCKET_MAX_FRAMES || bytes > SOCKET_MAX_BYTES - FRAME_LENGTH;
}

export function keepsUp({ frames, bytes }: Backlog): boolean {
  return frames <= LOW_FRAMES && bytes <= LOW_BYTES;
}
