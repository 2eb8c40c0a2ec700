import { connect, isIP, type Socket } from 'node:net';

/** Longest wait for a host to take a connection. Milliseconds. */
export const CONNECT_MS = 10_000;

/**
 * A TCP connection to one of these addresses, of both families in turn. The name is not resolved again: what was
 * checked is what is connected to.
 * @throws Error of the socket; one that says how long was waited; one at `signal`.
 */
export function connectTo(
  { host, port }: { readonly host: string; readonly port: number },
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
    const failed = (error: Error): void => {
      settled();
      reject(error);
    };
    socket.once('error', failed);
    if (signal.aborted) gone();
  });
}
