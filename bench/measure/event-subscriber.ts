import { randomBytes } from 'node:crypto';
import net from 'node:net';

export interface EventSubscriber {
  /** Text frames so far, the first (full state) included. */
  frames: number;
  close(): void;
}

/**
 * A subscriber of `/sockets/events/{id}` that costs as little as can be: it counts frames and reads nothing but their
 * lengths, so that what is measured is the server.
 *
 * @param onFrame is called for each frame with the time at which its bytes arrived (performance.now()).
 */
export function subscribe(
  url: string,
  id: string,
  sessionKey: string,
  query: string,
  onFrame: (at: number) => void,
): Promise<EventSubscriber> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const socket = net.connect(Number(port), hostname);
    socket.setNoDelay(true);
    socket.once('error', reject);
    const subscriber: EventSubscriber = { frames: 0, close: () => void socket.destroy() };
    let pending: Buffer = Buffer.alloc(0);
    let open = false;
    socket.once('connect', () => {
      socket.write(
        `GET /sockets/events/${id}${query} HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: ${randomBytes(16).toString('base64')}\r\nx-session-api-key: ${sessionKey}\r\n\r\n`,
      );
    });
    socket.on('data', (chunk: Buffer) => {
      const at = performance.now();
      pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
      if (!open) {
        const end = pending.indexOf('\r\n\r\n');
        if (end === -1) return;
        if (!pending.subarray(0, 12).toString().endsWith('101'))
          return reject(new Error(pending.toString('utf8', 0, end)));
        open = true;
        pending = pending.subarray(end + 4);
      }
      for (;;) {
        const length = frameLength(pending);
        if (length === null || pending.length < length) break;
        const text = ((pending[0] ?? 0) & 0x0f) === 1;
        pending = pending.subarray(length);
        if (!text) continue;
        subscriber.frames += 1;
        if (subscriber.frames === 1) resolve(subscriber);
        else onFrame(at);
      }
    });
  });
}

function frameLength(buffer: Buffer): number | null {
  if (buffer.length < 2) return null;
  const short = (buffer[1] ?? 0) & 0x7f;
  if (short < 126) return 2 + short;
  if (short === 126) return buffer.length < 4 ? null : 4 + buffer.readUInt16BE(2);
  return buffer.length < 10 ? null : 10 + Number(buffer.readBigUInt64BE(2));
}
