import type { Socket } from 'node:net';
import type { EgressClaims } from '@slipway/contracts/sandboxes';
import type { Admitted } from '../admission/admitted.js';
import type { Destination } from '../admission/destination.js';
import type { Allowance } from '../budget/allowance.js';

/** A connection to a host, or to credential-broker on the way to one, made for one sandbox. */
export interface Line {
  /** `path`: by a path endpoint. */
  readonly kind: 'connect' | 'http' | 'path';
  readonly claims: EgressClaims;
  readonly destination: Destination;
  readonly socket: Socket;
  /** By what app-server let it through; `null`: it is not asked, and the installation lists the host. */
  readonly admitted: Admitted | null;
  /** What may still be sent on it; `null`: any number of bytes. */
  readonly allowance: Allowance | null;
  /** By `performance.now()`. */
  readonly since: number;
  /** Why it was ended from here, if it was. */
  cut: 'bytes' | 'age' | 'stopping' | 'server-name' | 'not-tls' | 'revoked' | 'undecided' | 'budget' | null;
}
