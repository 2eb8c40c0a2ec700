import type { WebSocket } from 'ws';
import type { BashEvents } from '../sandbox/bash-events.js';

/** With this much unsent a client is sent away; it reads on from `bash_events/search`. Bytes. */
const MAX_BUFFERED = 4 * 1024 * 1024;

/**
 * `/sockets/bash-events`: commands and their outputs as they happen; with `resend_mode=all`, or a time, those that are
 * still known first.
 */
export function followBash(socket: WebSocket, bash: BashEvents, query: URLSearchParams): void {
  const send = (event: object): void => {
    if (socket.readyState !== socket.OPEN) return;
    if (socket.bufferedAmount > MAX_BUFFERED) socket.close(1013, 'the client reads too slowly; connect again');
    else socket.send(JSON.stringify(event));
  };
  const mode = query.get('resend_mode') ?? (query.get('resend_all') === 'true' ? 'all' : null);
  const after = mode === 'since' ? (query.get('after_timestamp') ?? '') : '';
  if (mode === 'all' || mode === 'since') for (const event of bash.events) if (event.timestamp >= after) send(event);
  socket.once('close', bash.subscribe(send));
}
