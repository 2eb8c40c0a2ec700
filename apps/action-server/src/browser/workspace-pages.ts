import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { SlipwayError } from '@slipway/errors';
import { insideWorkspace } from '../files/workspace-path.js';

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
 * Answers with a file of the workspace, links followed first. Only for the browser's own navigation and for pages of the workspace: what another site asks for, also by a
 * redirect, is 403. Chromium says which it is (`Sec-Fetch-Site`), and no page can.
 */
export async function sendWorkspacePage(workspace: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const site = request.headers['sec-fetch-site'];
  const refuse = (status: number, text: string): void => void response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(text);
  if (site !== 'none' && site !== 'same-origin') return refuse(403, 'Files of the workspace are not for pages of other sites.');
  if (request.method !== 'GET' && request.method !== 'HEAD') return refuse(405, 'A file can only be read.');
  try {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost');
    const wanted = await insideWorkspace(workspace, `.${decodeURIComponent(pathname)}`);
    const file = (await stat(wanted)).isDirectory() ? await insideWorkspace(workspace, path.join(wanted, 'index.html')) : wanted;
    const found = await stat(file);
    // A pipe would wait for somebody who writes.
    if (!found.isFile()) return refuse(404, 'There is no such file in the workspace.');
    response.writeHead(200, {
      'content-type': TYPES[path.extname(file).toLowerCase()] ?? 'text/plain; charset=utf-8',
      'content-length': found.size,
      'cache-control': 'no-store',
    });
    if (request.method === 'HEAD') return void response.end();
    await pipeline(createReadStream(file, { end: Math.max(0, found.size - 1) }), response);
  } catch (error) {
    if (response.headersSent) return void response.destroy();
    refuse(404, error instanceof SlipwayError ? error.detail : 'There is no such file in the workspace.');
  }
}
