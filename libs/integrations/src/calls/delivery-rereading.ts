import type { ReadDelivery } from '../delivery.js';
import type { ProviderClient } from './provider-client.js';

/** `unconfirmed`: why the provider does not confirm what the delivery says. */
export type Reread = { readonly delivery: ReadDelivery } | { readonly unconfirmed: string };

/**
 * Rereads the content of a delivery at its provider, where the signature authenticates the caller but not the body: a
 * captured signature fits any body. Only the ids of the body are used, to fetch what they name.
 */
export interface DeliveryRereading {
  /** Names of the provider's signatures that do not cover the body. */
  readonly signatures: readonly string[];
  /** The value of `authorization` for an access token. */
  readonly authorization: (token: string) => string;
  /** Of the API of the instance whose pages are at `baseUrl`; neither ends with a slash. */
  readonly apiUrl: (baseUrl: string) => string;
  /**
   * At most three requests. @returns a delivery of the same event, of what the provider answered alone. @throws
   * ProviderRefusal; `missing` where it does not know the ids.
   * @param at `baseUrl` of the pages for people; `receivedAt` of the delivery: what is much older was not just done.
   */
  readonly reread: (
    client: ProviderClient,
    said: ReadDelivery,
    at: { readonly baseUrl: string; readonly receivedAt: Date },
  ) => Promise<Reread>;
}
