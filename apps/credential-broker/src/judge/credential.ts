import type { CredentialUse, Place } from '@slipway/contracts/credentials';
import type { GitRequest } from '../git/git-request.js';

/** A credential that this conversation may use at this host. */
export interface HeldCredential {
  readonly id: string;
  readonly name: string;
  readonly use: CredentialUse;
  /** Zeroed when it is forgotten: used at once, or with a lease. */
  readonly value: Buffer;
  /** What the conversation has in its place; `null` but for the form `placeholder`. */
  readonly reference: string | null;
  /** Of forms that use workload identity: a token of the conversation. Zeroed like the value. */
  readonly identity: Buffer | null;
  /** By a clock that only goes forward; it is not used from then on. Milliseconds. */
  readonly endsAt: number;
}

/** Where a request is, and what is used there. */
export interface Chosen {
  readonly credential: HeldCredential;
  readonly place: Place;
  /** `null` at a place that is not one of git. */
  readonly git: GitRequest | null;
}
