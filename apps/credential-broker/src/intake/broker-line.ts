import type { Socket } from 'node:net';
import type { InternalSignature } from '@slipway/auth/internal-signature';
import { BrokerLine, MAX_BROKER_LINE_BYTES } from '@slipway/contracts/credentials';
import { canonicalHost } from '@slipway/net';

/** Longest wait for the first line. Milliseconds. */
const LINE_MS = 10_000;
const LINE_FEED = 10;

/**
 * Reads the first line of a connection and leaves what comes after it in the socket, which is paused.
 * @returns `null` for a line that is too long, late, not signed or replayed, and for a host that is no name.
 */
export async function readBrokerLine(
  socket: Socket,
  signature: InternalSignature,
  now: () => Date,
): Promise<BrokerLine | null> {
  const line = await firstLine(socket);
  const at = line?.indexOf(' ') ?? -1;
  if (line === null || at < 0) return null;
  const body = line.slice(at + 1);
  if (!signature.accepts(line.slice(0, at), { method: 'CONNECT', path: '/', body }, now())) return null;
  try {
    const read = BrokerLine.parse(JSON.parse(body));
    return canonicalHost(read.host) === read.host ? read : null;
  } catch {
    return null;
  }
}

function firstLine(socket: Socket): Promise<string | null> {
  return new Promise((resolve) => {
    let held = Buffer.alloc(0);
    const late = setTimeout(() => done(null), LINE_MS);
    const done = (line: string | null): void => {
      clearTimeout(late);
      socket.off('data', take).off('end', ended).off('close', ended);
      socket.pause();
      resolve(line);
    };
    const ended = (): void => done(null);
    const take = (chunk: Buffer): void => {
      const end = chunk.indexOf(LINE_FEED);
      const part = end < 0 ? chunk : chunk.subarray(0, end);
      if (held.length + part.length > MAX_BROKER_LINE_BYTES) return void done(null);
      held = Buffer.concat([held, part]);
      if (end < 0) return;
      done(held.toString());
      if (end + 1 < chunk.length) socket.unshift(chunk.subarray(end + 1));
    };
    socket.on('data', take).once('end', ended).once('close', ended);
  });
}
