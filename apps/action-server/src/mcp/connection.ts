import type { Client, Transport } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { boundedFetch } from './bounded-fetch.js';
import type { ServerSpec } from './server-spec.js';
import { StdioTransport } from './stdio-transport.js';
import { MAX_LISTED_TOOLS } from './tool-list.js';

/**
 * How long a server may take until it has answered for the first time: a program may have to be installed first.
 * Milliseconds.
 */
const START_MS = { stdio: 60_000, remote: 20_000 };
const LIST_MS = 20_000;
/** A server that has a question to answer meanwhile is asked whether it is still there. Milliseconds. */
const PING_MS = 5_000;
/** Progress keeps a call alive, but not for ever. Milliseconds. */
const LONGEST_CALL_MS = 3_600_000;
const MAX_PAGES = 100;
/** All pages of a list together. UTF-16 code units of JSON: they are held until the last has come. */
const MAX_LIST = 32 * 1024 * 1024;

const ToolPage = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.string().nullish() });
const Answer = z.looseObject({
  content: z.array(z.unknown()).default([]),
  isError: z.boolean().nullish(),
  structuredContent: z.unknown().optional(),
});
export type ToolAnswer = z.output<typeof Answer>;

export interface ConnectionEvents {
  /** It broke, by itself. Said once, never after `close`. */
  broken(error: Error): void;
  toolsChanged(): void;
}

/** One connection to a server. It has answered once. */
export interface Connection {
  /** What it says its tools are, unread, and how many there were beyond `MAX_LISTED_TOOLS`. */
  listTools(): Promise<{ tools: unknown[]; more: number }>;
  /** Rejects with the signal's reason, with why the connection broke, or what the protocol says went wrong. */
  call(
    tool: string,
    args: Record<string, unknown>,
    signal: AbortSignal,
    onProgress?: (progress: object) => void,
  ): Promise<ToolAnswer>;
  close(): void;
}

/**
 * @throws Error with what kept it from being reached; nothing of it is left then. The library is loaded by the first.
 */
export async function connect(spec: ServerSpec, events: ConnectionEvents, signal: AbortSignal): Promise<Connection> {
  if (spec.kind === 'stdio') {
    const transport = new StdioTransport(spec);
    return open(spec, transport, { events, signal, why: () => transport.failure, release: () => {} });
  }
  const { StreamableHTTPClientTransport, SSEClientTransport } = await import('@modelcontextprotocol/client');
  const { fetch, close } = await boundedFetch(spec);
  const options = { fetch, requestInit: { headers: { ...spec.headers } } };
  const by = (transport: Transport): Promise<Connection> =>
    open(spec, transport, { events, signal, why: () => null, release: close });
  if (spec.transport === 'sse') return by(new SSEClientTransport(spec.url, options));
  try {
    return await by(new StreamableHTTPClientTransport(spec.url, options));
  } catch (error) {
    const status = (error as { data?: { status?: unknown } } | null)?.data?.status;
    if (spec.transport !== 'any' || (status !== 400 && status !== 404 && status !== 405)) throw error;
    const again = await boundedFetch(spec);
    const sse = new SSEClientTransport(spec.url, { ...options, fetch: again.fetch });
    return open(spec, sse, { events, signal, why: () => null, release: again.close }).catch(() =>
      Promise.reject(error as Error),
    );
  }
}

interface Opening {
  readonly events: ConnectionEvents;
  readonly signal: AbortSignal;
  readonly why: () => Error | null;
  /** Frees what the transport stands on. */
  readonly release: () => void;
}

async function open(
  spec: ServerSpec,
  transport: Transport,
  { events, signal, why, release }: Opening,
): Promise<Connection> {
  const { Client } = await import('@modelcontextprotocol/client');
  const client = new Client(
    { name: 'slipway', version: '1' },
    // Nothing of a server is compiled or run here: whoever wrote its schemas may have written them to be endless.
    {
      jsonSchemaValidator: {
        getValidator: () => (value: unknown) => ({ valid: true, data: value as never, errorMessage: undefined }),
      },
    },
  );
  const opened = new OpenConnection(client, spec.callMs, events, why, release);
  client.onclose = () => opened.break(why() ?? new Error('it closed the connection'));
  client.onerror = () => void opened.check();
  client.setNotificationHandler('notifications/tools/list_changed', () => events.toolsChanged());
  try {
    await client.connect(transport, { timeout: START_MS[spec.kind], signal });
  } catch (error) {
    const cause = why() ?? error;
    opened.close();
    // A start that was not over yet left the library nothing to close.
    await transport.close().catch(() => {});
    throw cause;
  }
  opened.begin();
  return opened;
}

class OpenConnection implements Connection {
  /** Ends what is under way when the connection does. */
  readonly #gone = new AbortController();
  #calls = 0;
  #checking = false;
  #begun = false;

  constructor(
    private readonly client: Client,
    private readonly callMs: number,
    private readonly events: ConnectionEvents,
    private readonly why: () => Error | null,
    private readonly release: () => void,
  ) {
    this.#gone.signal.addEventListener('abort', () => {}, { once: true });
  }

  begin(): void {
    this.#begun = true;
  }

  async listTools(): Promise<{ tools: unknown[]; more: number }> {
    const tools: unknown[] = [];
    let cursor: string | undefined;
    let length = 0;
    for (let page = 0; page < MAX_PAGES; page += 1) {
      const params = cursor === undefined ? {} : { cursor };
      const answer = await this.#ask((signal) =>
        this.client.request({ method: 'tools/list', params }, ToolPage, { signal, timeout: LIST_MS }),
      );
      length += JSON.stringify(answer.tools).length;
      if (length > MAX_LIST) throw new Error(`its list of tools is larger than ${MAX_LIST / 1024 / 1024} MiB`);
      for (const tool of answer.tools) tools.push(tool);
      cursor = answer.nextCursor ?? undefined;
      if (cursor === undefined || tools.length > MAX_LISTED_TOOLS) break;
    }
    return { tools: tools.slice(0, MAX_LISTED_TOOLS), more: Math.max(0, tools.length - MAX_LISTED_TOOLS) };
  }

  async call(
    tool: string,
    args: Record<string, unknown>,
    signal: AbortSignal,
    onProgress: (progress: object) => void = () => {},
  ): Promise<ToolAnswer> {
    this.#calls += 1;
    try {
      return await this.#ask(
        (both) =>
          this.client.request({ method: 'tools/call', params: { name: tool, arguments: args } }, Answer, {
            signal: both,
            timeout: this.callMs,
            maxTotalTimeout: Math.max(this.callMs, LONGEST_CALL_MS),
            resetTimeoutOnProgress: true,
            onprogress: onProgress,
          }),
        signal,
      );
    } finally {
      this.#calls -= 1;
    }
  }

  /** Something went wrong on the way. Where an answer is waited for, the server is asked whether it is still there. */
  async check(): Promise<void> {
    if (this.#calls === 0 || this.#checking || this.#gone.signal.aborted) return;
    this.#checking = true;
    try {
      await this.client.ping({ timeout: PING_MS });
    } catch (error) {
      this.break(error as Error);
    } finally {
      this.#checking = false;
    }
  }

  break(error: Error): void {
    if (this.#gone.signal.aborted) return;
    this.#gone.abort(this.why() ?? error);
    void this.client.close().catch(() => {});
    this.release();
    if (this.#begun) this.events.broken(this.#gone.signal.reason as Error);
  }

  close(): void {
    this.#begun = false;
    this.break(new Error('it was closed'));
  }

  async #ask<T>(work: (signal: AbortSignal) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const gone = this.#gone.signal;
    gone.throwIfAborted();
    try {
      return await work(signal === undefined ? gone : AbortSignal.any([gone, signal]));
    } catch (error) {
      signal?.throwIfAborted();
      gone.throwIfAborted();
      throw this.why() ?? error;
    }
  }
}
