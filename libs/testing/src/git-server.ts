import { spawn } from 'node:child_process';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';

export interface GitServer {
  /** `http://ADDRESS:PORT`; a bare repository `x.git` of the directory is at `/x.git`. */
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Serves a directory of bare repositories over git's smart HTTP protocol, through `git http-backend`.
 *
 * @param options.privateNames repositories that answer 401 without the right basic credentials (`user`/`secret`).
 * @param options.address where clients find this machine [127.0.0.1]; with another one it is served on every address.
 * @throws Error when the port cannot be bound.
 */
export async function startGitServer(
  directory: string,
  options: { privateNames?: readonly string[]; address?: string } = {},
): Promise<GitServer> {
  const { address: reachableAt = '127.0.0.1' } = options;
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://git');
    const name = url.pathname.split('/')[1] ?? '';
    if (
      options.privateNames?.includes(name) &&
      request.headers.authorization !== `Basic ${Buffer.from('user:secret').toString('base64')}`
    ) {
      response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end();
      return;
    }
    runGitBackend({ directory, pathname: url.pathname, search: url.search }, request, response);
  });
  await new Promise<void>((resolve, reject) =>
    server.once('error', reject).listen(0, reachableAt === '127.0.0.1' ? reachableAt : '0.0.0.0', resolve),
  );
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the git server has no port');
  return {
    url: `http://${reachableAt}:${address.port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export interface GitBackendCall {
  /** Of bare repositories. */
  readonly directory: string;
  /** `/x.git/…` */
  readonly pathname: string;
  readonly search: string;
  /** User who pushes [a reader]. */
  readonly user?: string;
}

/** One CGI call: the request's body in, headers and body out. */
export function runGitBackend(
  { directory, pathname, search, user = 'reader' }: GitBackendCall,
  request: IncomingMessage,
  response: ServerResponse,
): void {
  const backend = spawn('git', ['http-backend'], {
    env: {
      PATH: process.env['PATH'],
      GIT_PROJECT_ROOT: directory,
      GIT_HTTP_EXPORT_ALL: '1',
      PATH_INFO: pathname,
      QUERY_STRING: search.slice(1),
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: request.headers['content-type'],
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'],
      HTTP_GIT_PROTOCOL: request.headers['git-protocol'] as string | undefined,
      REMOTE_USER: user,
      REMOTE_ADDR: '127.0.0.1',
    },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  request.pipe(backend.stdin);
  backend.stdin.on('error', () => {});
  let head = Buffer.alloc(0);
  const onData = (chunk: Buffer): void => {
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf('\r\n\r\n');
    if (end < 0) return;
    const headers = Object.fromEntries(
      head
        .subarray(0, end)
        .toString()
        .split('\r\n')
        .map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
    );
    const { status, ...rest } = headers;
    response.writeHead(status === undefined ? 200 : Number.parseInt(status, 10), rest);
    response.write(head.subarray(end + 4));
    backend.stdout.off('data', onData);
    backend.stdout.pipe(response);
  };
  backend.stdout.on('data', onData);
  backend.on('close', () => {
    if (!response.headersSent) response.writeHead(500);
    response.end();
  });
  response.on('close', () => backend.kill());
}
