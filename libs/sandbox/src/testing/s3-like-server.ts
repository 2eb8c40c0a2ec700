import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/**
 * What the server does instead of its work: `no-bucket` 404 NoSuchBucket, `forbidden` 403 AccessDenied to whatever
 * writes, `broken` 500 InternalError, `slow` no answer at all, `cut` the connection ends in the middle of an answer,
 * `forgets` an object that was written is not there.
 */
export type S3Fault = 'no-bucket' | 'forbidden' | 'broken' | 'slow' | 'cut' | 'forgets';

/**
 * A bucket over real HTTP, as path-style S3 has it: PUT, HEAD, GET, DELETE and ListObjectsV2 of small objects, and what
 * goes wrong with them. Signatures are not checked.
 */
export class S3LikeServer {
  readonly bucket = 'workspaces';
  readonly objects = new Map<string, Buffer>();
  /** When each object was written, where a test says so; now for the others. */
  readonly times = new Map<string, Date>();
  fault: S3Fault | null = null;
  private readonly server: Server = createServer((request, response) => void this.answer(request, response));

  async start(): Promise<this> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return this;
  }

  get endpoint(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://s3');
    const key = decodeURIComponent(url.pathname.split('/').slice(2).join('/'));
    const body = await buffer(request).catch(() => Buffer.alloc(0));
    switch (this.fault) {
      case 'no-bucket':
        return refuse(response, 404, 'NoSuchBucket', 'The specified bucket does not exist');
      case 'forbidden':
        if (request.method === 'PUT') return refuse(response, 403, 'AccessDenied', 'Access Denied');
        break;
      case 'broken':
        return refuse(response, 500, 'InternalError', 'We encountered an internal error.');
      case 'slow':
        return;
      case 'cut':
        response.writeHead(200, { 'content-length': 1_000 }).write('half');
        return void setImmediate(() => request.socket.destroy());
      case 'forgets':
        if (request.method === 'PUT') return void response.writeHead(200, { etag: '"0"' }).end();
        break;
    }
    if (request.method === 'PUT') {
      if (request.headers['if-none-match'] === '*' && this.objects.has(key))
        return refuse(response, 412, 'PreconditionFailed', 'At least one of the preconditions did not hold.');
      this.objects.set(key, body);
      return void response.writeHead(200, { etag: '"0"' }).end();
    }
    if (request.method === 'DELETE') {
      this.objects.delete(key);
      return void response.writeHead(204).end();
    }
    if (key === '') return this.list(url, response);
    const found = this.objects.get(key);
    if (found === undefined) return refuse(response, 404, 'NoSuchKey', 'The specified key does not exist.');
    const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '');
    if (range === null) return void response.writeHead(200, { 'content-length': found.length, etag: '"0"' }).end(found);
    const part = found.subarray(Number(range[1]), Number(range[2]) + 1);
    if (part.length === 0) return refuse(response, 416, 'InvalidRange', 'The requested range is not satisfiable');
    response.writeHead(206, { 'content-length': part.length, etag: '"0"' }).end(part);
  }

  private list(url: URL, response: ServerResponse): void {
    const prefix = url.searchParams.get('prefix') ?? '';
    const delimiter = url.searchParams.get('delimiter');
    const after = url.searchParams.get('start-after') ?? '';
    const keys = [...this.objects.keys()].filter((key) => key.startsWith(prefix) && key > after).sort();
    const contents = (key: string): string =>
      `<Contents><Key>${key}</Key><Size>${this.objects.get(key)?.length}</Size><LastModified>${(this.times.get(key) ?? new Date()).toISOString()}</LastModified></Contents>`;
    const folders = new Set(
      delimiter === null
        ? []
        : keys.map((key) => `${prefix}${key.slice(prefix.length).split(delimiter)[0]}${delimiter}`),
    );
    const entries =
      delimiter === null
        ? keys.map(contents)
        : [...folders].map((folder) => `<CommonPrefixes><Prefix>${folder}</Prefix></CommonPrefixes>`);
    response.writeHead(200, { 'content-type': 'application/xml' });
    response.end(
      `<ListBucketResult><Name>${this.bucket}</Name><IsTruncated>false</IsTruncated>${entries.join('')}</ListBucketResult>`,
    );
  }
}

function refuse(response: ServerResponse, status: number, code: string, message: string): void {
  response
    .writeHead(status, { 'content-type': 'application/xml' })
    .end(`<Error><Code>${code}</Code><Message>${message}</Message></Error>`);
}
