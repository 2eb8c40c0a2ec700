import type { CredentialUse } from '@slipway/contracts/credentials';
import type { HeldCredential } from '../judge/credential.js';

/** A credential of one form. */
export type TokenCredential<Use extends CredentialUse> = HeldCredential & { readonly use: Use };

/** What a server has answered. */
export interface Issued {
  readonly value: string;
  /** How long it is valid; `undefined`: the server did not say. */
  readonly seconds: number | undefined;
  /** Gives it back to the server. */
  readonly revoke?: () => Promise<void>;
}
