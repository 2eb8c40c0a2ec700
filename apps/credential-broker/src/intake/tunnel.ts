import type { Socket } from 'node:net';
import type { BrokerLine } from '@slipway/contracts/credentials';
import type { HeldAnswer } from '../control/held-answer.js';
import type { Upstream } from '../forward/upstream.js';

/** A connection that egress-proxy made for a sandbox, and the one to the host which belongs to it. */
export interface Tunnel {
  readonly line: BrokerLine;
  /** What the broker speaks HTTP on: TLS to the sandbox, or the plain connection. */
  readonly socket: Socket;
  readonly upstream: Upstream;
  /** Connections with a client certificate: each of one credential and one value of it. */
  readonly certified: Map<string, Upstream>;
  /** Credentials that requests of it have used, by id, with the use that they had. */
  readonly used: Map<string, string>;
  /** Requests of it that were passed on and have not ended. @returns whether one may go on under another answer. */
  readonly running: Set<(answer: HeldAnswer) => boolean>;
  /** When app-server last said what may be used here, by `performance.now()`. */
  confirmedAt: number;
  /** When the first of the credentials that it has used ends, by the same clock. Milliseconds. */
  endsAt: number;
  /** Requests of it that are under way. */
  busy: number;
  cut: 'revoked' | 'undecided' | 'stopping' | null;
}

/** Ends both connections at once. Without the reset the kernel goes on to send what it has taken. */
export function cutTunnel(tunnel: Tunnel, why: NonNullable<Tunnel['cut']>): void {
  tunnel.cut ??= why;
  for (const upstream of [tunnel.upstream, ...tunnel.certified.values()]) upstream.reset();
  tunnel.socket.destroy();
}
