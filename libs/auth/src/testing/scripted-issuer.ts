import { generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type JWK, type JWTPayload, SignJWT } from 'jose';

export const CLIENT_ID = 'slipway-web';
export const KEY_ID = 'the-key';

/** An issuer whose tokens a test writes: Keycloak's in every claim, but for what the test changes. */
export class ScriptedIssuer {
  readonly signing = generateKeyPairSync('rsa', { modulusLength: 2048 });
  /** What `jwks_uri` answers. */
  keys: JWK[] = [{ ...this.signing.publicKey.export({ format: 'jwk' }), kid: KEY_ID, use: 'sig', alg: 'RS256' }];
  /** What the token endpoint answers, whatever it is asked. */
  tokens: { access_token: string; id_token: string } = { access_token: '', id_token: '' };
  /** How often the keys were asked for. */
  keysAsked = 0;
  /** Every request, `GET /path`. */
  readonly requests: string[] = [];

  private constructor(private readonly server: Server) {}

  static async listen(): Promise<ScriptedIssuer> {
    const server = createServer();
    const issuer = new ScriptedIssuer(server);
    server.on('request', (request, response) => {
      issuer.requests.push(`${request.method} ${request.url}`);
      const answer = issuer.answerTo(request.url ?? '/');
      request.resume();
      response
        .writeHead(answer === undefined ? 404 : 200, { 'content-type': 'application/json' })
        .end(JSON.stringify(answer ?? {}));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return issuer;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/realms/slipway`;
  }

  /** Claims of a token of this kind that is in order. */
  claims(kind: 'ID' | 'Bearer' | 'Logout', nonce?: string): JWTPayload {
    const now = Math.floor(Date.now() / 1000);
    const common = {
      iss: this.url,
      sub: 'ada',
      sid: 'session-1',
      jti: randomBytes(8).toString('hex'),
      iat: now,
      exp: now + 300,
      typ: kind,
    };
    if (kind === 'Logout')
      return { ...common, aud: CLIENT_ID, events: { 'http://schemas.openid.net/event/backchannel-logout': {} } };
    return {
      ...common,
      azp: CLIENT_ID,
      aud: kind === 'ID' ? CLIENT_ID : 'account',
      name: 'Ada Byron',
      ...(kind === 'ID' && nonce !== undefined ? { nonce } : {}),
    };
  }

  sign(
    claims: JWTPayload,
    header: { alg?: string; kid?: string; [name: string]: unknown } = {},
    key: KeyObject | Uint8Array = this.signing.privateKey,
  ): Promise<string> {
    return new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: KEY_ID, ...header }).sign(key);
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private answerTo(path: string): object | undefined {
    const at = (name: string): string => `${this.url}/protocol/openid-connect/${name}`;
    if (path.endsWith('/.well-known/openid-configuration')) {
      return {
        issuer: this.url,
        authorization_endpoint: at('auth'),
        token_endpoint: at('token'),
        jwks_uri: at('certs'),
        id_token_signing_alg_values_supported: ['RS256', 'ES256', 'HS256'],
      };
    }
    if (path.endsWith('/certs')) {
      this.keysAsked += 1;
      return { keys: this.keys };
    }
    return path.endsWith('/token')
      ? { ...this.tokens, token_type: 'Bearer', refresh_token: 'refresh', expires_in: 300 }
      : undefined;
  }
}
