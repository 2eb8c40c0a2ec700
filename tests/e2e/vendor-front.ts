import { createHash, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** The client of the vendor that Slipway is entered as. */
export const CLIENT = { clientId: 'client-of-slipway', clientSecret: 'secret-of-the-client' } as const;

export interface Front {
  /** Paths of the consent pages, each with the tokens that it is worth. */
  readonly consents: ReadonlyArray<{
    readonly page: string;
    readonly token: string;
    readonly grant: () => Readonly<Record<string, unknown>>;
  }>;
  /** What the front answers itself; `undefined`: the API behind it does. */
  readonly own: (call: string, body: string) => unknown;
  /** The scripted API. */
  readonly behind: string;
}

/**
 * A vendor's consent page and token endpoint before its scripted API, as one host: a code is worth its tokens once, for
 * the client, address and verifier of its page.
 */
export class VendorFront {
  private readonly codes = new Map<
    string,
    { readonly asked: URLSearchParams; readonly grant: () => Readonly<Record<string, unknown>> }
  >();
  private readonly front: Front;
  private readonly server: Server;

  private constructor(front: Front, server: Server) {
    this.front = front;
    this.server = server;
  }

  static async start(front: Front): Promise<VendorFront> {
    const server = createServer();
    const made = new VendorFront(front, server);
    server.on('request', (request, response) => {
      made
        .answer(request, response)
        .catch((error: unknown) => response.headersSent || response.writeHead(500).end(String(error)));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return made;
  }

  get host(): string {
    return `127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  get url(): string {
    return `http://${this.host}`;
  }

  close(): void {
    this.server.closeAllConnections();
    this.server.close();
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', this.url);
    if (url.pathname === '/favicon.ico') return void response.writeHead(404).end();
    const body = await buffer(request);
    const json = (value: unknown): void =>
      void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    const consent = this.front.consents.find(({ page }) => page === url.pathname);
    if (consent !== undefined && request.method === 'GET') {
      const action = `${url.pathname}${url.search}`.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
      const html = `<!doctype html><title>Vendor</title><form method="post" action="${action}"><button>Allow</button></form>`;
      response.writeHead(200, { 'content-type': 'text/html' }).end(html);
      return;
    }
    if (consent !== undefined) {
      const code = randomUUID();
      this.codes.set(code, { asked: url.searchParams, grant: consent.grant });
      const back = new URL(url.searchParams.get('redirect_uri') ?? '');
      back.search = new URLSearchParams({ code, state: url.searchParams.get('state') ?? '' }).toString();
      response.writeHead(302, { location: back.href }).end();
      return;
    }
    if (this.front.consents.some(({ token }) => token === url.pathname))
      return json(this.redeem(new URLSearchParams(body.toString())));
    const own = this.front.own(`${request.method} ${url.pathname}`, body.toString());
    if (own !== undefined) return json(own);
    const behind = send(
      new URL(request.url ?? '/', this.front.behind),
      { method: request.method ?? 'GET', headers: request.headers },
      (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      },
    );
    behind.on('error', () => response.destroy());
    behind.end(body);
  }

  private redeem(form: URLSearchParams): unknown {
    const code = form.get('code') ?? '';
    const known = this.codes.get(code);
    this.codes.delete(code);
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    const isRight =
      known !== undefined &&
      form.get('client_id') === CLIENT.clientId &&
      form.get('client_secret') === CLIENT.clientSecret &&
      form.get('redirect_uri') === known.asked.get('redirect_uri') &&
      (known.asked.get('code_challenge') ?? challenge) === challenge;
    return isRight ? { token_type: 'bearer', ...known.grant() } : { ok: false, error: 'invalid_grant' };
  }
}
