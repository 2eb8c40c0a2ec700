import { decodeProtectedHeader } from 'jose';
import GrantManager, { type Grant, type Token } from 'keycloak-connect/middleware/auth-utils/grant-manager.js';
import type { IssuerKeys } from './issuer-keys.js';

/** What the token endpoint answered. */
export interface TokenAnswer {
  readonly access_token: string;
  readonly id_token?: string | undefined;
  readonly refresh_token?: string | undefined;
}

export interface GrantsOptions<Answer extends TokenAnswer> {
  readonly issuer: string;
  readonly clientId: string;
  readonly keys: IssuerKeys;
  /** Asks the token endpoint for new tokens. Its errors come through `refresh` as they are. */
  readonly renew: (refreshToken: string) => Promise<Answer>;
  /** Difference of the two clocks that is forgiven. Seconds. */
  readonly clockTolerance: number;
}

const COMPACT_JWT = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/** The tokens are not what they should be: signature, issuer, audience, kind or time. */
export class GrantRefused extends Error {
  override readonly name = 'GrantRefused';
}

/**
 * Grants of one Keycloak realm, made, checked and renewed by keycloak-connect's GrantManager. Every request to the
 * issuer is ours: the manager's own have no timeout, drop what a refusal says, and keep its socket
 * (docs/decisions/0011).
 */
export class Grants<Answer extends TokenAnswer> {
  private readonly manager: GuardedManager;

  constructor(private readonly options: GrantsOptions<Answer>) {
    this.manager = new GuardedManager(options);
  }

  /**
   * Passes when each token of the answer that is Keycloak's own is signed by the issuer, for us, of its kind and not
   * over.
   * @throws GrantRefused; the keys' error when they cannot be had
   */
  async check(answer: TokenAnswer): Promise<void> {
    await this.loadKeys(answer);
    await this.manager.createGrant(answer).catch((error: unknown) => {
      throw new GrantRefused(error instanceof Error ? error.message : String(error), { cause: error });
    });
  }

  /** New tokens, checked. @throws what `renew` and `check` throw */
  async refresh(refreshToken: string): Promise<Answer> {
    let answer: Answer | undefined;
    const grant: Grant = { refresh_token: { token: refreshToken } };
    this.manager.renewing.set(grant, async () => {
      answer = await this.options.renew(refreshToken);
      await this.loadKeys(answer);
      return answer;
    });
    await this.manager.ensureFreshness(grant);
    if (answer === undefined) throw new GrantRefused('the grant was not renewed');
    return answer;
  }

  /** Before the manager asks for one: it turns every failure to get a key into a bad token. */
  private async loadKeys({ access_token, id_token }: TokenAnswer): Promise<void> {
    for (const token of [id_token, access_token]) {
      const id = token === undefined ? undefined : keyIdOf(token);
      if (id !== undefined) await this.options.keys.withKey(id);
    }
  }
}

class GuardedManager extends GrantManager {
  /** How each grant that is to be renewed gets its tokens. */
  readonly renewing = new WeakMap<Grant, () => Promise<TokenAnswer>>();

  constructor(private readonly options: Omit<GrantsOptions<TokenAnswer>, 'renew'>) {
    super({ realmUrl: options.issuer, clientId: options.clientId, secret: '', public: false, bearerOnly: false });
    // Its own answers an unknown key id with a TypeError, and fetches new keys at most every ten seconds.
    this.rotation = {
      getJWK: async (kid) => {
        const key = options.keys.rsaKey(kid);
        if (key === undefined) throw new GrantRefused('the issuer has no such key');
        return key;
      },
    };
  }

  /**
   * Tokens that were given this moment are never renewed at once: with clocks apart the manager's own would do so
   * without end.
   */
  override async ensureFreshness(grant: Grant): Promise<Grant> {
    const renew = this.renewing.get(grant);
    if (renew === undefined) return grant;
    const answer = await renew();
    return this.createGrant(answer).catch((error: unknown) => {
      throw new GrantRefused(error instanceof Error ? error.message : String(error), { cause: error });
    });
  }

  override async validateToken(token: Token | undefined, expectedType: 'Bearer' | 'ID'): Promise<Token> {
    // An access token without Keycloak's `typ`, or opaque, is meant for the issuer alone: it is sent back to it, and
    // not verified here.
    if (token !== undefined && expectedType === 'Bearer' && token.content['typ'] === undefined) return token;
    // The manager reads the first three parts of however many there are, and any bytes for base64.
    if (token === undefined || !COMPACT_JWT.test(token.token)) throw new GrantRefused('the token is no JWT');
    if (token.header?.alg !== 'RS256') throw new GrantRefused('the token is not signed with RS256');
    const { content } = token;
    if (expectedType === 'Bearer' && content['azp'] !== this.options.clientId)
      throw new GrantRefused('the token was issued to another client');
    if (typeof content['exp'] !== 'number') throw new GrantRefused('the token never ends');
    const until = (content['exp'] + this.options.clockTolerance) * 1_000;
    token.isExpired = () => until < Date.now();
    // Only Keycloak says it; that this is the id token is known from where it stood.
    content['typ'] ??= expectedType;
    return super.validateToken(token, expectedType);
  }
}

/** `undefined` for what is no JWT. */
function keyIdOf(token: string): string | undefined {
  try {
    return decodeProtectedHeader(token).kid;
  } catch {
    return undefined;
  }
}
