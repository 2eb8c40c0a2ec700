import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import {
  type JSONRPCMessage,
  type Transport,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { honestServer } from './mcp-tools.js';

export interface McpHttpServer {
  readonly url: string;
  /** Breaks every connection; who comes again is served. */
  cut(): void;
  close(): Promise<void>;
}

/**
 * A real MCP server at a port of its own: streamable HTTP at `/mcp`, server-sent events at `/sse`. `key` is the bearer
 * token that it wants. `port`: where one was before.
 */
export async function startMcpHttpServer({
  key,
  port = 0,
}: {
  key?: string;
  port?: number;
} = {}): Promise<McpHttpServer> {
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>();
  const streams = new Map<string, SseServerTransport>();
  const server = createServer((request, response) => void serve(request, response).catch(() => response.destroy()));

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://localhost');
    if (url.pathname === '/elsewhere')
      return void response.writeHead(307, { location: 'http://127.0.0.1:1/mcp' }).end();
    if (key !== undefined && request.headers.authorization !== `Bearer ${key}`)
      return void response.writeHead(401).end();
    const describe = (): string => `token ${request.headers.authorization ?? 'none'}`;
    if (url.pathname === '/sse') {
      const transport = new SseServerTransport(response);
      streams.set(transport.sessionId, transport);
      return honestServer(describe).connect(transport);
    }
    if (url.pathname === '/message') {
      const stream = streams.get(url.searchParams.get('session') ?? '');
      if (stream === undefined) return void response.writeHead(404).end();
      stream.onmessage?.((await bodyOf(request)) as JSONRPCMessage);
      return void response.writeHead(202).end();
    }
    if (url.pathname !== '/mcp') return void response.writeHead(404).end();
    const body = request.method === 'POST' ? await bodyOf(request) : undefined;
    const known = sessions.get(String(request.headers['mcp-session-id']));
    if (known === undefined && request.headers['mcp-session-id'] !== undefined)
      return void response.writeHead(404).end();
    const transport =
      known ??
      new WebStandardStreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: (id) => void sessions.set(id, transport),
      });
    if (known === undefined) await honestServer(describe).connect(transport);
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const headers = new Headers(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    const forwarded = new Request(url, { method: request.method ?? 'GET', headers, signal: gone.signal });
    const answer = await transport.handleRequest(forwarded, body === undefined ? {} : { parsedBody: body });
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    if (answer.body === null) return void response.end();
    response.flushHeaders();
    Readable.fromWeb(answer.body as ReadableStream)
      .on('error', () => response.destroy())
      .pipe(response);
  }

  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut: () => {
      sessions.clear();
      streams.clear();
      server.closeAllConnections();
    },
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const parts: Buffer[] = [];
  for await (const part of request as AsyncIterable<Buffer>) parts.push(part);
  return JSON.parse(Buffer.concat(parts).toString());
}

/** The transport of 2024, which the library has no server for any more. */
class SseServerTransport implements Transport {
  readonly sessionId = randomUUID();
  onclose?: () => void;
  onmessage?: Transport['onmessage'];

  constructor(private readonly response: ServerResponse) {
    response.once('close', () => this.onclose?.());
  }

  async start(): Promise<void> {
    this.response.writeHead(200, { 'content-type': 'text/event-stream' });
    this.response.write(`event: endpoint\ndata: /message?session=${this.sessionId}\n\n`);
  }

  async send(message: JSONRPCMessage): Promise<void> {
    this.response.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
  }

  async close(): Promise<void> {
    this.response.end();
  }
}
