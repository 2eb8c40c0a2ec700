import type { ServerResponse } from 'node:http';
import type { ConversationHub } from './conversation-hub.js';
import type { LogLine } from './log-line.js';
import { LogReader } from './log-reader.js';

/** A comment goes out this often, so that proxies keep the stream open. Milliseconds. */
const HEARTBEAT_MS = 15_000;
/** With this much unsent a stream reads from the log at its own speed. Bytes. */
const MAX_UNSENT_BYTES = 1024 * 1024;
/** A stream that takes nothing for this long is closed; the client comes back with `Last-Event-ID`. Milliseconds. */
const STALLED_MS = 30_000;

/**
 * Writes a log as server-sent events from `after`, then live, until the client goes or `signal` ends it. `id:` is the
 * `seq`.
 *
 * @throws when the log cannot be read; what was written so far is a prefix of the log.
 */
export async function streamEvents(
  response: ServerResponse,
  hub: ConversationHub,
  after: number,
  signal: AbortSignal,
): Promise<void> {
  const reader = await LogReader.at(hub, after);
  const heartbeat = setInterval(() => {
    if (response.writableLength === 0) response.write(':\n\n');
  }, HEARTBEAT_MS);
  const closed = new Promise<void>((resolve) => {
    response.once('close', resolve);
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
  const gone = (): boolean => response.destroyed || response.closed || signal.aborted || hub.isGone;
  response.write('retry: 1000\n\n');
  try {
    while (!gone()) {
      if (!reader.atHead) {
        const lines = await reader.next();
        if (gone()) return;
        if (!write(response, lines) && !(await drained(response, closed))) return;
        continue;
      }
      // Live, begun in the tick in which the head was reached, until too much is unsent.
      await new Promise<void>((resolve) => {
        const stop = hub.listen({
          lines: (lines) => {
            reader.cursor = (lines.at(-1) as LogLine).seq;
            write(response, lines);
            if (response.writableLength > MAX_UNSENT_BYTES) leave();
          },
          gone: () => leave(),
        });
        const leave = (): void => {
          stop();
          resolve();
        };
        void closed.then(leave);
      });
      if (!gone() && !(await drained(response, closed))) return;
    }
  } finally {
    clearInterval(heartbeat);
    response.end();
  }
}

function write(response: ServerResponse, lines: readonly LogLine[]): boolean {
  return response.write(lines.map(({ seq, json }) => `id: ${seq}\ndata: ${json}\n\n`).join(''));
}

/** False when the client is gone, or has taken nothing for too long. */
async function drained(response: ServerResponse, closed: Promise<void>): Promise<boolean> {
  if (!response.writableNeedDrain) return true;
  let timer: NodeJS.Timeout | undefined;
  const result = await Promise.race([
    new Promise<boolean>((resolve) => response.once('drain', () => resolve(true))),
    closed.then(() => false),
    new Promise<boolean>((resolve) => {
      timer = setTimeout(() => resolve(false), STALLED_MS);
    }),
  ]);
  clearTimeout(timer);
  return result;
}
