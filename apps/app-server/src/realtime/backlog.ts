import { SOCKET_MAX_BYTES, SOCKET_MAX_FRAMES } from '@slipway/contracts';
import type { Socket } from 'socket.io';

/** Below these a socket counts as keeping up: it may go live and gets deltas. */
const LOW_FRAMES = SOCKET_MAX_FRAMES / 8;
const LOW_BYTES = SOCKET_MAX_BYTES / 8;

export interface Backlog {
  readonly frames: number;
  readonly bytes: number;
}

/** The parts of engine.io's socket that tell what has not been sent. */
interface Connection {
  readonly writeBuffer?: ReadonlyArray<{ readonly data?: string | Buffer }>;
  readonly transport?: { readonly socket?: { readonly bufferedAmount?: number } };
}

/** What waits for a socket in this process: frames that engine.io holds, and bytes that the kernel has not taken yet. */
export function backlogOf(socket: Socket): Backlog {
  const connection = socket.conn as unknown as Connection;
  const waiting = connection.writeBuffer ?? [];
  let bytes = connection.transport?.socket?.bufferedAmount ?? 0;
  for (const { data } of waiting) bytes += data?.length ?? 0;
  return { frames: waiting.length, bytes };
}

export function tooMuch({ frames, bytes }: Backlog): boolean {
  return frames > SOCKET_MAX_FRAMES || bytes > SOCKET_MAX_BYTES;
}

export function keepsUp({ frames, bytes }: Backlog): boolean {
  return frames <= LOW_FRAMES && bytes <= LOW_BYTES;
}
