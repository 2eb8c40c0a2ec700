import type { IncomingMessage, ServerResponse } from 'node:http';
import { SlipwayError } from '@slipway/errors';
import { type Agent, type Dispatcher, errors } from 'undici';
import { PASSAGE_FROM } from './passage.js';
import type { ConnectionAware, SandboxConnection } from './sandbox-connection.js';

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/**
 * Sends one request on and its answer back. Bodies stream both ways, each no faster than its reader; nothing is
 * retried, since only the client knows what may be repeated. A sandbox that breaks off in the middle breaks the
 * client's connection, so that half an answer never passes for the whole.
 *
 * @param answer headers of the response, from those of the sandbox.
 * @throws SlipwayError `sandbox.unreachable` or `sandbox.timeout`; a client that goes away ends it without an error.
 */
export async function forward(
  agent: Agent,
  { request, response }: { readonly request: IncomingMessage; readonly response: ServerResponse },
  to: { readonly origin: string; readonly path: string; readonly headers: string[]; readonly signal: AbortSignal },
  answer: (status: number, headers: Headers) => string[],
): Promise<void> {
  const hasBody = request.headers['content-length'] !== undefined || request.headers['transfer-encoding'] !== undefined;
  const options: Dispatcher.DispatchOptions = {
    origin: to.origin,
    path: to.path,
    method: request.method as Dispatcher.HttpMethod,
    headers: to.headers,
    body: hasBody && request.headers['content-length'] !== '0' ? request : null,
  };
  if (to.signal.aborted) throw to.signal.reason;
  return new Promise((resolve, reject) => {
    const forwarding = new Forwarding(request.method === 'HEAD', response, answer, (error) => {
      if (error === null) return resolve();
      if (response.headersSent || response.destroyed) {
        response.destroy();
        return resolve();
      }
      // Ended by us, for a reason which the client knows, or the client is gone.
      reject(to.signal.aborted ? to.signal.reason : fromUndici(error));
    });
    to.signal.addEventListener('abort', () => forwarding.leave(new Error('the use has ended')), { once: true });
    agent.dispatch(options, forwarding);
  });
}

/** One request under way, as undici reports it. */
class Forwarding implements ConnectionAware {
  connection: SandboxConnection | null = null;
  private controller: Dispatcher.DispatchController | null = null;
  private left: Error | null = null;
  private settled = false;

  constructor(
    private readonly withoutBody: boolean,
    private readonly response: ServerResponse,
    private readonly answer: (status: number, headers: Headers) => string[],
    private readonly over: (error: Error | null) => void,
  ) {
    response.once('finish', () => this.settle(null));
    response.once('close', () => this.leave(new Error('the client has left')));
  }

  /** The client is gone. */
  leave(reason: Error): void {
    if (this.settled) return;
    this.left = reason;
    this.controller?.abort(reason);
    this.settle(reason);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    if (this.left !== null) controller.abort(this.left);
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: Headers): void {
    if (status < 200 || this.settled) return;
    const { response } = this;
    response.writeHead(status, this.answer(status, headers));
    const length = this.lengthOf(status, headers);
    // An event stream's head must not wait for its first event.
    if (headers['content-length'] === undefined) response.flushHeaders();
    if (length !== null && length >= PASSAGE_FROM && this.connection !== null) {
      controller.pause();
      response.flushHeaders();
      this.connection.passOn(response, length, () => void response.end());
    } else response.on('drain', () => controller.resume());
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (!this.response.write(chunk)) controller.pause();
  }

  onResponseEnd(): void {
    this.response.end();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    // After the whole of an answer that went past undici, all that it sees is a connection that ended.
    if (!this.response.writableEnded) this.settle(error);
  }

  private settle(error: Error | null): void {
    if (this.settled) return;
    this.settled = true;
    this.over(error);
  }

  /** Of a body with a length and no transfer encoding. Bytes. */
  private lengthOf(status: number, headers: Headers): number | null {
    const length = headers['content-length'];
    if (this.withoutBody || status === 204 || status === 304 || headers['transfer-encoding'] !== undefined) return null;
    return typeof length === 'string' && /^\d{1,15}$/.test(length) ? Number(length) : null;
  }
}

export function fromUndici(error: unknown): unknown {
  if (error instanceof SlipwayError) return error;
  if (error instanceof errors.HeadersTimeoutError || error instanceof errors.BodyTimeoutError)
    return new SlipwayError('sandbox.timeout', 'The sandbox said nothing for too long.', { cause: error });
  if (error instanceof errors.InvalidArgumentError)
    return new SlipwayError('request.invalid', 'The request cannot be sent on as it is.', { cause: error });
  return new SlipwayError('sandbox.unreachable', 'Nothing answers on this port of the sandbox.', {
    cause: error,
    retryAfterSeconds: 1,
  });
}
