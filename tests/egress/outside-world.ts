import { execFile } from 'node:child_process';
import { createHash, createHmac } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import type { SecureContext } from 'node:tls';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { createSampleRepository, runGitBackend } from '@slipway/testing';

/** Of loopback, and the only one that proxy and broker may reach here. */
export const OUTSIDE = '127.0.0.2';
export const HOSTS = [
  'git.example',
  'api.example',
  'pay.example',
  'registry.example',
  'files.example',
  's3.example',
  'tools.example',
  'docs.example',
] as const;
export type Host = (typeof HOSTS)[number];

/** Planted values: none of them may ever be in a sandbox. */
export const PLANTED = {
  git: 'ghp_planted-git-token-0123456789abcdef',
  api: 'planted-api-key-0123456789abcdef',
  pay: 'sk_live_planted-payment-key-0123456789',
  registry: 'npm_planted-registry-token-0123456789',
  files: 'pypi-planted-index-password-0123456789',
  s3: 'planted/aws+secret/access/key/0123456789',
  tools: 'planted-mcp-token-0123456789abcdef',
} as const;

export interface Taken {
  readonly host: string;
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
}

/** Hosts of the internet that want credentials, over TLS, on one address and one port. */
export class OutsideWorld {
  /** Every request that arrived. */
  readonly taken: Taken[] = [];

  private readonly server: Server;
  private readonly folder: string;

  private constructor(server: Server, folder: string) {
    this.server = server;
    this.folder = folder;
  }

  static async open(folder: string, contextOf: (host: string) => Promise<SecureContext>): Promise<OutsideWorld> {
    const repositories = path.join(folder, 'outside');
    await mkdir(repositories, { recursive: true });
    await createSampleRepository(repositories, 'acme/private.git', { 'README.md': '# Private\n' });
    const server = createServer({
      SNICallback: (name, done) =>
        contextOf(name).then(
          (context) => done(null, context),
          (error: Error) => done(error),
        ),
    });
    const world = new OutsideWorld(server, repositories);
    server.on('request', (request, response) => {
      world.serve(request, response).catch((error: unknown) => response.writeHead(500).end(String(error)));
    });
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, OUTSIDE, resolve));
    return world;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get repository(): string {
    return path.join(this.folder, 'acme/private.git');
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '', url = '/', headers } = request;
    const host = (headers.host ?? '').replace(/:\d+$/, '');
    this.taken.push({ host, method, path: url, headers });
    const { pathname, search } = new URL(url, 'https://x');
    const answer = (status: number, body: unknown): void =>
      void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    const wants = (expected: string): boolean => {
      if (headers.authorization === expected) return true;
      response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end();
      return false;
    };
    switch (host as Host) {
      case 'git.example':
        if (wants(basic('x-access-token', PLANTED.git)))
          runGitBackend({ directory: this.folder, pathname, search, user: 'agent' }, request, response);
        return;
      case 'api.example':
        // A debug page that echoes what it was sent.
        if (pathname === '/v1/echo') return answer(200, headers);
        if (wants(`Bearer ${PLANTED.api}`)) answer(200, { me: 'agent' });
        return;
      case 'pay.example':
        return headers['x-pay-key'] === PLANTED.pay ? answer(200, { paid: 1 }) : answer(401, { paid: 0 });
      case 'registry.example':
        if (wants(`Bearer ${PLANTED.registry}`)) this.npm(pathname, response);
        return;
      case 'files.example':
        if (wants(basic('agent', PLANTED.files))) await simpleIndex(pathname, this.folder, response);
        return;
      case 's3.example': {
        const body = await buffer(request);
        return isSignedWith(PLANTED.s3, { method, pathname, search, headers }, body)
          ? answer(200, { stored: body.length })
          : answer(403, { code: 'SignatureDoesNotMatch' });
      }
      case 'tools.example':
        if (wants(`Bearer ${PLANTED.tools}`)) await mcp(request, response);
        return;
      case 'docs.example':
        return answer(200, { method, pathname });
      default:
        return answer(404, { host });
    }
  }

  private npm(pathname: string, response: ServerResponse): void {
    const tarball = npmTarball();
    const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`;
    if (pathname === '/planted-package/-/planted-package-1.0.0.tgz')
      return void response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(tarball);
    if (pathname !== '/planted-package') return void response.writeHead(404).end();
    const dist = {
      tarball: `https://registry.example:${this.port}/planted-package/-/planted-package-1.0.0.tgz`,
      integrity,
    };
    const versions = { '1.0.0': { name: 'planted-package', version: '1.0.0', dist } };
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ name: 'planted-package', 'dist-tags': { latest: '1.0.0' }, versions }));
  }
}

export const basic = (user: string, password: string): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;

/** One file, `package/package.json`, as `npm pack` has it. */
export function npmTarball(): Buffer {
  const content = Buffer.from(JSON.stringify({ name: 'planted-package', version: '1.0.0' }));
  const header = Buffer.alloc(512);
  header.write('package/package.json', 0);
  header.write('0000644\0', 100);
  header.write('0000000\0', 108);
  header.write('0000000\0', 116);
  header.write(`${content.length.toString(8).padStart(11, '0')}\0`, 124);
  header.write('00000000000\0', 136);
  header.write('        ', 148);
  header.write('0', 156);
  header.write('ustar\0', 257);
  header.write('00', 263);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  const padding = Buffer.alloc((512 - (content.length % 512)) % 512);
  return gzipSync(Buffer.concat([header, content, padding, Buffer.alloc(1024)]));
}

/** PEP 503, with one wheel. */
async function simpleIndex(pathname: string, folder: string, response: ServerResponse): Promise<void> {
  const file = 'planted_wheel-1.0-py3-none-any.whl';
  if (pathname === '/simple/planted-wheel/')
    return void response
      .writeHead(200, { 'content-type': 'text/html' })
      .end(`<a href="../../files/${file}">${file}</a>`);
  if (pathname !== `/files/${file}`) return void response.writeHead(404).end();
  const made = path.join(folder, file);
  await promisify(execFile)('python3', ['-c', WHEEL, made]);
  response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(await readFile(made));
}

/** A wheel with its metadata alone. */
const WHEEL = `
import sys, zipfile
with zipfile.ZipFile(sys.argv[1], 'w') as wheel:
    info = 'planted_wheel-1.0.dist-info/'
    wheel.writestr(info + 'METADATA', 'Metadata-Version: 2.1\\nName: planted-wheel\\nVersion: 1.0\\n')
    wheel.writestr(info + 'WHEEL', 'Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')
    wheel.writestr(info + 'RECORD', '')
`;

/** A server of the Model Context Protocol with one tool, over streamable HTTP. */
async function mcp(request: IncomingMessage, response: ServerResponse): Promise<void> {
  if (request.method !== 'POST') return void response.writeHead(405).end();
  const { id, method, params } = JSON.parse((await buffer(request)).toString()) as {
    id?: number;
    method: string;
    params?: { protocolVersion?: string };
  };
  if (id === undefined) return void response.writeHead(202).end();
  const results: Readonly<Record<string, unknown>> = {
    initialize: {
      protocolVersion: params?.protocolVersion ?? '2025-06-18',
      capabilities: { tools: {} },
      serverInfo: { name: 'tools', version: '1' },
    },
    'tools/list': { tools: [{ name: 'measure', description: 'Measures.', inputSchema: { type: 'object' } }] },
    'tools/call': { content: [{ type: 'text', text: 'It measures 42.' }] },
  };
  response
    .writeHead(200, { 'content-type': 'application/json' })
    .end(JSON.stringify({ jsonrpc: '2.0', id, result: results[method] ?? {} }));
}

/** Signature Version 4, as the service computes it from what arrived. */
function isSignedWith(
  secret: string,
  {
    method,
    pathname,
    search,
    headers,
  }: { method: string; pathname: string; search: string; headers: IncomingMessage['headers'] },
  body: Buffer,
): boolean {
  const said =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/([^/]+)\/aws4_request, ?SignedHeaders=([^,]+), ?Signature=([0-9a-f]{64})$/.exec(
      headers.authorization ?? '',
    );
  if (said === null) return false;
  const [, , day = '', region = '', service = '', names = '', signature = ''] = said;
  const payload = headers['x-amz-content-sha256'] ?? sha256(body);
  if (payload !== 'UNSIGNED-PAYLOAD' && payload !== sha256(body)) return false;
  const canonical = [
    method,
    pathname,
    search.slice(1),
    ...names.split(';').map(
      (name) =>
        `${name}:${String(headers[name] ?? '')
          .trim()
          .replace(/ +/g, ' ')}`,
    ),
    '',
    names,
    payload,
  ].join('\n');
  const scope = `${day}/${region}/${service}/aws4_request`;
  const toSign = ['AWS4-HMAC-SHA256', headers['x-amz-date'], scope, sha256(Buffer.from(canonical))].join('\n');
  const key = [day, region, service, 'aws4_request'].reduce<Buffer | string>(
    (last, part) => createHmac('sha256', last).update(part).digest(),
    `AWS4${secret}`,
  );
  return createHmac('sha256', key).update(toSign).digest('hex') === signature;
}

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
