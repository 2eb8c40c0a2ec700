import { KeptConnections } from './kept-connections.js';
import { type SandboxConnection, StaleConnection } from './sandbox-connection.js';

/** Longest answer read from a sandbox, which is not to be trusted with our memory. Bytes. */
const MAX_ANSWER_BYTES = 64 * 1024;
/** Connections to all sandboxes that stay open between requests. */
const KEPT_CONNECTIONS = 1_000;
const SCHEME = 'http://';

/**
 * A probe of a blank sandbox leaves its connection open, so that the claim that comes after it need not make one:
 * agent-server keeps it for 65 s, and a warm sandbox is probed every 60 s. It ends with its sandbox, or when so many
 * others were used since.
 */
const connections = new KeptConnections(KEPT_CONNECTIONS);

export interface SandboxRequest {
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly body?: string;
  readonly signal: AbortSignal;
  /**
   * Longest wait for the whole answer. Milliseconds; without it only `signal` ends the wait. A timer of its own costs a
   * tenth of `AbortSignal.timeout`.
   */
  readonly timeoutMs?: number;
  /** 64 KiB when not given. */
  readonly maxAnswerBytes?: number;
}

/**
 * One request to a sandbox. It must be repeatable: a kept connection may be closed by the other side at the moment of
 * use, and then it is sent again, once, on a new one.
 * @throws Error when there is no whole answer before `signal` or within `timeoutMs`, or when it is longer than
 * `maxAnswerBytes`.
 */
export async function sandboxRequest(url: string, options: SandboxRequest): Promise<{ status: number; body: string }> {
  if (!url.startsWith(SCHEME)) throw new Error(`${url} is no address of a sandbox`);
  const slash = url.indexOf('/', SCHEME.length);
  const origin = slash < 0 ? url.slice(SCHEME.length) : url.slice(SCHEME.length, slash);
  const text = onTheWire(origin, slash < 0 ? '/' : url.slice(slash), options);
  try {
    return await send(connections.take(origin), text, options);
  } catch (error) {
    if (!(error instanceof StaleConnection) || options.signal.aborted) throw error;
    return send(connections.open(origin), text, options);
  }
}

async function send(
  connection: SandboxConnection,
  text: string,
  options: SandboxRequest,
): Promise<{ status: number; body: string }> {
  const { signal, timeoutMs, maxAnswerBytes = MAX_ANSWER_BYTES } = options;
  const { status, body, keeps } = await connection.send({ text, signal, timeoutMs, maxAnswerBytes });
  if (keeps) connections.keep(connection);
  return { status, body };
}

function onTheWire(origin: string, path: string, { method, headers, body }: SandboxRequest): string {
  let head = `${method} ${path} HTTP/1.1\r\nhost: ${origin}\r\n`;
  let lines = 2;
  for (const name in headers) {
    head += `${name}: ${headers[name]}\r\n`;
    lines += 1;
  }
  if (body !== undefined) {
    head += `content-length: ${Buffer.byteLength(body)}\r\n`;
    lines += 1;
  }
  // A surplus line would belong to another call.
  if (head.split('\n').length !== lines + 1 || /[^\t\r\n\x20-\x7e]/.test(head))
    throw new Error('a header or the path of the request is not plain text');
  return `${head}\r\n${body ?? ''}`;
}
