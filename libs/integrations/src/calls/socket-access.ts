import type { ProviderClient } from './provider-client.js';

/** Deliveries over a socket that we open, for installations that the provider cannot reach. */
export interface SocketAccess {
  /** The kind of connection that is delivered to so; its webhook secret is the token that opens the socket. */
  readonly kind: string;
  readonly authorization: (token: string) => string;
  readonly apiUrl: (baseUrl: string) => string;
  /**
   * Where the next socket is opened; good for one, and for seconds. @throws ProviderRefusal `credential` for a token
   * that opens none any more.
   */
  readonly open: (api: ProviderClient) => Promise<string>;
  /** What a frame says. Never throws. */
  readonly read: (frame: unknown) => SocketFrame;
  /** Says that a delivery is kept. @param answer of one that is answered at once; `null`: another. */
  readonly acknowledge: (envelope: string, answer: object | null) => string;
}

export type SocketFrame =
  /** The socket delivers from now on. */
  | { readonly kind: 'ready' }
  /** @param body as a webhook would bring it. */
  | { readonly kind: 'delivery'; readonly envelope: string; readonly body: object }
  /** The provider ends this socket soon. `refused`: it was switched off there, and the next one will not deliver. */
  | { readonly kind: 'leave'; readonly refused: boolean }
  | { readonly kind: 'other' };
