import type { Socket } from 'node:net';
import type { EgressClaims } from '@slipway/contracts/sandboxes';
import type { Destination } from '../admission/destination.js';

/** A connection to a host, made for one sandbox. */
export interface Line {
  readonly kind: 'connect' | 'http';
  readonly claims: EgressClaims;
  readonly destination: Destination;
  readonly socket: Socket;
  /** The organization's rule that let it through; `null`: the installation lists the host. */
  readonly rule: string | null;
  /** By `performance.now()`. */
  readonly since: number;
  /** Why it was ended from here, if it was. */
  cut: 'bytes' | 'age' | 'stopping' | 'server-name' | 'not-tls' | 'revoked' | 'undecided' | null;
}
