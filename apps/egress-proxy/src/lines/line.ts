import { connect, isIP, type Socket } from 'node:net';
import type { EgressClaims } from '@slipway/contracts/sandboxes';
import type { Destination } from '../admission/destination.js';
import { unreachable } from '../admission/refusal.js';

/** A connection to a host, made for one sandbox. */
export interface Line {
  readonly kind: 'connect' | 'http';
  readonly claims: EgressClaims;
  readonly destination: Destination;
  readonly socket: Socket;
  /** By `performance.now()`. */
  readonly since: number;
  /** Why it was ended from here, if it was. */
  cut: 'bytes' | 'age' | 'stopping' | 'server-name' | 'not-tls' | null;
}

/** Longest wait for a host to take a connection. Milliseconds. */
const CONNECT_MS = 10_000;

/**
 * A connection to one of these addresses, of both families in turn; the name is not resolved again. @throws
 * SlipwayError `egress.unreachable`, also at `signal`.
 */
export function connectTo(
  { host, port }: Destination,
  addresses: readonly string[],
  signal: AbortSignal,
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({
      host,
      port,
      autoSelectFamily: true,
      allowHalfOpen: true,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: 15_000,
      lookup: (_host, _options, answer) =>
        answer(
          null,
          addresses.map((address) => ({ address, family: isIP(address) })),
        ),
    });
    const late = setTimeout(() => socket.destroy(new Error(`no answer within ${CONNECT_MS / 1000} s`)), CONNECT_MS);
    const gone = (): void => void socket.destroy(new Error('the caller went away'));
    signal.addEventListener('abort', gone, { once: true });
    const settled = (): void => {
      clearTimeout(late);
      signal.removeEventListener('abort', gone);
    };
    socket.once('connect', () => {
      settled();
      socket.off('error', failed);
      resolve(socket);
    });
    const failed = (error: NodeJS.ErrnoException): void => {
      settled();
      reject(
        unreachable(
          'unreachable',
          `${host} does not take connections on port ${port}: ${error.code ?? error.message}.`,
          error,
        ),
      );
    };
    socket.once('error', failed);
    if (signal.aborted) gone();
  });
}
