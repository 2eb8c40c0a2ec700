import { createHash, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

export const APP = { clientId: 'the-client-id', clientSecret: 'the-secret-of-the-client' } as const;

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * A provider's side of OAuth 2.0 with PKCE over real HTTP, for the paths of GitHub Enterprise, GitLab and Gitea: a code
 * is worth one token, for the verifier, client and address that it was made for.
 */
export class ScriptedOAuth {
  /** Takes the place of the answer below a path. */
  readonly broken = new Map<string, Answer>();
  /** Method and path of every request, without its query. */
  readonly requests: string[] = [];
  readonly issued: string[] = [];
  readonly verifiers: string[] = [];
  readonly revoked: string[] = [];
  /** Of what is given beside an access token: nothing, or what a pair has. */
  grants: { readonly scope?: string; readonly expires_in: number } | null = null;
  private readonly codes = new Map<
    string,
    { readonly challenge: string; readonly redirectUri: string; readonly account: object }
  >();
  private readonly tokens = new Map<string, object>();

  private constructor(private readonly server: Server) {}

  static async start(): Promise<ScriptedOAuth> {
    const server = createServer((request, response) => void scripted.answer(request, response));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const scripted = new ScriptedOAuth(server);
    return scripted;
  }

  get host(): string {
    return `127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.server.closeAllConnections();
    this.server.close();
  }

  /** A user consents. @returns what the browser brings back. */
  consent(authorizeUrl: string, account: object): { readonly state: string; readonly code: string } {
    const asked = new URL(authorizeUrl).searchParams;
    const given = (name: string): string => asked.get(name) ?? '';
    if (
      given('client_id') !== APP.clientId ||
      given('response_type') !== 'code' ||
      given('code_challenge_method') !== 'S256'
    )
      throw new Error('not our question');
    const code = randomUUID();
    this.codes.set(code, { challenge: given('code_challenge'), redirectUri: given('redirect_uri'), account });
    return { state: given('state'), code };
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? '/', 'http://provider');
    this.requests.push(`${request.method} ${pathname}`);
    const broken = this.broken.get(pathname);
    if (broken !== undefined) return broken(request, response);
    const body = await text(request);
    const json = (status: number, value: unknown): void =>
      void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    if (pathname.endsWith('/oauth/access_token') || pathname === '/oauth/token')
      return json(...this.redeem(new URLSearchParams(body)));
    if (pathname === '/oauth/revoke') return this.revoke(new URLSearchParams(body).get('token') ?? '', json);
    if (request.method === 'DELETE') {
      const basic = `Basic ${Buffer.from(`${APP.clientId}:${APP.clientSecret}`).toString('base64')}`;
      if (request.headers.authorization !== basic) return json(401, {});
      return this.revoke(
        (JSON.parse(body) as { access_token: string }).access_token,
        (status) => void response.writeHead(status === 200 ? 204 : status).end(),
      );
    }
    const account = this.tokens.get((request.headers.authorization ?? '').replace('Bearer ', ''));
    json(account === undefined ? 401 : 200, account ?? { message: 'Bad credentials' });
  }

  private redeem(form: URLSearchParams): [number, unknown] {
    const code = form.get('code') ?? '';
    this.verifiers.push(form.get('code_verifier') ?? '');
    const known = this.codes.get(code);
    this.codes.delete(code);
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    const right =
      form.get('grant_type') === 'authorization_code' &&
      form.get('client_id') === APP.clientId &&
      form.get('client_secret') === APP.clientSecret &&
      form.get('redirect_uri') === known?.redirectUri &&
      challenge === known?.challenge;
    // As GitHub does: a refusal with 200.
    if (known === undefined || !right) return [200, { error: 'bad_verification_code' }];
    const give = (kind: string): string => {
      const token = `${kind}-${randomUUID()}`;
      this.tokens.set(token, known.account);
      this.issued.push(token);
      return token;
    };
    const pair = this.grants === null ? {} : { ...this.grants, refresh_token: give('refresh') };
    return [200, { access_token: give('token'), token_type: 'bearer', ...pair }];
  }

  private revoke(token: string, json: (status: number, value: unknown) => void): void {
    const known = this.tokens.delete(token);
    if (known) this.revoked.push(token);
    json(known ? 200 : 404, {});
  }
}
