import http from 'node:http';
import { KeptConnections } from './kept-connections.js';

/** Longest answer read from a sandbox, which is not to be trusted with our memory. Bytes. */
const MAX_ANSWER_BYTES = 64 * 1024;
/** Connections to all sandboxes that stay open between requests. */
const KEPT_CONNECTIONS = 1_000;

/**
 * A look at a blank sandbox leaves its connection open, so that the claim that comes after it need not make one: agent-server keeps it for 65 s, and a warm sandbox is
 * looked at every 60 s. It ends with its sandbox, or when so many others were used since.
 */
const agent = new KeptConnections(KEPT_CONNECTIONS);

export interface SandboxRequest {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body?: string;
  readonly signal: AbortSignal;
  /** Longest wait for the whole answer. Milliseconds; without it only `signal` ends the wait. A timer of its own costs a tenth of `AbortSignal.timeout`. */
  readonly timeoutMs?: number;
  /** 64 KiB when not given. */
  readonly maxAnswerBytes?: number;
}

/**
 * One request to a sandbox. It must be repeatable: a kept connection may be closed by the other side at the moment of use, and then it is sent again, once, on a new one.
 * @throws Error when there is no whole answer before `signal` or within `timeoutMs`, or when it is longer than `maxAnswerBytes`.
 */
export async function sandboxRequest(url: string, options: SandboxRequest): Promise<{ status: number; body: string }> {
  try {
    return await send(url, options, agent);
  } catch (error) {
    if (!(error instanceof StaleConnection) || options.signal.aborted) throw error;
    return send(url, options, false);
  }
}

/** A kept connection broke before anything of an answer came. */
class StaleConnection extends Error {}

function send(url: string, options: SandboxRequest, over: http.Agent | false): Promise<{ status: number; body: string }> {
  const { maxAnswerBytes = MAX_ANSWER_BYTES, timeoutMs } = options;
  return new Promise((resolve, reject) => {
    const body = options.body === undefined ? undefined : Buffer.from(options.body);
    const headers = body === undefined ? options.headers : { ...options.headers, 'content-length': String(body.length) };
    let timedOut = false;
    const request = http.request(url, { method: options.method, headers, agent: over, signal: options.signal }, (response) => {
      const chunks: Buffer[] = [];
      let bytes = 0;
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes > maxAnswerBytes) response.destroy(new Error(`the answer is longer than ${maxAnswerBytes} bytes`));
        else chunks.push(chunk);
      });
      response.on('end', () => {
        clearTimeout(timer);
        resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString('utf8') });
      });
      response.on('error', fail);
      answered = true;
    });
    let answered = false;
    const timer =
      timeoutMs === undefined
        ? undefined
        : setTimeout(() => {
            timedOut = true;
            request.destroy(new Error(`no whole answer within ${timeoutMs} ms`));
          }, timeoutMs);
    function fail(error: Error): void {
      clearTimeout(timer);
      const stale = request.reusedSocket && !answered && !timedOut && !options.signal.aborted;
      reject(stale ? new StaleConnection('the kept connection was closed', { cause: error }) : error);
    }
    request.on('error', fail);
    request.end(body);
  });
}
