import { createHash, createSign, generateKeyPairSync, type KeyObject, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const LOGOUT_EVENT = 'http://schemas.openid.net/event/backchannel-logout';

/** Claims of whoever signs in next. */
export interface SigningUser {
  sub: string;
  name: string;
  email?: string;
  email_verified?: boolean;
  /** The issuer's session. */
  sid?: string;
  identity_provider?: string;
}

/**
 * An issuer that signs the current `user` in without asking, and logout tokens as a test wants them. It replaces a
 * foreign service: its answers follow OpenID Connect Core and Keycloak's route of stored tokens.
 */
export class SigningIssuer {
  readonly clientId = 'slipway-web';
  readonly clientSecret = 'secret';
  user: SigningUser = { sub: 'ada', name: 'Ada Byron' };
  /** Whoever a beginning expects (`login_hint`) is who comes, so that many are different people. */
  hintIsUser = false;
  /** Queries of each beginning of a sign-in. */
  readonly asked: URLSearchParams[] = [];
  /** What the route of stored tokens answers, by the provider's name. */
  stored: (provider: string) => { status: number; body: string } | 'hang' = () => ({ status: 404, body: '' });
  keysAnswer = true;
  /** From every request to the end of its answer, all together. Milliseconds. */
  spentMs = 0;
  private readonly key: KeyObject;
  private readonly jwk: Record<string, unknown>;
  private readonly codes = new Map<string, { nonce: string; user: SigningUser }>();

  private constructor(private readonly server: Server) {
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
    this.key = privateKey;
    const jwk = publicKey.export({ format: 'jwk' });
    this.jwk = {
      ...jwk,
      alg: 'RS256',
      use: 'sig',
      kid: createHash('sha256').update(String(jwk.n)).digest('base64url').slice(0, 12),
    };
  }

  /** @param port 0: a free one. */
  static async start(port = 0): Promise<SigningIssuer> {
    const server = createServer();
    const issuer = new SigningIssuer(server);
    server.on('request', (request, response) => {
      const began = performance.now();
      response.once('finish', () => {
        issuer.spentMs += performance.now() - began;
      });
      void issuer.answer(request, response);
    });
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    return issuer;
  }

  get issuerUrl(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/realms/slipway`;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  /** A logout token as it should be, but for what is given here; `undefined` leaves a claim out. */
  logoutToken(changes: Readonly<Record<string, unknown>> = {}, header: Readonly<Record<string, unknown>> = {}): string {
    const now = Math.floor(Date.now() / 1000);
    const claims = {
      iss: this.issuerUrl,
      aud: this.clientId,
      iat: now,
      exp: now + 120,
      jti: randomUUID(),
      events: { [LOGOUT_EVENT]: {} },
      ...changes,
    };
    return this.sign(claims, { typ: 'logout+jwt', ...header });
  }

  sign(claims: Readonly<Record<string, unknown>>, header: Readonly<Record<string, unknown>> = {}): string {
    const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    const text = `${part({ alg: 'RS256', kid: this.jwk['kid'], ...header })}.${part(claims)}`;
    return `${text}.${createSign('RSA-SHA256').update(text).sign(this.key).toString('base64url')}`;
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', this.issuerUrl);
    const path = url.pathname.slice('/realms/slipway'.length);
    const json = (status: number, body: unknown): void =>
      void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    if (path === '/.well-known/openid-configuration') return json(200, this.metadata());
    if (path === '/keys') return this.keysAnswer ? json(200, { keys: [this.jwk] }) : json(503, {});
    // For who measures from another process.
    if (url.pathname === '/') return json(200, { spentMs: this.spentMs });
    if (path === '/auth') {
      this.asked.push(url.searchParams);
      const code = randomUUID();
      const hint = url.searchParams.get('login_hint');
      const user = this.hintIsUser && hint !== null ? { sub: hint, name: hint } : { ...this.user };
      this.codes.set(code, { nonce: url.searchParams.get('nonce') ?? '', user });
      const back = new URL(url.searchParams.get('redirect_uri') ?? '');
      back.search = new URLSearchParams({ code, state: url.searchParams.get('state') ?? '' }).toString();
      return void response.writeHead(302, { location: back.href }).end();
    }
    const broker = /^\/broker\/([^/]+)\/token$/.exec(path)?.[1];
    if (broker !== undefined) {
      const answer = this.stored(broker);
      if (answer !== 'hang') response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.body);
      return;
    }
    if (path !== '/token') return json(404, {});
    let body = '';
    for await (const part of request) body += String(part);
    const given = this.codes.get(new URLSearchParams(body).get('code') ?? '');
    if (given === undefined) return json(400, { error: 'invalid_grant' });
    this.codes.delete(new URLSearchParams(body).get('code') ?? '');
    const now = Math.floor(Date.now() / 1000);
    const idToken = this.sign({
      iss: this.issuerUrl,
      aud: this.clientId,
      azp: this.clientId,
      iat: now,
      exp: now + 300,
      nonce: given.nonce,
      ...given.user,
    });
    json(200, {
      access_token: `opaque-${randomUUID()}`,
      token_type: 'Bearer',
      expires_in: 300,
      refresh_token: randomUUID(),
      id_token: idToken,
    });
  }

  private metadata(): unknown {
    const issuer = this.issuerUrl;
    return {
      issuer,
      authorization_endpoint: `${issuer}/auth`,
      token_endpoint: `${issuer}/token`,
      jwks_uri: `${issuer}/keys`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256'],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['client_secret_post'],
    };
  }
}
