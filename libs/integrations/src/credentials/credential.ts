import type { CredentialKind } from '@slipway/db/conversations';
import type { AppStep } from '../apps/app-access.js';
import type { FullName } from '../calls/code-host.js';
import type { StoredConnection } from '../deliveries/deliveries.queries.js';

/** What a connection's calls authenticate with now. */
export interface Credential {
  /** Never logged, never in an event. */
  readonly token: string;
  /** Of the stored secret that it comes from: one that replaces it has another. */
  readonly id: string;
  /** By the provider's word; `null`: it gives none. */
  readonly expiresAt: Date | null;
  /** Takes the place of the connection's pages as what the API's address is made from; `null`: it does not. */
  readonly baseUrl: string | null;
}

/** What the calls are for. A source that can narrow its tokens narrows them to this; one that cannot ignores it. */
export interface CredentialNeed {
  readonly repository?: FullName;
  /** What is to be done there [`read`]. */
  readonly step?: AppStep;
  /**
   * The id of a credential that the provider has just refused: another one is asked for, or the same where there is no
   * other.
   */
  readonly refused?: string;
  /** Before anybody needs it: what ends soon is renewed, though it would do for a call. */
  readonly renew?: true;
}

export type CredentialConnection = Pick<StoredConnection, 'id' | 'provider' | 'host' | 'account' | 'settings'>;

/** A stored secret of a connection, opened. */
export interface OpenedSecret {
  readonly id: string;
  readonly value: string;
}

/** Makes credentials from stored secrets of one kind. */
export interface CredentialSource {
  readonly kind: CredentialKind;
  /** @throws SlipwayError, ProviderRefusal when there is none to be had now. */
  credential(
    orgId: string,
    connection: CredentialConnection,
    secret: OpenedSecret,
    need: CredentialNeed,
  ): Promise<Credential>;
}

/** An access token that an admin has entered. */
export const enteredToken: CredentialSource = {
  kind: 'token',
  credential: (_orgId, _connection, { id, value }) =>
    Promise.resolve({ token: value, id, expiresAt: null, baseUrl: null }),
};
