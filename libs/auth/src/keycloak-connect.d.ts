// The part of keycloak-connect that grants.ts uses; the package describes only its Express middleware.
declare module 'keycloak-connect/middleware/auth-utils/grant-manager.js' {
  /** A JWT taken apart, nothing of it checked; `content` is `{ exp: 0 }` and `signed` absent for what is no JWT. */
  export interface Token {
    readonly token: string;
    readonly header?: { readonly alg?: unknown; readonly kid?: unknown };
    readonly content: Record<string, unknown>;
    readonly signed?: string;
    isExpired: () => boolean;
  }
  export interface Grant {
    readonly access_token?: Token;
    readonly id_token?: Token;
    readonly refresh_token?: { readonly token: string };
  }
  export interface Settings {
    readonly realmUrl: string;
    readonly clientId: string;
    readonly secret: string;
    readonly public: false;
    readonly bearerOnly: false;
  }
  export default class GrantManager {
    constructor(settings: Settings);
    rotation: { getJWK(kid: unknown): Promise<unknown> };
    createGrant(answer: object): Promise<Grant>;
    ensureFreshness(grant: Grant): Promise<Grant>;
    validateToken(token: Token | undefined, expectedType: 'Bearer' | 'ID'): Promise<Token>;
  }
}
