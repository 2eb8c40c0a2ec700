import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { SlipwayError } from '@slipway/errors';
import { insideWorkspace } from '../files/workspace-path.js';
import { WORKSPACE_HOST } from './address.js';
import { line } from './page-text.js';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.htm': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
  '.ico': 'image/x-icon',
  '.pdf': 'application/pdf',
  '.wasm': 'application/wasm',
  '.woff': 'font/woff',
  '.woff2': 'font/woff2',
  '.mp4': 'video/mp4',
  '.webm': 'video/webm',
};

/**
 * The only way out of pages of the workspace: to other files of the workspace. Such a page may read every file of it,
 * so it reaches nothing else, neither a site nor this machine. Listens on loopback; whoever else connects may read what
 * any program of the sandbox may.
 */
export class WorkspaceProxy {
  readonly #server: http.Server;

  private constructor(workspace: string, refused: (because: string) => void) {
    const refuse = (host: string): string => {
      const because = `A page of the workspace asked for ${line(host, 100)}: such pages may read the workspace, so they reach nothing outside of it. A page that needs more has to come from a server on localhost.`;
      refused(because);
      return because;
    };
    this.#server = http.createServer((request, response) => {
      response.on('error', () => {});
      const url = URL.canParse(request.url ?? '') ? new URL(request.url ?? '') : null;
      if (url?.protocol === 'http:' && url.host === WORKSPACE_HOST)
        return void sendWorkspacePage(workspace, url.pathname, request, response);
      response
        .writeHead(403, { 'content-type': 'text/plain; charset=utf-8' })
        .end(refuse(url?.host ?? 'another program'));
    });
    // The only other way through a proxy.
    this.#server.on('connect', (request: IncomingMessage, socket) => {
      socket.on('error', () => socket.destroy());
      refuse(request.url ?? '');
      socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n');
    });
    this.#server.on('clientError', (_error, socket) => socket.destroy());
    this.#server.unref();
  }

  /** @param refused called for each refused connection: the requester only sees a failure. */
  static start(workspace: string, refused: (because: string) => void): Promise<WorkspaceProxy> {
    const proxy = new WorkspaceProxy(workspace, refused);
    return new Promise((resolve, reject) => {
      proxy.#server.once('error', reject);
      proxy.#server.listen(0, '127.0.0.1', () => resolve(proxy));
    });
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }
}

/**
 * Answers with a file of the workspace, links followed first. Only for the browser's own navigation and for pages of
 * the workspace: what any other document asks for, such as one in a frame with an origin of its own, is 403. Chromium
 * says which it is (`Sec-Fetch-Site`), and no page can.
 */
async function sendWorkspacePage(
  workspace: string,
  pathname: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const site = request.headers['sec-fetch-site'];
  const refuse = (status: number, text: string): void =>
    void response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(text);
  if (site !== 'none' && site !== 'same-origin')
    return refuse(403, 'Files of the workspace are not for pages of other sites.');
  if (request.method !== 'GET' && request.method !== 'HEAD') return refuse(405, 'A file can only be read.');
  try {
    const wanted = await insideWorkspace(workspace, `.${decodeURIComponent(pathname)}`);
    const file = (await stat(wanted)).isDirectory()
      ? await insideWorkspace(workspace, path.join(wanted, 'index.html'))
      : wanted;
    const found = await stat(file);
    // A pipe would wait for a writer.
    if (!found.isFile()) return refuse(404, 'There is no such file in the workspace.');
    response.writeHead(200, {
      'content-type': TYPES[path.extname(file).toLowerCase()] ?? 'text/plain; charset=utf-8',
      'content-length': found.size,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    });
    if (request.method === 'HEAD') return void response.end();
    await pipeline(createReadStream(file, { end: Math.max(0, found.size - 1) }), response);
  } catch (error) {
    if (response.headersSent) return void response.destroy();
    refuse(404, error instanceof SlipwayError ? error.detail : 'There is no such file in the workspace.');
  }
}
